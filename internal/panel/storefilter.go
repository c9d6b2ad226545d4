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
	return storeFilter{Stores: forms.Options("Tienda", stores, storeLabel), names: storeNames(stores)}
}

func storeLabel(store *models.Store) (uuid.UUID, string) { return store.ID, store.Name }

// StoreName is the store of an order; empty for the operator's own.
func (s storeFilter) StoreName(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return s.names[*id]
}

// riderFilter lists every rider, also inactive ones: their orders can still be found.
func riderFilter(riders []models.Rider) []forms.Option {
	return forms.Options("Motorizado", riders, func(rider *models.Rider) (uuid.UUID, string) { return rider.ID, rider.Name })
}

// riderField asks for an active rider; none is the text before one is chosen.
func riderField(none string, riders []models.Rider) forms.Field {
	return forms.Field{
		Name: "rider_id", Label: "Motorizado", Kind: forms.Choice, Required: true,
		Options: forms.Options(none, riders, func(rider *models.Rider) (uuid.UUID, string) {
			if !rider.Active {
				return uuid.Nil, ""
			}
			return rider.ID, rider.Name
		}),
	}
}
