package panel

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/models"
)

// ticks are what somebody has ticked on the list of orders to assign: orders by themselves, and
// whole groups or all that match but for some of them.
type ticks struct {
	IDs []uuid.UUID
	// Versions are those of the orders that were ticked, as the page showed them.
	Versions map[uuid.UUID]int
	Groups   []uuid.UUID
	All      bool
	Except   []uuid.UUID
	// Seen is when the last of the orders that the page counted came to its status, and Filters are
	// the ones that the page was filtered by.
	Seen    time.Time
	Filters string
}

// The fields of a group's tick, of an order that is excepted from it, and of what both are about.
const (
	groupParameter   = "grupo"
	exceptParameter  = "salvo"
	seenParameter    = "visto"
	filtersParameter = "filtro"
)

// readTicks reads what was ticked on a list.
func readTicks(values url.Values, list assignmentQuery) ticks {
	read := ticks{
		IDs: selectedIDs(values["id"]), Versions: versionsOf(values["id"]), Groups: selectedIDs(values[groupParameter]),
		All: values.Get(allParameter) != "", Except: selectedIDs(values[exceptParameter]), Filters: list.Filters(),
	}
	if values.Has(filtersParameter) {
		read.Filters = values.Get(filtersParameter)
	}
	read.Seen, _ = time.Parse(time.RFC3339, values.Get(seenParameter))
	return read
}

// whole reports whether more is ticked than orders by themselves.
func (t ticks) whole() bool { return t.All || len(t.Groups) > 0 }

// group reports whether a group is ticked.
func (t ticks) group(id uuid.UUID) bool { return t.All || slices.Contains(t.Groups, id) }

// SeenText is Seen as a field of the form has it.
func (t ticks) SeenText() string { return t.Seen.UTC().Format(time.RFC3339Nano) }

// query selects the orders of the groups that are ticked on a list.
func (t ticks) query(list assignmentQuery) orders.Query {
	query := list.ordersQuery()
	if !t.All {
		query.LocationIDs = t.Groups
	}
	return query
}

// selection are the orders of the ticked groups that were there when the page counted them. Without
// scripts and without a page, as from a link, they are those of now.
func (t ticks) selection(now time.Time, limit int) orders.Selection {
	if t.Seen.IsZero() {
		t.Seen = now
	}
	return orders.Selection{Move: models.MoveAssign, Until: t.Seen, Still: true, Except: t.Except, Limit: limit}
}

// selectedIDs are the orders that were ticked. The value of a tick box is an order's id and the
// version that the page showed.
func selectedIDs(values []string) []uuid.UUID {
	var ids []uuid.UUID
	for _, text := range values {
		text, _, _ = strings.Cut(text, ":")
		if id := optionalID(text); id != nil {
			ids = append(ids, *id)
		}
	}
	return ids
}

// shownVersions are the versions of the posted orders as the page showed them: beside the id of a
// ticked one, or in a field of their own.
func shownVersions(v *Request) map[uuid.UUID]int {
	return versionsOf(slices.Concat(v.Request.PostForm["id"], v.Request.PostForm["version"]))
}

// versionsOf reads versions that are beside the ids of their orders.
func versionsOf(pairs []string) map[uuid.UUID]int {
	shown := map[uuid.UUID]int{}
	for _, pair := range pairs {
		text, number, _ := strings.Cut(pair, ":")
		id := optionalID(text)
		if version, err := strconv.Atoi(number); err == nil && id != nil {
			shown[*id] = version
		}
	}
	return shown
}

// tickOf is the value of an order's tick box.
func tickOf(order *orders.View) string { return order.ID.String() + ":" + strconv.Itoa(order.Version) }

// unmarked is an order that cannot be ticked.
type unmarked struct {
	Order *orders.View
	Why   string
	// Receive means that receiving the package is what helps.
	Receive bool
	// Offered means that it can be ticked all the same, by somebody who wants to.
	Offered bool
}

// tick ticks what was ticked on the page before. A group whose list has other filters now is
// another one: its orders stay ticked by themselves.
func (p *Pages) tick(v *Request, page *assignmentPage, ticked ticks) error {
	if ticked.whole() {
		if ticked.Filters == page.Query.Filters() {
			page.Ticks = ticked
			if err := p.except(v, page); err != nil {
				return err
			}
		} else if err := p.tickEach(v, page, &ticked); err != nil {
			return err
		}
	}
	return p.mark(v, page, ticked)
}

