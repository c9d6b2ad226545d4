package panel

import (
	"time"
	"unicode/utf8"

	"despacho/internal/phone"
	"despacho/models"
)

// frame is the data of the layout around every page: the user, the menu and the last notice.
type frame struct {
	Title    string
	Operator *models.Operator
	User     *models.User
	Menu     []menuLink
	// Settings are the tabs of the configuration, on its pages.
	Settings []menuLink
	Notice   *notice
	// Writable is false while the operator is suspended.
	Writable bool
	// May says which parts of a page the user may use, where not everybody who sees it may.
	May partsAllowed
	// WebhooksPaused means that events wait.
	WebhooksPaused bool
	// Page is the data of the page's own template.
	Page any

	zone *time.Location
	now  time.Time
}

// partsAllowed are parts of pages that many open: each has its own permission.
type partsAllowed struct{ CreateOrders, PrintLabels, ChangeOrders, Receive, Dispatch bool }

type menuLink struct {
	Path, Label string
	// Icon is the name of its drawing; a tab has none.
	Icon string
	// Count is how many orders wait there.
	Count   int64
	Current bool
	// OnPhone is set for the links of the bar at the foot of a phone.
	OnPhone bool
	// needs is the permission that the page requires, waiting the status of the orders that wait.
	needs   models.Permission
	waiting models.Status
	// storeOnly links are for the users of stores, who have less to do.
	storeOnly bool
}

// menu has the pages of the daily work.
var menu = []menuLink{
	{Path: home, Label: "Hoy", Icon: "today", OnPhone: true},
	{Path: ordersPath, Label: "Pedidos", Icon: "orders", OnPhone: true},
	{Path: "/panel/recepcion", Label: "Recepción", Icon: "reception", OnPhone: true, needs: models.CounterRead,
		waiting: models.StatusRegistered},
	{Path: assignmentPath, Label: "Asignación", Icon: "assign", OnPhone: true, needs: models.DispatchRead,
		waiting: models.StatusReceived},
	{Path: newOrderPath, Label: "Nuevo pedido", Icon: "new", OnPhone: true, storeOnly: true},
	{Path: uploadPath, Label: "Cargar pedidos", Icon: "upload", needs: models.NewOrderRead},
	{Path: cashPath, Label: "Caja", Icon: "cash", needs: models.CashRead},
	{Path: settlementsPath, Label: "Liquidaciones", Icon: "settlements", needs: models.SettlementRead},
	{Path: summaryPath, Label: "Resumen", Icon: "summary"},
}

// settings are the pages of the configuration, which are tabs of one another.
var settings = []menuLink{
	{Path: "/panel/ajustes", Label: "Operador", needs: models.SettingsRead},
	{Path: rulesPath, Label: "Entregas e intentos", needs: models.SettingsRead},
	{Path: "/panel/tiendas", Label: "Tiendas", needs: models.SettingsRead},
	{Path: "/panel/motorizados", Label: "Motorizados", needs: models.RiderRead},
	{Path: "/panel/sucursales", Label: "Sucursales", needs: models.SettingsRead},
	{Path: "/panel/cobertura", Label: "Cobertura", needs: models.SettingsRead},
	{Path: "/panel/tamanos", Label: "Tamaños", needs: models.SettingsRead},
	{Path: "/panel/zonas-de-riesgo", Label: "Riesgo", needs: models.SettingsRead},
	{Path: "/panel/usuarios", Label: "Usuarios", needs: models.AdminRead},
	{Path: keysPath, Label: "Claves API", needs: models.SettingsRead},
	{Path: webhooksPath, Label: "Webhooks", needs: models.WebhookRead},
	{Path: privacyPath, Label: "Datos personales", needs: models.AdminRead},
	{Path: auditPath, Label: "Actividad", needs: models.AdminRead},
}

func (p *Pages) frame(v *Request, title string, page any) *frame {
	f := &frame{
		Title: title, Operator: v.Operator(), User: &v.Who.User,
		Writable: !v.Operator().Suspended(), WebhooksPaused: p.Webhooks.Paused, Page: page, zone: v.Operator().TimeZone(),
		now: p.Clock.Now(),
		May: partsAllowed{
			CreateOrders: v.May(models.NewOrderWrite), PrintLabels: v.May(models.NewOrderRead), ChangeOrders: v.May(models.OrderWrite),
			Receive: v.May(models.CounterWrite), Dispatch: v.May(models.DispatchWrite),
		},
	}
	f.Menu, f.Settings = menuFor(v)
	if !isFragment(v) { // the notice is for the next page, not for a part of another one
		f.Notice = p.takeNotice(v.Context, v.Who.SessionID)
	}
	return f
}

