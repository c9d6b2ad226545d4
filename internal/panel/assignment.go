package panel

import (
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/orders"
	"despacho/internal/panel/forms"
	"despacho/models"
)

// assignablePerPage is how many orders the page lists at most: what one assignment accepts.
const assignablePerPage = orders.MaxBulk

// assignmentPage lists the orders that can be assigned to a rider.
type assignmentPage struct {
	Query  assignmentQuery
	Search searchField
	Tabs   []tab
	// Total is how many match, and Held is how many of them stay where they are today.
	Total, Held int64
	// Ticks are the groups that are ticked, and Marked the orders that are ticked by themselves: they
	// stay on the list whatever else is searched for.
	Ticks  ticks
	Marked []*orders.View
	// Excepted are the orders that are not ticked though their group is.
	Excepted []*orders.View
	// Unmarked says which orders cannot be ticked, and why. Lost is how many were ticked with their
	// groups, and are too many to stay ticked under another filter.
	Unmarked []unmarked
	Lost     int64
	// Scanned is the result of a scan.
	Scanned *scanned
	// Places are the other orders, by where they go.
	Places    []placeGroup
	Pager     pager
	Districts []forms.Option
	// Riders are the riders whose orders may be reassigned.
	Riders []forms.Option
	Form   *forms.Form
	Report *bulkReport
	// Sheet is the route sheet of the rider who has just got orders.
	Sheet *sheetLink
	storeFilter
}

// sheetLink leads to a rider's route sheet.
type sheetLink struct{ Rider, Path string }

// Selected reports whether an order is ticked, by itself or with its group.
func (p *assignmentPage) Selected(order *orders.View) bool {
	return containsOrder(p.Marked, order.ID) || order.Status == p.Query.Status && p.Ticks.group(order.LocationID) &&
		!containsOrder(p.Excepted, order.ID)
}

func containsOrder(list []*orders.View, id uuid.UUID) bool {
	return slices.ContainsFunc(list, func(order *orders.View) bool { return order.ID == id })
}

// Columns is how many columns the list has.
func (p *assignmentPage) Columns(writable bool) int {
	columns := 7
	for _, more := range []bool{writable, p.Query.Reassigns()} {
		if more {
			columns++
		}
	}
	return columns
}

// Unfiltered is the list without filters, with what is ticked.
func (p *assignmentPage) Unfiltered() string {
	address := p.Query.Unfiltered()
	for _, order := range p.Marked {
		address = withParameter(address, "id", tickOf(order))
	}
	return address
}

// Listed reports whether there is an order on the page.
func (p *assignmentPage) Listed() bool { return len(p.Marked)+len(p.Places) > 0 }

// Assignable is how many can be assigned.
func (p *assignmentPage) Assignable() int64 { return p.Total - p.Held }

func (p *Pages) showAssignment(v *Request) error {
	if v.GetHeader("X-Fragment") == "scanned" {
		return p.showScanned(v)
	}
	if isFragment(v) { // has neither the filters nor the form, and so no riders
		return p.respondAssignment(v, http.StatusOK, &assignmentPage{Query: readAssignmentQuery(v)}, nil)
	}
	riders, err := p.Operators.Riders().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page := &assignmentPage{Query: readAssignmentQuery(v), Form: riderForm(riders)}
	ticked := readTicks(v.Request.URL.Query(), page.Query)
	page.Form.Fields[0].Value = v.Query("rider_id")
	if ticked.Filters != page.Query.Filters() { // whoever filters anew looks at another list
		page.Query.Open, page.Query.Page = "", 1
	}
	if err := p.tick(v, page, ticked); err != nil {
		return err
	}
	if typed := v.Query("codigo"); typed != "" {
		if err := p.markScanned(v, page, typed); err != nil {
			return err
		}
	}
	return p.respondAssignment(v, http.StatusOK, page, riders)
}

func riderName(id uuid.UUID, riders []models.Rider) string {
	for _, rider := range riders {
		if rider.ID == id {
			return rider.Name
		}
	}
	return ""
}

func (p *Pages) respondAssignment(v *Request, status int, page *assignmentPage, riders []models.Rider) error {
	query := page.Query.ordersQuery()
	query.Assignable = false // the tabs say how many there are; few of them are held back
	counted, complaint, err := p.readOrders(v, query)
	if err != nil {
		return err
	}
	page.Search = searchField{page.Query.Search, "Guía, nombre, teléfono, dirección, distrito, producto", complaint}
	page.Tabs, page.Total = assignmentTabs(page.Query, counted.Counts), counted.Total
	found, err := p.assignable(v, page, counted.Orders)
	if err != nil {
		return err
	}
	if err := p.group(v, page, found); err != nil {
		return err
	}
	stores, err := p.Operators.Stores().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page.storeFilter = storeFilterOf(stores)
	if isFragment(v) {
		return p.showPart(v, "assignment", "assignable", page)
	}
	page.Riders = riderFilter(riders)
	return p.show(v, page.Search.status(status), "assignment", "Asignación", page)
}

// assignable are the orders of a list that are not held back, if all of the list were read, and
// when the last of them came to its status: that stays the same for as long as the list does.
func (p *Pages) assignable(v *Request, page *assignmentPage, read []*orders.View) (found []*orders.View, err error) {
	if page.Total > int64(len(read)) {
		page.Ticks.Seen, err = p.Orders.LatestStatus(v.Ctx(), v.Caller, page.Query.ordersQuery())
		return nil, err
	}
	page.Ticks.Seen = time.Time{}
	for _, order := range read {
		if orders.HeldBack(order, p.today(v)) {
			continue
		}
		found = append(found, order)
		if at := page.Query.At(order); at != nil && at.After(page.Ticks.Seen) {
			page.Ticks.Seen = *at
		}
	}
	return found, nil
}

func riderForm(riders []models.Rider) *forms.Form {
	return &forms.Form{Fields: []forms.Field{riderField("Elija un motorizado…", riders)}}
}
