package panel

import (
	"github.com/google/uuid"

	"despacho/internal/panel/forms"
	"despacho/models"
)

// storeFilter are the stores that a list of orders can be filtered by, with their names.
type storeFilter struct {
	Stores []forms.Option
	names  storeNaming
}

func storeFilterOf(stores []models.Store) storeFilter {
	all := storeFilter{Stores: []forms.Option{{Value: "", Label: "Todas"}}, names: storeNames(stores)}
	for _, store := range stores {
		all.Stores = append(all.Stores, forms.Option{Value: store.ID.String(), Label: store.Name})
	}
	return all
}

// StoreName is the store of an order; empty for the operator's own.
func (s storeFilter) StoreName(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return s.names[*id]
}

// riderFilter lists every rider, also inactive ones: their orders can still be found.
func riderFilter(riders []models.Rider) []forms.Option {
	options := []forms.Option{{Value: "", Label: "Todos"}}
	for _, rider := range riders {
		options = append(options, forms.Option{Value: rider.ID.String(), Label: rider.Name})
	}
	return options
}
