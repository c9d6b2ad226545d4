package orders

import (
	"strings"
	"unicode"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
)

const (
	externalIDField = "external_id"
	// maxExternalID is in characters.
	maxExternalID = 100
)

// readExternalID reads the store's own number of an order; nil if it has none.
func readExternalID(in *jsonbody.Object) *string {
	number := in.Text(externalIDField, maxExternalID)
	if number != nil && hasUnprintable(*number) {
		in.AddError(externalIDField, unprintable)
	}
	return number
}

// ReadExternalIDFilter reads a store's own number of orders from a query; empty if there is none. A
// number that no order can have is an error.
func ReadExternalIDFilter(text string, wrong *apperror.Fields) string {
	number, problem := jsonbody.CheckText(text, maxExternalID)
	if problem == "" && hasUnprintable(number) {
		problem = unprintable
	}
	if problem != "" {
		wrong.Add(externalIDField, problem)
		return ""
	}
	return number
}

const unprintable = "contiene caracteres que no se ven"

// hasUnprintable reports characters that nobody sees: two numbers that look the same would differ.
func hasUnprintable(number string) bool {
	return strings.ContainsFunc(number, func(r rune) bool { return !unicode.IsPrint(r) })
}
