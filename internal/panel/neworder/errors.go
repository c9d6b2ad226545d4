// Package neworder has the fields of an order as the panel knows them, the rows of an uploaded file
// and the creation of their orders.
package neworder

import (
	"errors"
	"strings"

	"despacho/internal/apperror"
	"despacho/internal/orders"
)

// memberWords are the fields' names in Spanish.
var memberWords = strings.NewReplacer("delivery_lat", "la latitud", "delivery_lng", "la longitud")

// ForDestination is what is wrong with a destination, or empty.
func ForDestination(err error) string {
	switch {
	case errors.Is(err, orders.ErrNotCovered):
		return "el operador no llega a este destino"
	case errors.Is(err, orders.ErrNoTariff):
		return "el operador no tiene tarifa para este destino"
	}
	return ""
}

// ForForm rewrites an error of the API for a form: it is attached to a field, and uses the names
// that the form shows.
func ForForm(err error) error {
	if err == nil {
		return nil
	}
	f := apperror.From(err).Copy()
	if complaint := ForDestination(err); complaint != "" {
		f.Fields = []apperror.Field{{Field: "location_id", Message: complaint}}
	}
	fields := make([]apperror.Field, len(f.Fields))
	for i, field := range f.Fields {
		fields[i] = apperror.Field{Field: field.Field, Message: memberWords.Replace(field.Message)}
	}
	f.Fields = fields
	return f
}
