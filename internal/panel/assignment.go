package panel

import (
	"net/http"
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
	Query     assignmentQuery
	Search    searchField
	Tabs      []tab
	Orders    []*orders.View
	Pager     pager
	Districts []forms.Option
	// Riders are the riders whose orders may be reassigned.
	Riders []forms.Option
	Form   *forms.Form
	Report *bulkReport
	storeFilter
	selected map[uuid.UUID]bool
}

// Selected reports whether an order is selected.
func (p *assignmentPage) Selected(id uuid.UUID) bool { return p.Query.All || p.selected[id] }

func (p *Pages) showAssignment(v *Request) error {
	if isFragment(v) { // has neither the filters nor the form, and so no riders
		return p.respondAssignment(v, http.StatusOK, &assignmentPage{Query: readAssignmentQuery(v)}, nil)
	}
	riders, err := p.Operators.Riders().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page := &assignmentPage{Query: readAssignmentQuery(v), Form: riderForm(riders)}
	return p.respondAssignment(v, http.StatusOK, page, riders)
}

// assign assigns the selected orders to a rider and shows each result. Orders that can be retried
// stay selected.
func (p *Pages) assign(v *Request) error {
	riders, err := p.Operators.Riders().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page := &assignmentPage{Query: readAssignmentQuery(v), Form: riderForm(riders), selected: map[uuid.UUID]bool{}}
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
		page.choose(ids)
		return p.respondAssignment(v, http.StatusUnprocessableEntity, page, riders)
	}
	name := riderName(riderID, riders)
	page.Report = assignmentResults.report("Asignación a "+name, "Los que lleva "+name, assignments)
	page.choose(page.Report.again)
	page.Form = riderForm(riders) // the next orders are not for the same rider by default
	return p.respondAssignment(v, http.StatusOK, page, riders)
}

// selectedIDs are the orders that were ticked.
func selectedIDs(values []string) []uuid.UUID {
	var ids []uuid.UUID
	for _, text := range values {
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

// shownVersions are the versions of the orders as the page showed them.
func shownVersions(v *Request) map[uuid.UUID]int {
	shown := map[uuid.UUID]int{}
	for _, pair := range v.Request.PostForm["version"] {
		text, number, _ := strings.Cut(pair, ":")
		id := optionalID(text)
		if version, err := strconv.Atoi(number); err == nil && id != nil {
			shown[*id] = version
		}
	}
	return shown
}

func (p *assignmentPage) choose(ids []uuid.UUID) {
	for _, id := range ids {
		p.selected[id] = true
	}
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
	page.Orders, page.Tabs = counted.Orders, assignmentTabs(page.Query, counted.Counts)
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
