package panel

import (
	"time"
	"unicode/utf8"

	"despacho/models"
)

// frame is the data of the layout around every page: the user, the menu and the last notice.
type frame struct {
	Title    string
	Operator *models.Operator
	User     *models.User
	Menu     []menuGroup
	Notice   *notice
	// Writable is false while the operator is suspended.
	Writable bool
	// WebhooksPaused means that events wait.
	WebhooksPaused bool
	// Page is the data of the page's own template.
	Page any

	zone *time.Location
}

type menuGroup struct {
	Title string
	Links []menuLink
}

type menuLink struct {
	Path, Label string
	Current     bool
	// needs is the permission that the page requires.
	needs models.Permission
}

var menu = []menuGroup{
	{"Trabajo", []menuLink{
		{Path: "/panel/pedidos", Label: "Pedidos"},
		{Path: "/panel/recepcion", Label: "Recepción", needs: models.OperatorRead},
		{Path: "/panel/asignacion", Label: "Asignación", needs: models.OperatorRead},
		{Path: "/panel/pedidos/nuevo", Label: "Nuevo pedido"},
		{Path: "/panel/carga", Label: "Carga de pedidos"},
		{Path: "/panel/resumen", Label: "Resumen"},
	}},
	{"Integración", []menuLink{
		{Path: "/panel/claves", Label: "Claves API", needs: models.OperatorRead},
		{Path: "/panel/webhooks", Label: "Webhooks"},
	}},
	{"Configuración", []menuLink{
		{Path: "/panel/tiendas", Label: "Tiendas", needs: models.OperatorRead},
		{Path: "/panel/motorizados", Label: "Motorizados", needs: models.OperatorRead},
		{Path: "/panel/sucursales", Label: "Sucursales", needs: models.OperatorRead},
		{Path: "/panel/tamanos", Label: "Tamaños", needs: models.OperatorRead},
		{Path: "/panel/cobertura", Label: "Cobertura y tarifas", needs: models.OperatorRead},
		{Path: "/panel/zonas-de-riesgo", Label: "Zonas de riesgo", needs: models.OperatorRead},
		{Path: "/panel/ajustes", Label: "Ajustes", needs: models.OperatorRead},
		{Path: "/panel/usuarios", Label: "Usuarios", needs: models.AdminRead},
		{Path: privacyPath, Label: "Datos personales", needs: models.AdminRead},
		{Path: auditPath, Label: "Registro de actividad", needs: models.AdminRead},
	}},
}

func (p *Pages) frame(v *Request, title string, page any) *frame {
	f := &frame{
		Title: title, Operator: v.Operator(), User: &v.Who.User, Menu: menuFor(v),
		Writable: !v.Operator().Suspended(), WebhooksPaused: p.Webhooks.Paused, Page: page, zone: v.Operator().TimeZone(),
	}
	if !isFragment(v) { // the notice is for the next page, not for a part of another one
		f.Notice = p.takeNotice(v.Context, v.Who.SessionID)
	}
	return f
}

// menuFor leaves out what the user may not open, and marks the current entry: the link with the
// longest path that contains this page.
func menuFor(v *Request) []menuGroup {
	var groups []menuGroup
	var current *menuLink
	for _, group := range menu {
		shown := menuGroup{Title: group.Title}
		for _, link := range group.Links {
			if link.needs.Allows(&v.Who.User) {
				shown.Links = append(shown.Links, link)
			}
		}
		for i := range shown.Links {
			link := &shown.Links[i]
			if isWithin(v.Request.URL.Path, link.Path) && (current == nil || len(link.Path) > len(current.Path)) {
				current = link
			}
		}
		if len(shown.Links) > 0 {
			groups = append(groups, shown)
		}
	}
	if current != nil {
		current.Current = true
	}
	return groups
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

// Moment is a date and time in the operator's time zone.
func (f *frame) Moment(at time.Time) string { return at.In(f.zone).Format("02/01/2006 15:04") }

// Hour is a time of day in the operator's time zone.
func (f *frame) Hour(at time.Time) string { return at.In(f.zone).Format("15:04") }

// Instant is a time with seconds in the operator's time zone.
func (f *frame) Instant(at time.Time) string { return at.In(f.zone).Format("02/01/2006 15:04:05") }

// Machine is a time for the datetime attribute of a time element.
func (f *frame) Machine(at time.Time) string { return at.In(f.zone).Format(time.RFC3339) }
