package panel

import (
	"github.com/google/uuid"

	"despacho/models"
)

// storeFilter are the stores that a list of orders can be filtered by, with their names.
type storeFilter struct {
	Stores []option
	names  storeNaming
}

func storeFilterOf(stores []models.Store) storeFilter {
	all := storeFilter{Stores: []option{{"", "Todas"}}, names: storeNames(stores)}
	for _, store := range stores {
		all.Stores = append(all.Stores, option{store.ID.String(), store.Name})
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
func riderFilter(riders []models.Rider) []option {
	options := []option{{"", "Todos"}}
	for _, rider := range riders {
		options = append(options, option{rider.ID.String(), rider.Name})
	}
	return options
}
