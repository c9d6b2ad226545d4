package panel

import (
	"slices"
	"strconv"

	"github.com/google/uuid"

	"despacho/internal/catalog"
	"despacho/internal/orders"
	"despacho/internal/panel/forms"
	"despacho/internal/textnorm"
)

// districtParameter is the id of the location that a list of orders is filtered by.
const districtParameter = "distrito"

// districtChoices are the districts of a list's orders, with the numbers under its other filters.
func districtChoices(index *catalog.Index, counts []orders.LocationCount, chosen *uuid.UUID) []forms.Option {
	numbers := map[uuid.UUID]int64{}
	for _, count := range counts {
		numbers[count.LocationID] = count.Orders
	}
	return districtOptions(index, numbers, chosen, func(id uuid.UUID) string {
		return " (" + strconv.FormatInt(numbers[id], 10) + ")"
	})
}

// allDistricts are the districts that the operator has orders to.
func (p *Pages) allDistricts(v *Request, chosen *uuid.UUID) ([]forms.Option, error) {
	known, err := p.Orders.Districts(v.Ctx(), v.Caller)
	if err != nil {
		return nil, err
	}
	index, err := p.Catalog.Index(v.Ctx())
	if err != nil {
		return nil, err
	}
	ids := map[uuid.UUID]int64{}
	for _, id := range known {
		ids[id] = 0
	}
	return districtOptions(index, ids, chosen, func(uuid.UUID) string { return "" }), nil
}

// districtOptions are the options of a filter by district, by name. What is chosen stays on offer
// when no order goes there.
func districtOptions(
	index *catalog.Index, ids map[uuid.UUID]int64, chosen *uuid.UUID, suffix func(uuid.UUID) string,
) []forms.Option {
	if chosen != nil {
		ids[*chosen] += 0
	}
	var options []forms.Option
	for id := range ids {
		options = append(options, forms.Option{Value: id.String(), Label: index.PathName(id) + suffix(id)})
	}
	slices.SortFunc(options, func(a, b forms.Option) int { return textnorm.Compare(a.Label, b.Label) })
	return slices.Insert(options, 0, forms.Option{Value: "", Label: "Distrito"})
}
