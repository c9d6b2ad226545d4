package panel

import (
	"net/http"

	"despacho/models"
)

// Route is a page or the way back of its form.
type Route struct {
	Method, Path string
	Needs        models.Permission
	Answer       func(*Visit) error
}

// Routes is the map of the panel.
func (p *Pages) Routes() []Route {
	const get, post = http.MethodGet, http.MethodPost
	return []Route{
		{get, "/panel", models.Anyone, p.enter},
		{get, "/panel/pedidos", models.Anyone, p.listOrders},
		{get, "/panel/ubicaciones", models.Anyone, p.suggestPlaces},
		{get, summaryPath, models.Anyone, p.showSummary},

		{get, "/panel/tiendas", models.OperatorReading, p.stores().list},
		{post, "/panel/tiendas", models.OperatorWriting, p.stores().create},
		{get, "/panel/tiendas/:id", models.OperatorReading, p.stores().edit},
		{post, "/panel/tiendas/:id", models.OperatorWriting, p.stores().change},
	}
}

func (p *Pages) enter(v *Visit) error {
	v.Redirect(http.StatusSeeOther, home)
	return nil
}
