package orders

import (
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// canonicalPhone brings a phone number to E.164. With a country code it is read as of that country, without one as of the
// operator's.
func canonicalPhone(text, countryCode string) (string, bool) {
	// The library also reads letters as on a dial; nobody means that here.
	if strings.Trim(text, "+0123456789 ()-./\u00a0") != "" {
		return "", false
	}
	number, err := phonenumbers.Parse(text, countryCode)
	if err != nil || !phonenumbers.IsValidNumber(number) {
		return "", false
	}
	return phonenumbers.Format(number, phonenumbers.E164), true
}
