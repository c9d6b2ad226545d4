// Package phone normalizes telephone numbers to E.164.
package phone

import (
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
	if err != nil || !phonenumbers.IsValidNumber(number) {
		return "", false
	}
	return phonenumbers.Format(number, phonenumbers.E164), true
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
