package panel

import (
	"net/url"
	"strings"
	"time"

	"despacho/internal/orders"
	"despacho/models"
)

const assignmentPath = "/panel/asignacion"

// assignmentQuery is the query of the URL.
type assignmentQuery struct {
	// Status is received for orders to assign, assigned for orders to reassign.
	Status                         models.Status
	Search, Store, District, Rider string
	// Page is of the orders of the open groups.
	Page int
	// Open are the groups that somebody has opened, with commas between them; noGroups if they have
	// closed all, and empty if they have touched none.
	Open string
}

// noGroups stands for groups that are all closed.
const noGroups = "ninguno"

func readAssignmentQuery(v *Request) assignmentQuery {
	query := assignmentQueryOf(v.Request.URL.Query())
	query.Page, query.Open = pageNumber(v), v.Query("abierto")
	return query
}

// assignmentQueryOf reads the filters of a list.
func assignmentQueryOf(values url.Values) assignmentQuery {
	query := assignmentQuery{
		Status: models.StatusReceived, Search: values.Get("q"), Store: values.Get("tienda"),
		District: values.Get(districtParameter),
	}
	if models.Status(values.Get("estado")) == models.StatusAssigned {
		query.Status, query.Rider = models.StatusAssigned, values.Get("motorizado")
	}
	return query
}

// filters is the query without what only decides which of the list's orders are shown.
func (q assignmentQuery) filters() assignmentQuery {
	q.Page, q.Open = 0, ""
	return q
}

// Filters are the filters as a field of the form has them.
func (q assignmentQuery) Filters() string {
	_, filters, _ := strings.Cut(q.filters().at(""), "?")
	return filters
}

func (q assignmentQuery) ordersQuery() orders.Query {
	return orders.Query{
		Status: q.Status, Search: q.Search, StoreID: optionalID(q.Store), LocationID: optionalID(q.District),
		RiderID: optionalID(q.Rider), Assignable: true,
		Page: 1, Limit: assignablePerPage, Sort: orders.Sort{Column: orders.SortByLocation, Ascending: true},
	}
}

// at is the URL of a path with the query.
func (q assignmentQuery) at(path string) string {
	return withQuery(path, map[string]string{
		"q": q.Search, "tienda": q.Store, districtParameter: q.District, "motorizado": q.Rider,
		"estado": ifSet(q.Reassigns(), string(q.Status)),
		"pagina": pageParameter(q.Page), "abierto": q.Open,
	})
}

// Reassigns reports whether the orders already have a rider.
func (q assignmentQuery) Reassigns() bool { return q.Status == models.StatusAssigned }

// Since is the heading of the time column.
func (q assignmentQuery) Since() string {
	if q.Reassigns() {
		return "Asignado"
	}
	return "Recibido"
}

// At is when an order reached its status.
func (q assignmentQuery) At(order *orders.View) *time.Time {
	if q.Reassigns() {
		return order.AssignedAt
	}
	return order.ReceivedAt
}

// Filtered reports whether there is a filter besides the status.
func (q assignmentQuery) Filtered() bool {
	return q.Search != "" || q.Store != "" || q.District != "" || q.Rider != ""
}

// Unfiltered is the URL without filters.
func (q assignmentQuery) Unfiltered() string {
	return assignmentQuery{Status: q.Status}.at(assignmentPath)
}

// SheetPath is the address of the sheet of the rider that the list is filtered by, or empty.
func (q assignmentQuery) SheetPath() string {
	if rider := optionalID(q.Rider); rider != nil {
		return routeSheetOf(*rider)
	}
	return ""
}

// PreviousPage and NextPage are the numbers of the pages beside this one.
func (q assignmentQuery) PreviousPage() int { return q.Page - 1 }
func (q assignmentQuery) NextPage() int     { return q.Page + 1 }

// Path is the URL of the list.
func (q assignmentQuery) Path() string { return q.at(assignmentPath) }

func assignmentTabs(query assignmentQuery, counts map[models.Status]int64) []tab {
	at := func(status models.Status, label string) tab {
		here := query.Status == status
		query := query.filters()
		query.Status, query.Rider = status, ""
		return tab{Label: label, Count: counts[status], Path: query.at(assignmentPath), Current: here}
	}
	return []tab{at(models.StatusReceived, "Por asignar"), at(models.StatusAssigned, models.StatusAssigned.Label())}
}
