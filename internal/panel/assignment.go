package panel

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/orders"
	"despacho/internal/panel/forms"
	"despacho/models"
)

// assignablePerPage is the most that one assignment accepts.
const assignablePerPage = orders.MaxBulk

// assignmentPage lists the orders that can be assigned to a rider.
type assignmentPage struct {
	Query  assignmentQuery
	Search searchField
	Tabs   []tab
	// Marked are the orders that are ticked; they stay on the list whatever else is searched for.
	Marked []*orders.View
	// Unmarked says which orders cannot be ticked, and why.
	Unmarked []unmarked
	// Scanned is the result of a scan.
	Scanned *scanned
	// Places are the other orders of the page, by where they go.
	Places    []placeGroup
	Pager     pager
	Districts []forms.Option
	// Riders are the riders whose orders may be reassigned.
	Riders []forms.Option
	Form   *forms.Form
	Report *bulkReport
	storeFilter
}

// Selected reports whether an order is ticked.
func (p *assignmentPage) Selected(id uuid.UUID) bool {
	return slices.ContainsFunc(p.Marked, func(order *orders.View) bool { return order.ID == id })
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

// WithMarks is an address of the list with what is ticked.
func (p *assignmentPage) WithMarks(address string) string {
	for _, order := range p.Marked {
		address = withParameter(address, "id", order.ID.String())
	}
	return address
}

// placeGroup are orders to one place.
type placeGroup struct {
	Name   string
	Orders []*orders.View
}

// Listed reports whether there is an order on the page.
func (p *assignmentPage) Listed() bool { return len(p.Marked)+len(p.Places) > 0 }

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
	page.Form.Fields[0].Value = v.Query("rider_id")
	if err := p.mark(v, page, selectedIDs(v.QueryArray("id"))); err != nil {
		return err
	}
	if typed := v.Query("codigo"); typed != "" {
		if err := p.markScanned(v, page, typed); err != nil {
			return err
		}
	}
	return p.respondAssignment(v, http.StatusOK, page, riders)
}

// assign assigns the selected orders to a rider and shows each result. Orders that can be retried
// stay selected.
func (p *Pages) assign(v *Request) error {
	riders, err := p.Operators.Riders().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page := &assignmentPage{Query: readAssignmentQuery(v), Form: riderForm(riders)}
	page.Query.All = false
	in, err := p.readForm(v, page.Form)
	if err != nil {
		return err
	}
	ids := selectedIDs(v.Request.PostForm["id"])
	riderID := in.RequiredUUID("rider_id")
	var assignments []orders.BulkResult
	if err = in.Err(); err == nil {
		defer p.extendTimeout(v)()
		assignments, err = p.Orders.AssignMany(v.Ctx(), v.Caller, riderID, ids, shownVersions(v))
	}
	if err != nil {
		if !page.Form.AddError(err) {
			return err
		}
		if err := p.mark(v, page, ids); err != nil {
			return err
		}
		return p.respondAssignment(v, http.StatusUnprocessableEntity, page, riders)
	}
	name := riderName(riderID, riders)
	page.Report = assignmentResults.report("Asignación a "+name, "Los que lleva "+name, assignments)
	if err := p.mark(v, page, page.Report.again); err != nil {
		return err
	}
	page.Form = riderForm(riders) // the next orders are not for the same rider by default
	return p.respondAssignment(v, http.StatusOK, page, riders)
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

func riderName(id uuid.UUID, riders []models.Rider) string {
	for _, rider := range riders {
		if rider.ID == id {
			return rider.Name
		}
	}
	return ""
}

// shownVersions are the versions of the orders as the page showed them: beside the id of a ticked
// one, or in a field of their own.
func shownVersions(v *Request) map[uuid.UUID]int {
	shown := map[uuid.UUID]int{}
	for _, pair := range slices.Concat(v.Request.PostForm["id"], v.Request.PostForm["version"]) {
		text, number, _ := strings.Cut(pair, ":")
		id := optionalID(text)
		if version, err := strconv.Atoi(number); err == nil && id != nil {
			shown[*id] = version
		}
	}
	return shown
}

func (p *Pages) respondAssignment(v *Request, status int, page *assignmentPage, riders []models.Rider) error {
	counted, complaint, err := p.readOrders(v, page.Query.ordersQuery())
	if err != nil {
		return err
	}
	page.Search = searchField{page.Query.Search, "Guía, nombre, teléfono, dirección, distrito, producto", complaint}
	if counted.Page.Page != page.Query.Page {
		// Nobody selected all of the page that is shown in place of the requested one.
		page.Query.Page, page.Query.All = counted.Page.Page, false
	}
	page.list(counted.Orders)
	page.Tabs = assignmentTabs(page.Query, counted.Counts)
	page.Pager = pagerOf(page.Query.Page, assignablePerPage, counted.Total, func(number int) string {
		turned := page.Query
		turned.Page, turned.All = number, false
		return turned.at(assignmentPath)
	})
	if err := p.addAssignmentChoices(v, page, riders); err != nil {
		return err
	}
	if isFragment(v) {
		return p.showPart(v, "assignment", "assignable", page)
	}
	return p.show(v, page.Search.status(status), "assignment", "Asignación", page)
}

// list groups the orders of the page by where they go. The ticked ones are listed apart.
func (p *assignmentPage) list(found []*orders.View) {
	if p.Query.All {
		p.Marked = append(p.Marked, p.unmarkedOf(found)...)
	}
	at := map[uuid.UUID]int{}
	for _, order := range p.unmarkedOf(found) {
		i, known := at[order.LocationID]
		if !known {
			i = len(p.Places)
			at[order.LocationID], p.Places = i, append(p.Places, placeGroup{Name: order.Location.Name})
		}
		p.Places[i].Orders = append(p.Places[i].Orders, order)
	}
}

// unmarkedOf are the orders that are not ticked.
func (p *assignmentPage) unmarkedOf(found []*orders.View) []*orders.View {
	return slices.DeleteFunc(slices.Clone(found), func(order *orders.View) bool { return p.Selected(order.ID) })
}

func (p *Pages) addAssignmentChoices(v *Request, page *assignmentPage, riders []models.Rider) error {
	stores, err := p.Operators.Stores().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page.storeFilter = storeFilterOf(stores)
	if isFragment(v) {
		return nil
	}
	page.Riders = riderFilter(riders)
	query := page.Query.ordersQuery()
	if page.Search.Error != "" {
		query.Search = ""
	}
	page.Districts, err = p.countedDistricts(v, query)
	return err
}

func riderForm(riders []models.Rider) *forms.Form {
	return &forms.Form{Fields: []forms.Field{riderField("Elija un motorizado…", riders)}}
}
