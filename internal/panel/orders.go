package panel

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/guidecode"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/internal/panel/forms"
	"despacho/models"
)

const ordersPerPage = 50

// ordersPage is the list of orders, the panel's first page.
type ordersPage struct {
	Search  searchField
	Tabs    []tab
	Columns orderColumnHeads
	Orders  []*orders.View
	Total   int64
	Query   orderQuery
	Riders  []forms.Option
	// Districts are those to filter by, like Riders none for a store's user.
	Districts []forms.Option
	Pager     pager
	Refresh   string
	// Dates are the dates that the days filter.
	Dates []forms.Option
	// Periods are the periods that the list can be filtered by.
	Periods []forms.Option
	// Collected is set on the list of delivered orders.
	Collected *collectedTotal
	// WithoutPoint is how many active orders have no coordinates.
	WithoutPoint int64
	// storeFilter is empty for a store's user, who only sees that store.
	storeFilter
}

// ShowsState means that the orders of the list have several statuses.
func (page ordersPage) ShowsState() bool {
	return page.Query.Status == "" || page.Query.Status == models.StatusCancelled
}

// ShowsRider means that the orders of the list have riders.
func (page ordersPage) ShowsRider() bool {
	return page.Query.Status == models.StatusAssigned || page.Query.Status == models.StatusDelivered
}

// OfRider means that the list is what a rider carries: a scan ticks there.
func (page ordersPage) OfRider() bool {
	return page.Query.Status == models.StatusAssigned && page.Query.Rider != ""
}

// collectedTotal is what was collected for delivered orders.
type collectedTotal struct {
	// Shown is for the orders of the page, All for those of every page.
	Shown, All money.Cents
	// Pages means that there is more than one page.
	Pages bool
}

type tab struct {
	Label   string
	Count   int64
	Path    string
	Current bool
}

// orderQuery is the query of the URL, which can be bookmarked and shared.
type orderQuery struct {
	Status       models.Status
	Search       string
	Store, Rider string
	// District is the id of a location.
	District string
	// Period is one of periods, or empty; then Days are the days that somebody chose.
	Period string
	Days   days
	// within are the days that the list is filtered by.
	within days
	// Date is which date the days are about: byCreation or byDelivery.
	Date         string
	WithoutPoint bool
	// Expiring, OutSinceYesterday and AmountDiffers are those of orders.Query.
	Expiring, OutSinceYesterday, AmountDiffers, NotLoaded bool
	// Undecided, DueToday and Returning are those of orders.Today. today is the day of DueToday.
	Undecided, DueToday, Returning bool
	today                          time.Time
	// All means all orders that match, not those that are ticked.
	All bool
	// Sort is the column to sort by, with a minus in front for descending; empty is newest first.
	Sort string
	Page int
}

const (
	byCreation = "creacion"
	byDelivery = "entrega"
)

func (p *Pages) readOrderQuery(v *Request) orderQuery {
	query := orderQuery{
		Status: models.Status(v.Query("estado")), Search: v.Query("q"), Store: v.Query("tienda"), Rider: v.Query("motorizado"),
		District: v.Query(districtParameter),
		Days:     readDays(v), WithoutPoint: v.Query("sin_punto") != "", Page: pageNumber(v),
		Expiring: v.Query("vence") != "", OutSinceYesterday: v.Query("desde_ayer") != "", AmountDiffers: v.Query("monto_distinto") != "",
		NotLoaded: v.Query("sin_confirmar") != "", Undecided: v.Query("falta_decidir") != "",
		DueToday: v.Query("se_intentan") != "", Returning: v.Query("por_devolver") != "",
	}
	now := p.Clock.Now().In(v.Operator().TimeZone())
	query.today = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	if _, known := sortColumns[strings.TrimPrefix(v.Query("orden"), "-")]; known {
		query.Sort = v.Query("orden")
	}
	if !query.Status.Valid() {
		query.Status = ""
	}
	query.within = query.Days
	if slices.ContainsFunc(periods, func(period forms.Option) bool { return period.Value == v.Query("periodo") }) {
		query.Period, query.Days = v.Query("periodo"), days{}
		query.within = daysOf(query.Period, now)
	}
	query.Date = byCreation
	if v.Query("fecha") == byDelivery {
		query.Date = byDelivery
	}
	return query
}

// ordersQuery is the query for the use case. Invalid ids are ignored: the form cannot send them.
func (q orderQuery) ordersQuery() orders.Query {
	query := orders.Query{Status: q.Status, Search: q.Search, WithoutPoint: q.WithoutPoint, ByDelivery: q.Date == byDelivery,
		Expiring: q.Expiring, OutSinceYesterday: q.OutSinceYesterday, AmountDiffers: q.AmountDiffers,
		NotLoaded: q.NotLoaded, Page: q.Page, Limit: ordersPerPage}
	switch {
	case q.Undecided:
		query.Substatuses = orders.UndecidedSubstatuses
	case q.Returning:
		query.Substatuses = []models.Substatus{models.SubstatusReturning}
	case q.DueToday:
		query.Substatuses, query.DueBy = []models.Substatus{models.SubstatusRetryPlanned}, &q.today
	}
	query.StoreID, query.RiderID, query.LocationID = optionalID(q.Store), optionalID(q.Rider), optionalID(q.District)
	query.From, query.To = q.within.From, q.within.To
	query.Sort = q.orderSort()
	return query
}

