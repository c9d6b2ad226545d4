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
		{get, "/panel/pedidos/:id", models.Anyone, p.showOrder},
		{post, "/panel/pedidos/:id/recibir", models.OperatorWriting, p.receiveOrder},
		{post, "/panel/pedidos/:id/asignar", models.OperatorWriting, p.assignOrder},
		{post, "/panel/pedidos/:id/entregar", models.OperatorWriting, p.deliverOrder},
		{post, "/panel/pedidos/:id/cancelar", models.AnyoneWriting, p.cancelOrder},
		{post, "/panel/pedidos/:id/punto", models.OperatorWriting, p.setPoint},
		{get, "/panel/etiquetas", models.Anyone, p.printLabels},
		{post, "/panel/envios/:id/reenviar", models.AnyoneWriting, p.redeliver},
		{get, "/panel/recepcion", models.OperatorReading, p.showReception},
		{post, "/panel/recepcion", models.OperatorWriting, p.receive},
		{get, "/panel/asignacion", models.OperatorReading, p.showAssignment},
		{post, "/panel/asignacion", models.OperatorWriting, p.assign},
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
