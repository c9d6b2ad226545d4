package panel

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/catalog"
	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/internal/textnorm"
)

// placeGroup are the orders to one place that match, on whatever page they are, without those that
// are ticked by themselves.
type placeGroup struct {
	ID    uuid.UUID
	Name  string
	Count int64
	// ToCollect is what is to be collected for them; Unfixed is for how many the store has not fixed
	// an amount.
	ToCollect money.Cents
	Unfixed   int64
	// Ticked means that all of them are but for those that are excepted.
	Ticked bool
	// Open groups show their orders, or those of them that are on this page.
	Open   bool
	Orders []*orders.View
}

// Left is how many orders of an open group are on other pages.
func (g placeGroup) Left() int64 { return g.Count - int64(len(g.Orders)) }

// group lists the places that the orders go to. found are the first orders of the list: all, if
// they fit on a page.
func (p *Pages) group(v *Request, page *assignmentPage, found []*orders.View) error {
	query := page.Query.ordersQuery()
	if page.Search.Error != "" {
		query.Search = ""
	}
	counts, err := p.Orders.Destinations(v.Ctx(), v.Caller, query)
	if err != nil {
		return err
	}
	index, err := p.Catalog.Index(v.Ctx())
	if err != nil {
		return err
	}
	if !isFragment(v) {
		page.Districts = districtChoices(index, counts, query.LocationID)
	}
	if page.Search.Error != "" {
		return nil
	}
	matching, err := p.markedThatMatch(v, page)
	if err != nil {
		return err
	}
	page.Held = page.Total
	for _, count := range counts {
		if query.LocationID == nil || *query.LocationID == count.LocationID {
			page.Held -= count.Orders
		}
	}
	page.Places = placeGroups(index, counts, query.LocationID, matching)
	page.open(optionalID(v.Query("alternar")))
	for i := range page.Places {
		page.Places[i].Ticked = page.Ticks.group(page.Places[i].ID)
	}
	page.Query.Page = max(page.Query.Page, 1)
	if page.Total <= assignablePerPage {
		page.Query.Page = 1
	} else {
		if found, err = p.readOpened(v, page); err != nil {
			return err
		}
	}
	page.list(found)
	return nil
}

// placeGroups are the groups of a list by name. Orders that are ticked by themselves are not in
// them.
func placeGroups(
	index *catalog.Index, counts []orders.LocationCount, only *uuid.UUID, marked []*orders.View,
) (groups []placeGroup) {
	for _, count := range counts {
		if only != nil && count.LocationID != *only {
			continue
		}
		group := placeGroup{ID: count.LocationID, Name: index.PathName(count.LocationID), Count: count.Orders,
			ToCollect: count.ToCollect, Unfixed: count.Unfixed}
		for _, order := range marked {
			if order.LocationID == group.ID {
				group.Count--
				group.ToCollect -= order.AmountToCollect
				if unfixed(order) {
					group.Unfixed--
				}
			}
		}
		if group.Count > 0 {
			groups = append(groups, group)
		}
	}
	slices.SortFunc(groups, func(a, b placeGroup) int { return textnorm.Compare(a.Name, b.Name) })
	return groups
}

// markedThatMatch are the orders that are ticked by themselves and match: the others are of other
// filters.
func (p *Pages) markedThatMatch(v *Request, page *assignmentPage) ([]*orders.View, error) {
	if len(page.Marked) == 0 {
		return nil, nil
	}
	query := page.Query.ordersQuery()
	for _, order := range page.Marked {
		query.IDs = append(query.IDs, order.ID)
	}
	ids, err := p.Orders.Movable(v.Ctx(), v.Caller, query, orders.Selection{Until: p.Clock.Now(), Limit: len(page.Marked)})
	matching := slices.DeleteFunc(slices.Clone(page.Marked), func(order *orders.View) bool {
		return !slices.Contains(ids, order.ID)
	})
	return matching, err
}

// open decides which groups are open, and opens or closes one more: those that somebody has opened,
// or else all if their orders fit on a page.
func (p *assignmentPage) open(toggled *uuid.UUID) {
	chosen := strings.Split(p.Query.Open, ",")
	for i := range p.Places {
		group := &p.Places[i]
		group.Open = p.Query.Open == "" && p.Total <= assignablePerPage || slices.Contains(chosen, group.ID.String())
		if toggled != nil && *toggled == group.ID {
			group.Open = !group.Open
		}
	}
	if toggled == nil && p.Query.Open == "" {
		return
	}
	var ids []string
	for _, id := range p.opened() {
		ids = append(ids, id.String())
	}
	if p.Query.Open = strings.Join(ids, ","); p.Query.Open == "" {
		p.Query.Open = noGroups
	}
}

// opened are the groups that are open.
func (p *assignmentPage) opened() (ids []uuid.UUID) {
	for _, group := range p.Places {
		if group.Open {
			ids = append(ids, group.ID)
		}
	}
	return ids
}

// readOpened reads a page of the orders of the open groups.
func (p *Pages) readOpened(v *Request, page *assignmentPage) ([]*orders.View, error) {
	query := page.Query.ordersQuery()
	if query.LocationIDs = page.opened(); len(query.LocationIDs) == 0 {
		return nil, nil
	}
	query.Page = page.Query.Page
	read, total, err := readPage(&query.Page, query.Limit, func() (*orders.Page, int64, error) {
		read, err := p.Orders.List(v.Ctx(), v.Caller, query)
		if err != nil {
			return nil, 0, err
		}
		return read, read.Total, nil
	})
	if err != nil {
		return nil, err
	}
	page.Query.Page = query.Page
	page.Pager = pagerOf(query.Page, assignablePerPage, total, func(number int) string {
		turned := page.Query
		turned.Page = number
		return turned.Path()
	})
	return read.Orders, nil
}

// list puts the orders of the page into their groups. The ticked ones are listed apart.
func (p *assignmentPage) list(found []*orders.View) {
	for _, order := range found {
		i := slices.IndexFunc(p.Places, func(group placeGroup) bool { return group.ID == order.LocationID })
		if i >= 0 && p.Places[i].Open && !containsOrder(p.Marked, order.ID) {
			p.Places[i].Orders = append(p.Places[i].Orders, order)
		}
	}
}
