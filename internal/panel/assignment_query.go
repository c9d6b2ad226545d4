package panel

import (
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
	Page                           int
	// All selects the whole page.
	All bool
}

func readAssignmentQuery(v *Request) assignmentQuery {
	query := assignmentQuery{
		Status: models.StatusReceived, Search: v.Query("q"), Store: v.Query("tienda"), District: v.Query(districtParameter),
		Page: pageNumber(v), All: v.Query("marcar") == "todos",
	}
	if models.Status(v.Query("estado")) == models.StatusAssigned {
		query.Status, query.Rider = models.StatusAssigned, v.Query("motorizado")
	}
	return query
}

func (q assignmentQuery) ordersQuery() orders.Query {
	return orders.Query{
		Status: q.Status, Search: q.Search, StoreID: optionalID(q.Store), LocationID: optionalID(q.District),
		RiderID: optionalID(q.Rider),
		Page:    q.Page, Limit: assignablePerPage, Sort: orders.Sort{Column: orders.SortByLocation, Ascending: true},
	}
}

// at is the URL of a path with the query.
func (q assignmentQuery) at(path string) string {
	return withQuery(path, map[string]string{
		"q": q.Search, "tienda": q.Store, districtParameter: q.District, "motorizado": q.Rider,
		"estado": ifSet(q.Reassigns(), string(q.Status)),
		"pagina": pageParameter(q.Page), "marcar": ifSet(q.All, "todos"),
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
		return deliverySheetOf(*rider)
	}
	return ""
}

// PreviousPage and NextPage are the numbers of the pages beside this one.
func (q assignmentQuery) PreviousPage() int { return q.Page - 1 }
func (q assignmentQuery) NextPage() int     { return q.Page + 1 }

// AllSelected is the URL with everything selected.
func (q assignmentQuery) AllSelected() string { q.All = true; return q.at(assignmentPath) }

// NoneSelected is the URL with nothing selected.
func (q assignmentQuery) NoneSelected() string { q.All = false; return q.at(assignmentPath) }

func assignmentTabs(query assignmentQuery, counts map[models.Status]int64) []tab {
	at := func(status models.Status, label string) tab {
		here := query.Status == status
		query := query
		query.Status, query.Page, query.All, query.Rider = status, 1, false, ""
		return tab{Label: label, Count: counts[status], Path: query.at(assignmentPath), Current: here}
	}
	return []tab{at(models.StatusReceived, "Por asignar"), at(models.StatusAssigned, models.StatusAssigned.Label())}
}
