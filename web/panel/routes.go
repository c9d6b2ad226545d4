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

		{get, keysPath, models.OperatorReading, p.listKeys},
		{post, keysPath, models.OperatorWriting, p.createKey},
		{post, keysPath + "/:id/revocar", models.OperatorWriting, p.revokeKey},

		{get, webhooksPath, models.Anyone, p.listWebhooks},
		{post, webhooksPath, models.AnyoneWriting, p.registerWebhook},
		{get, webhooksPath + "/:id", models.Anyone, p.openWebhook},
		{post, webhooksPath + "/:id/probar", models.AnyoneWriting, p.testWebhook},
		{post, webhooksPath + "/:id/rotar", models.AnyoneWriting, p.rotateSecret},
		{post, webhooksPath + "/:id/desactivar", models.AnyoneWriting, p.deactivateWebhook},
		{post, webhooksPath + "/:id/reenviar", models.AnyoneWriting, p.redeliverRange},

		{get, accountPath, models.Anyone, p.account},
		{post, accountPath, models.AnyoneWriting, p.changePassword},

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
