// Package phone brings the telephone numbers that people type to the one form they are stored in.
package phone

import (
	"strings"

	"github.com/nyaruka/phonenumbers"

	"despacho/internal/jsonbody"
)

// maxTyped is the longest number anybody types, in characters.
const maxTyped = 40

// Canonical brings a number to E.164. With a country code it is read as of that country, without
// one as of the given one.
func Canonical(text, countryCode string) (string, bool) {
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

// Read reads a number that must be there from a request.
func Read(in *jsonbody.Object, field, countryCode string) string {
	text := in.RequiredText(field, maxTyped)
	if text == "" {
		return ""
	}
	canonical, ok := Canonical(text, countryCode)
	if !ok {
		in.Complain(field, "no es un número de teléfono válido")
	}
	return canonical
}