// except reads the orders that are not ticked though their groups are.
func (p *Pages) except(v *Request, page *assignmentPage) (err error) {
	if len(page.Ticks.Except) > 0 {
		page.Excepted, err = p.Orders.ByIDs(v.Ctx(), v.Caller, page.Ticks.Except[:min(len(page.Ticks.Except), maxMarked)])
	}
	return err
}

// tickEach ticks the orders of groups by themselves, as they were filtered when they were ticked.
func (p *Pages) tickEach(v *Request, page *assignmentPage, ticked *ticks) error {
	filters, err := url.ParseQuery(ticked.Filters)
	if err != nil {
		return nil // nobody has ticked anything on a list with such filters
	}
	query, selection := ticked.query(assignmentQueryOf(filters)), ticked.selection(p.Clock.Now(), orders.MaxBulk+1)
	if p.Orders.CheckSearch(v.Caller, query) != nil {
		return nil
	}
	ids, err := p.Orders.Movable(v.Ctx(), v.Caller, query, selection)
	if err != nil {
		return err
	}
	if len(ids) <= orders.MaxBulk {
		ticked.IDs = append(ticked.IDs, ids...)
		return nil
	}
	count, err := p.Orders.CountMovable(v.Ctx(), v.Caller, query, selection.Move, selection.Until)
	page.Lost = count.Movable
	return err
}

// maxMarked is how many orders that are ticked by themselves stay so on the next page.
const maxMarked = 2 * orders.MaxBulk

// mark ticks orders. Those that were moved since they were ticked are named with the reason:
// nothing is left out without a word.
func (p *Pages) mark(v *Request, page *assignmentPage, ticked ticks) error {
	ids := ticked.IDs
	if len(ids) == 0 {
		return nil
	}
	if len(ids) > maxMarked {
		page.Lost += int64(len(ids) - maxMarked)
		ids = ids[:maxMarked]
	}
	found, err := p.Orders.ByIDs(v.Ctx(), v.Caller, ids)
	if err != nil {
		return err
	}
	for _, order := range found {
		refused := p.whyNotMarked(v, page.Query, order)
		version, known := ticked.Versions[order.ID]
		if refused == nil || refused.Offered && known && version == order.Version {
			page.Marked = append(page.Marked, order)
		} else {
			page.Unmarked = append(page.Unmarked, *refused)
		}
	}
	return nil
}

// whyNotMarked says why an order is not ticked on a list; it is nil if it can be. What is on the
// other list is only ticked by somebody who sees that.
func (p *Pages) whyNotMarked(v *Request, query assignmentQuery, order *orders.View) *unmarked {
	switch {
	case orders.HeldBack(order, p.today(v)):
		return heldBack(order)
	case order.Status == query.Status:
		return nil
	case order.Status == models.StatusRegistered:
		return &unmarked{Order: order, Why: "Está registrado: recíbalo primero.", Receive: true}
	case order.Status == models.StatusReceived:
		return &unmarked{Order: order, Why: "Todavía no tiene motorizado: está en Por asignar.", Offered: true}
	case order.Status == models.StatusCancelled && order.Cancellation != nil && order.Cancellation.By == models.ByAuto:
		return &unmarked{Order: order, Why: "Se canceló por falta de recepción: recíbalo primero.", Receive: true}
	}
	return &unmarked{Order: order, Why: whyNotReceived(v, order), Offered: order.Status == models.StatusAssigned}
}

// heldBack says why a package does not go out today. Whoever wants it to can tick it, unless it
// goes back to its store.
func heldBack(order *orders.View) *unmarked {
	switch {
	case *order.Substatus == models.SubstatusReturning:
		return &unmarked{Order: order, Why: "Vuelve a su tienda: no sale a reparto."}
	case order.NextAttemptOn != nil:
		return &unmarked{Order: order, Why: "Se intentará otra vez el " + format.Day(*order.NextAttemptOn) + ".", Offered: true}
	}
	return &unmarked{Order: order, Why: "No se pudo entregar y espera una decisión.", Offered: true}
}
