package orders

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"despacho/internal/catalog"
	"despacho/internal/textnorm"
	"despacho/models"
)

// Choices are the options of the form that creates an order.
type Choices struct {
	// Stores are the active stores by name, or a restricted caller's own.
	Stores []models.Store
	// Branches are the active branches, the main one first.
	Branches []models.Branch
	// Sizes are in ascending order of surcharge.
	Sizes []models.Size

	index    *catalog.Index
	settings *settings
	payer    payer
}

// Choices reads the operator's settings, cached if unchanged.
func (s *Service) Choices(ctx context.Context, caller Caller) (*Choices, error) {
	settings, err := s.settings.get(ctx, caller.Operator)
	if err != nil {
		return nil, err
	}
	index, err := s.catalog.Index(ctx)
	if err != nil {
		return nil, err
	}
	return &Choices{
		Stores: slices.DeleteFunc(
			slices.SortedFunc(maps.Values(settings.stores), models.CompareStores),
			func(store models.Store) bool {
				return !store.Active || caller.StoreID != nil && store.ID != *caller.StoreID
			},
		),
		Branches: slices.SortedFunc(maps.Values(settings.branches), models.CompareBranches),
		Sizes:    slices.SortedFunc(maps.Values(settings.sizes), models.CompareSizes),
		index:    index, settings: settings, payer: payerAt(caller.StoreID, caller.Operator, s.clock.Now()),
	}, nil
}

// Covers reports whether the operator delivers to a location, for somebody at least: whoever orders
// for every store has not chosen one yet.
func (c *Choices) Covers(id uuid.UUID) bool {
	destination := c.index.Ancestors(id)
	if len(destination) == 0 || !isDestination(destination[0]) {
		return false
	}
	if _, err := c.settings.tariff(c.payer, destination, nil); err == nil {
		return true
	}
	place, covered := c.settings.coveringLocation(destination)
	return covered && c.payer.storeID == nil && c.settings.somebodyPays(place.ID, c.payer.day)
}

// Districts lists the districts that the operator delivers to, by name.
func (c *Choices) Districts() []catalog.Location {
	var districts []catalog.Location
	for id := range c.settings.prices {
		districts = append(districts, c.districtsOf(id)...)
	}
	slices.SortFunc(districts, func(a, b catalog.Location) int {
		return cmp.Or(textnorm.Compare(a.Name, b.Name), slices.Compare(a.ID[:], b.ID[:]))
	})
	return slices.CompactFunc(districts, func(a, b catalog.Location) bool { return a.ID == b.ID })
}

// districtsOf lists the covered districts at or below a location.
func (c *Choices) districtsOf(id uuid.UUID) []catalog.Location {
	place, known := c.index.Location(id)
	if !known {
		return nil
	}
	switch place.Type {
	case catalog.TypeDistrict:
		if c.Covers(id) {
			return []catalog.Location{place}
		}
		return nil
	case catalog.TypeZone:
		return nil
	}
	var districts []catalog.Location
	for _, child := range c.index.Children(id) {
		districts = append(districts, c.districtsOf(child.ID)...)
	}
	return districts
}
