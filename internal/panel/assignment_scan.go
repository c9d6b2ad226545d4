package panel

import (
	"net/http"
	"strings"
	"time"

	"despacho/internal/orders"
)

// scanned is the result of a scan: an order that is ticked, or why there is none.
type scanned struct {
	Marked *orders.View
	// Alone means that a script asks for the result alone: it has the row of the order.
	Alone bool
	// Listed means that the order is one of a group of the page.
	Listed bool
	unmarked
}

// Row is the order whose row a script gets: one that is ticked, or that is offered to be.
func (s *scanned) Row() *orders.View {
	if s.Marked == nil && s.Offered {
		return s.Order
	}
	return s.Marked
}

// Tick is the value of the box of an order that is offered to be ticked.
func (s *scanned) Tick() string { return tickOf(s.Order) }

// markScanned ticks the order of a scan.
func (p *Pages) markScanned(v *Request, page *assignmentPage, typed string) (err error) {
	if page.Scanned, err = p.findScanned(v, page.Query, typed); err != nil {
		return err
	}
	if order := page.Scanned.Marked; order != nil && !containsOrder(page.Marked, order.ID) {
		page.Marked = append(page.Marked, order)
	}
	return nil
}

func (p *Pages) findScanned(v *Request, query assignmentQuery, typed string) (*scanned, error) {
	order, problem, err := p.Orders.FindScanned(v.Ctx(), v.Caller, strings.TrimSpace(typed))
	if err != nil {
		return nil, err
	}
	if problem != "" {
		words := scanProblems[problem]
		return &scanned{unmarked: unmarked{Why: words.Title + ". " + words.Detail}}, nil
	}
	if refused := p.whyNotMarked(v, query, order); refused != nil {
		return &scanned{unmarked: *refused}, nil
	}
	return &scanned{Marked: order}, nil
}

// showScanned answers a scan, whatever the page showed of its order: with the row that it has now,
// or with the reason why it is not ticked.
func (p *Pages) showScanned(v *Request) error {
	page := &assignmentPage{Query: readAssignmentQuery(v)}
	var err error
	if page.Scanned, err = p.findScanned(v, page.Query, v.Query("codigo")); err != nil {
		return err
	}
	page.Scanned.Alone = true
	if order := page.Scanned.Marked; order != nil {
		page.Marked = []*orders.View{order}
		if page.Scanned.Listed, err = p.isListed(v, page.Query, order); err != nil {
			return err
		}
	}
	if page.Scanned.Row() != nil {
		stores, err := p.Operators.Stores().List(v.Ctx(), v.Operator())
		if err != nil {
			return err
		}
		page.storeFilter = storeFilterOf(stores)
	}
	return p.execute(v.Context, http.StatusOK, p.templates()["assignment"], "scanned", p.frame(v, "", page))
}

// isListed reports whether an order is one that the page has counted in a group.
func (p *Pages) isListed(v *Request, list assignmentQuery, order *orders.View) (bool, error) {
	query := list.ordersQuery()
	if p.Orders.CheckSearch(v.Caller, query) != nil {
		return false, nil
	}
	seen, err := time.Parse(time.RFC3339, v.Query(seenParameter))
	if err != nil {
		return false, nil // the page does not say what it has counted
	}
	query.IDs = append(query.IDs, order.ID)
	selection := ticks{Seen: seen}.selection(p.Clock.Now(), 1)
	found, err := p.Orders.Movable(v.Ctx(), v.Caller, query, selection)
	return len(found) > 0, err
}
