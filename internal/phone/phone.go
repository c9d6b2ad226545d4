// Package phone normalizes telephone numbers to E.164.
package phone

import (
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers"

	"despacho/internal/jsonbody"
)

// maxTyped is the longest text accepted as a number, in characters.
const maxTyped = 40

// Canonical converts a number to E.164. A number without a country calling code is read as one of
// countryCode.
func Canonical(text, countryCode string) (string, bool) {
	// The library would also read letters as on a telephone keypad.
	if strings.Trim(text, "+0123456789 ()-./\u00a0") != "" {
		return "", false
	}
	number, err := phonenumbers.Parse(text, countryCode)
	if err != nil {
		return "", false
	}
	number = withoutMexicanPrefix(number)
	if !phonenumbers.IsValidNumber(number) {
		return "", false
	}
	return phonenumbers.Format(number, phonenumbers.E164), true
}

// Readable is a stored number as people write it: one of their own country without the country
// calling code, another one with it. What is no number, such as the mark of an erased one, stays.
func Readable(number, countryCode string) string {
	parsed, err := phonenumbers.Parse(number, countryCode)
	if err != nil || strings.Trim(number, "+0123456789") != "" {
		return number
	}
	if phonenumbers.GetRegionCodeForNumber(parsed) == countryCode {
		return phonenumbers.Format(parsed, phonenumbers.NATIONAL)
	}
	return phonenumbers.Format(parsed, phonenumbers.INTERNATIONAL)
}

const (
	mexico       = 52
	mexicoDigits = 10
)

// withoutMexicanPrefix removes what was dialled before a Mexican number until 2019. The library no
// longer knows these prefixes, but WhatsApp and many address books still write +52 1.
func withoutMexicanPrefix(number *phonenumbers.PhoneNumber) *phonenumbers.PhoneNumber {
	if number.GetCountryCode() != mexico {
		return number
	}
	digits := phonenumbers.GetNationalSignificantNumber(number)
	prefix := len(digits) - mexicoDigits
	if prefix <= 0 || !slices.Contains([]string{"1", "01", "044", "045"}, digits[:prefix]) {
		return number
	}
	current, err := phonenumbers.Parse(digits[prefix:], "MX")
	if err != nil {
		return number
	}
	return current
}

// Read reads a required number from a request.
func Read(in *jsonbody.Object, field, countryCode string) string {
	text := in.RequiredText(field, maxTyped)
	if text == "" {
		return ""
	}
	return read(in, field, text, countryCode)
}

// ReadOptional reads a number from a request; nil if there is none.
func ReadOptional(in *jsonbody.Object, field, countryCode string) *string {
	text := in.Text(field, maxTyped)
	if text == nil {
		return nil
	}
	canonical := read(in, field, *text, countryCode)
	return &canonical
}

func read(in *jsonbody.Object, field, text, countryCode string) string {
	canonical, ok := Canonical(text, countryCode)
	if !ok {
		in.AddError(field, "no es un número de teléfono válido")
	}
	return canonical
}