func optionalID(text string) *uuid.UUID {
	if id, ok := jsonbody.ParseUUID(text); ok {
		return &id
	}
	return nil
}

// at is the URL of a path with the query.
func (q orderQuery) at(path string) string {
	return withQuery(path, map[string]string{
		"estado": string(q.Status), "q": q.Search, "tienda": q.Store, "motorizado": q.Rider, districtParameter: q.District,
		"desde": q.Days.First(), "hasta": q.Days.Last(), "periodo": q.Period,
		"fecha": ifSet(q.Date == byDelivery, byDelivery), "sin_punto": ifSet(q.WithoutPoint, "1"), "orden": q.Sort,
		"vence": ifSet(q.Expiring, "1"), "desde_ayer": ifSet(q.OutSinceYesterday, "1"), "monto_distinto": ifSet(q.AmountDiffers, "1"),
		"falta_decidir": ifSet(q.Undecided, "1"), "se_intentan": ifSet(q.DueToday, "1"), "sin_confirmar": ifSet(q.NotLoaded, "1"),
		"por_devolver": ifSet(q.Returning, "1"),
		"pagina":       pageParameter(q.Page), allParameter: ifSet(q.All, "1"),
	})
}

// chip is a filter of the list that the URL has and that can be taken away.
type chip struct{ Name, Label string }

// Chips are the filters that have no field of their own: the links of the panel's first page set
// them.
func (q orderQuery) Chips() []chip {
	var chips []chip
	for _, of := range []struct {
		set bool
		chip
	}{
		{q.Expiring, chip{"vence", "Se cancelan en menos de 2 horas"}},
		{q.OutSinceYesterday, chip{"desde_ayer", "En reparto desde ayer o antes"}},
		{q.AmountDiffers, chip{"monto_distinto", "Cobrado distinto de lo acordado"}},
		{q.Undecided, chip{"falta_decidir", "Falta decidir tras un intento fallido"}},
		{q.DueToday, chip{"se_intentan", "Se intentan otra vez hoy"}},
		{q.NotLoaded, chip{"sin_confirmar", "Su motorizado no confirmó la carga"}},
		{q.Returning, chip{"por_devolver", "Por devolver a su tienda"}},
	} {
		if of.set {
			chips = append(chips, of.chip)
		}
	}
	return chips
}

// More reports whether one of the filters is set that are folded away.
func (q orderQuery) More() bool {
	return q.Days.Any() || q.Date == byDelivery || q.WithoutPoint || len(q.Chips()) > 0
}

// Hidden are the filters as hidden fields, for what is done with all orders that match.
func (q orderQuery) Hidden() []forms.Option {
	q.Page, q.Sort = 1, ""
	_, query, _ := strings.Cut(q.at(""), "?")
	values, _ := url.ParseQuery(query) // it was just encoded
	var fields []forms.Option
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fields = append(fields, forms.Option{Label: name, Value: values.Get(name)})
	}
	return fields
}

// Filtered reports whether there is a filter besides the status.
func (q orderQuery) Filtered() bool { return q.Search != "" || q.Narrowed() }

// Narrowed reports whether one of the filters is set that are collapsed on a phone.
func (q orderQuery) Narrowed() bool {
	return q.Store != "" || q.Rider != "" || q.District != "" || q.Period != "" || q.More()
}

func (p *Pages) listOrders(v *Request) error {
	query := p.readOrderQuery(v)
	if code, err := guidecode.Scan(query.Search); err == nil && !isFragment(v) {
		if id, err := p.Orders.IDByGuideCode(v.Ctx(), v.Caller, code); err != nil || id != nil {
			return p.openFound(v, id, err)
		}
	}
	counted, complaint, err := p.readOrders(v, query.ordersQuery())
	if err != nil {
		return err
	}
	query.Page = counted.Page.Page
	page := ordersPage{
		Search: searchField{query.Search, "Guía, nombre, teléfono, dirección, distrito, producto, motorizado", complaint},
		Tabs:   tabsOf(query, counted.Counts), Columns: columnHeads(query, counted), Orders: counted.Orders, Total: counted.Total,
		Query: query, Refresh: query.at(ordersPath),
		Periods: append([]forms.Option{{Label: "Período"}}, periods...),
		Dates:   []forms.Option{{Value: byCreation, Label: "Creación"}, {Value: byDelivery, Label: "Entrega"}},
		Pager: pagerOf(query.Page, ordersPerPage, counted.Total,
			func(number int) string { query.Page = number; return query.at(ordersPath) }),
	}
	if query.Status == models.StatusDelivered {
		if page.Collected, err = p.collected(v, query, counted); err != nil {
			return err
		}
	}
	if v.Caller.StoreID == nil {
		if err := p.addChoices(v, &page); err != nil {
			return err
		}
	}
	if isFragment(v) {
		return p.showPart(v, "orders", "board", page)
	}
	if complaint == "" { // else the search selects nothing to count, and the list is not worth to be remembered
		if page.WithoutPoint, err = p.Orders.CountWithoutPoint(v.Ctx(), v.Caller, query.ordersQuery()); err != nil {
			return err
		}
		p.rememberList(v, page.Refresh)
	}
	return p.show(v, page.Search.status(http.StatusOK), "orders", "Pedidos", page)
}