// menuFor leaves out what the user may not open, and marks the current entry. On a page of the
// configuration it also returns the tabs, of which a user may have none.
func menuFor(v *Request) (links, tabs []menuLink) {
	links, tabs = linksFor(v, menu), linksFor(v, settings)
	if len(tabs) == 0 {
		markCurrent(v, links)
		return links, nil
	}
	configuration := menuLink{Path: tabs[0].Path, Label: "Configuración", Icon: "settings", Current: markCurrent(v, tabs)}
	if !configuration.Current {
		tabs = nil
		markCurrent(v, links)
	}
	return append(links, configuration), tabs
}

func linksFor(v *Request, from []menuLink) []menuLink {
	var links []menuLink
	for _, link := range from {
		if link.needs.Allows(&v.Who.User) && !(link.storeOnly && v.Caller.StoreID == nil) {
			links = append(links, link)
		}
	}
	return links
}

// markCurrent marks the link with the longest path that contains this page, if there is one.
func markCurrent(v *Request, links []menuLink) bool {
	var current *menuLink
	for i := range links {
		link := &links[i]
		if isWithin(v.Request.URL.Path, link.Path) && (current == nil || len(link.Path) > len(current.Path)) {
			current = link
		}
	}
	if current == nil {
		return false
	}
	current.Current = true
	return true
}

// countWaiting says in the menu how many orders wait to be received and to be assigned.
func (p *Pages) countWaiting(v *Request, links []menuLink) error {
	if v.Caller.StoreID != nil {
		return nil
	}
	counts, err := p.Orders.CountByStatus(v.Ctx(), v.Caller)
	for i := range links {
		links[i].Count = counts[links[i].waiting]
	}
	return err
}

func isWithin(path, parent string) bool {
	return path == parent || len(path) > len(parent) && path[:len(parent)] == parent && path[len(parent)] == '/'
}

// Initial is shown where there is no logo.
func (f *frame) Initial() string {
	initial, _ := utf8.DecodeRuneInString(f.Operator.Name)
	return string(initial)
}

// Logo is the URL of the operator's logo, or empty.
func (f *frame) Logo() string { return orEmpty(f.Operator.Logo("")) }

// Searches reports whether the page has a search for orders of its own.
func (f *frame) Searches() bool {
	switch f.Page.(type) {
	case ordersPage, *assignmentPage:
		return true
	}
	return false
}

// Lists reports whether the page has a list of orders: the first stop of the Tab key leads there.
func (f *frame) Lists() bool {
	switch page := f.Page.(type) {
	case ordersPage:
		return len(page.Orders) > 0
	case *assignmentPage:
		return page.Listed()
	}
	return false
}

// Moment is a date and time in the operator's time zone.
func (f *frame) Moment(at time.Time) string { return at.In(f.zone).Format("02/01/2006 15:04") }

// Now is when the page was made.
func (f *frame) Now() time.Time { return f.now }

// Short is a time of day, with the date if it is of another day and with the year if of another.
func (f *frame) Short(at time.Time) string { return shortTime(at, f.now, f.zone) }

func shortTime(at, now time.Time, zone *time.Location) string {
	at = at.In(zone)
	switch today := now.In(zone); {
	case at.Year() != today.Year():
		return at.Format("02/01/2006 15:04")
	case at.YearDay() != today.YearDay():
		return at.Format("02/01 15:04")
	}
	return at.Format("15:04")
}

// Phone is a telephone number as people of the operator's country write it.
func (f *frame) Phone(number string) string { return phone.Readable(number, f.Operator.CountryCode) }

// Hour is a time of day in the operator's time zone.
func (f *frame) Hour(at time.Time) string { return at.In(f.zone).Format("15:04") }

// Instant is a time with seconds in the operator's time zone.
func (f *frame) Instant(at time.Time) string { return at.In(f.zone).Format("02/01/2006 15:04:05") }

// Machine is a time for the datetime attribute of a time element.
func (f *frame) Machine(at time.Time) string { return at.In(f.zone).Format(time.RFC3339) }
