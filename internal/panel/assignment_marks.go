package panel

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/orders"
	"despacho/models"
)

// unmarked is an order that cannot be ticked.
type unmarked struct {
	Order *orders.View
	Why   string
	// Receive means that receiving the package is what helps.
	Receive bool
}

// scanned is the result of a scan: an order that is ticked, or why there is none.
type scanned struct {
	Marked *orders.View
	// Alone means that a script asks for the result alone: it has the row of the order.
	Alone bool
	unmarked
}

// mark ticks orders. Those that were moved since they were ticked are named with the reason:
// nothing is left out without a word.
func (p *Pages) mark(v *Request, page *assignmentPage, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	found, err := p.Orders.ByIDs(v.Ctx(), v.Caller, ids[:min(len(ids), orders.MaxBulk)])
	if err != nil {
		return err
	}
	for _, order := range found {
		if refused := whyNotMarked(v, page.Query, order); refused != nil {
			page.Unmarked = append(page.Unmarked, *refused)
		} else {
			page.Marked = append(page.Marked, order)
		}
	}
	return nil
}

// markScanned ticks the order of a scan.
func (p *Pages) markScanned(v *Request, page *assignmentPage, typed string) (err error) {
	if page.Scanned, err = p.findScanned(v, page.Query, typed); err != nil {
		return err
	}
	if order := page.Scanned.Marked; order != nil && !page.Selected(order.ID) {
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
	if refused := whyNotMarked(v, query, order); refused != nil {
		return &scanned{unmarked: *refused}, nil
	}
	return &scanned{Marked: order}, nil
}

// showScanned answers a scan whose order is not on the page: with its row, or with the reason.
func (p *Pages) showScanned(v *Request) error {
	page := &assignmentPage{Query: readAssignmentQuery(v)}
	var err error
	if page.Scanned, err = p.findScanned(v, page.Query, v.Query("codigo")); err != nil {
		return err
	}
	page.Scanned.Alone = true
	if page.Scanned.Marked != nil {
		page.Marked = []*orders.View{page.Scanned.Marked}
		stores, err := p.Operators.Stores().List(v.Ctx(), v.Operator())
		if err != nil {
			return err
		}
		page.storeFilter = storeFilterOf(stores)
	}
	return p.execute(v.Context, http.StatusOK, p.templates()["assignment"], "scanned", p.frame(v, "", page))
}

// whyNotMarked says why an order cannot be ticked on a list; it is nil if it can.
func whyNotMarked(v *Request, query assignmentQuery, order *orders.View) *unmarked {
	switch {
	case order.Status == query.Status:
		return nil
	case order.Status == models.StatusRegistered:
		return &unmarked{order, "Está registrado: recíbalo primero.", true}
	case order.Status == models.StatusReceived:
		return &unmarked{order, "Todavía no tiene motorizado: está en Por asignar.", false}
	case order.Status == models.StatusCancelled && order.Cancellation != nil && order.Cancellation.By == models.ByAuto:
		return &unmarked{order, "Se canceló por falta de recepción: recíbalo primero.", true}
	}
	return &unmarked{order, whyNotReceived(v, order), false}
}