// openFound opens the order whose guide code was typed or scanned into a search.
func (p *Pages) openFound(v *Request, id *uuid.UUID, err error) error {
	if err == nil {
		v.Redirect(http.StatusSeeOther, orderPath(*id))
	}
	return err
}

// searchField is the field of a search for orders. Error is why the search could not be made.
type searchField struct{ Value, Placeholder, Error string }

// status is the status of a page that would otherwise have the given one.
func (f searchField) status(otherwise int) int {
	if f.Error != "" {
		return http.StatusBadRequest
	}
	return otherwise
}

// readOrders reads a page of orders and the counts by status. For a search that cannot be made the
// page is empty, and complaint says why.
func (p *Pages) readOrders(v *Request, query orders.Query) (counted *orders.CountedPage, complaint string, err error) {
	counted, _, err = readPage(&query.Page, query.Limit, func() (*orders.CountedPage, int64, error) {
		counted, err := p.Orders.ListWithCounts(v.Ctx(), v.Caller, query)
		if err != nil {
			return nil, 0, err
		}
		return counted, counted.Total, nil
	})
	if err == nil {
		return counted, "", nil
	}
	for _, wrong := range apperror.From(err).Fields {
		if wrong.Field == orders.SearchField {
			return &orders.CountedPage{Page: &orders.Page{Page: 1}}, forms.Sentence(wrong.Message), nil
		}
	}
	return nil, "", err
}

// collected sums up what was collected for the delivered orders that the page shows, and for those
// of all pages.
func (p *Pages) collected(v *Request, query orderQuery, counted *orders.CountedPage) (*collectedTotal, error) {
	total := &collectedTotal{}
	for _, order := range counted.Orders {
		if order.ActualAmountCollected != nil {
			total.Shown += *order.ActualAmountCollected
		}
	}
	total.All, total.Pages = total.Shown, counted.Total > int64(len(counted.Orders))
	if !total.Pages {
		return total, nil
	}
	var err error
	total.All, err = p.Orders.Collected(v.Ctx(), v.Caller, query.ordersQuery())
	return total, err
}

// At is the time that the list shows of an order: its delivery in the list of delivered orders, its
// creation in the others.
func (page ordersPage) At(order *orders.View) *time.Time {
	if page.Collected != nil {
		return order.DeliveredAt
	}
	return &order.CreatedAt
}

// IsFragment reports whether a script requests only the part of a page that changes.
func IsFragment(c *gin.Context) bool { return c.GetHeader("X-Fragment") != "" }

func isFragment(v *Request) bool { return IsFragment(v.Context) }

// liveSeconds is how often a page looks for changes while somebody looks at it and nothing tells it
// of them.
const liveSeconds = 10

// ChangesPath is the stream that tells open lists of orders when one has changed.
const ChangesPath = "/panel/cambios"

func (p *Pages) addChoices(v *Request, page *ordersPage) error {
	stores, err := p.Operators.Stores().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page.storeFilter = storeFilterOf(stores)
	// The part that a script asks for has the names of the stores, and no filters.
	if isFragment(v) {
		return nil
	}
	riders, err := p.Operators.Riders().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page.Riders = riderFilter(riders)
	page.Districts, err = p.allDistricts(v, optionalID(page.Query.District))
	return err
}

// RiderName is the rider of an order that is or was with a rider.
func (ordersPage) RiderName(order *orders.View) string {
	if order.Rider == nil || order.Status != models.StatusAssigned && order.Status != models.StatusDelivered {
		return ""
	}
	return order.Rider.Name
}

// Second is what a list says below the status of an order: what became of a failed attempt, and the
// rider.
func (page ordersPage) Second(order *orders.View) string {
	rider := page.RiderName(order)
	if order.Substatus == nil {
		return rider
	}
	return strings.Trim(order.Substatus.Label()+" · "+rider, " ·")
}

func tabsOf(query orderQuery, counts map[models.Status]int64) []tab {
	var all int64
	for _, count := range counts {
		all += count
	}
	here := query.Status
	at := func(status models.Status) string { query.Status, query.Page = status, 1; return query.at(ordersPath) }
	tabs := []tab{{Label: "Todos", Count: all, Path: at(""), Current: here == ""}}
	for _, status := range models.Statuses {
		tabs = append(tabs, tab{Label: status.Label(), Count: counts[status], Path: at(status), Current: here == status})
	}
	return tabs
}
