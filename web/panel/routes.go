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
		{get, "/panel/pedidos/nuevo", models.Anyone, p.askNewOrder},
		{post, "/panel/pedidos/nuevo", models.AnyoneWriting, p.createOrder},
		{get, "/panel/carga", models.Anyone, p.askUpload},
		{post, "/panel/carga", models.AnyoneWriting, p.previewUpload},
		{get, "/panel/carga/plantilla.csv", models.Anyone, p.uploadTemplate},
		{get, "/panel/carga/crear", models.Anyone, p.uploadAgain},
		{post, "/panel/carga/crear", models.AnyoneWriting, p.createUpload},
		{post, "/panel/carga/resumen", models.Anyone, p.summarizeUpload},
		{post, "/panel/carga/resultado.csv", models.Anyone, p.uploadResult},
		{get, "/panel/ubicaciones", models.Anyone, p.suggestPlaces},
		{get, summaryPath, models.Anyone, p.showSummary},
		{get, "/panel/destinos", models.Anyone, p.suggestDestinations},

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
		{get, "/panel/motorizados", models.OperatorReading, p.riders().list},
		{post, "/panel/motorizados", models.OperatorWriting, p.riders().create},
		{get, "/panel/motorizados/:id", models.OperatorReading, p.riders().edit},
		{post, "/panel/motorizados/:id", models.OperatorWriting, p.riders().change},
		{get, "/panel/sucursales", models.OperatorReading, p.branches().list},
		{post, "/panel/sucursales", models.OperatorWriting, p.branches().create},
		{get, "/panel/sucursales/:id", models.OperatorReading, p.branches().edit},
		{post, "/panel/sucursales/:id", models.OperatorWriting, p.branches().change},
		{get, "/panel/tallas", models.OperatorReading, p.sizes().list},
		{post, "/panel/tallas", models.OperatorWriting, p.sizes().create},
		{get, "/panel/tallas/:id", models.OperatorReading, p.sizes().edit},
		{post, "/panel/tallas/:id", models.OperatorWriting, p.sizes().change},
		{get, "/panel/zonas-de-riesgo", models.OperatorReading, p.riskZones().list},
		{post, "/panel/zonas-de-riesgo", models.OperatorWriting, p.riskZones().create},
		{get, "/panel/zonas-de-riesgo/:id", models.OperatorReading, p.riskZones().edit},
		{post, "/panel/zonas-de-riesgo/:id", models.OperatorWriting, p.riskZones().change},

		{get, "/panel/cobertura", models.OperatorReading, p.listCoverage},
		{post, "/panel/cobertura", models.OperatorWriting, p.addCoverage},
		{get, "/panel/cobertura.csv", models.OperatorReading, p.downloadCoverage},
		{get, "/panel/cobertura/carga", models.OperatorReading, p.askForCoverageFile},
		{post, "/panel/cobertura/carga", models.OperatorWriting, p.takeCoverageFile},
		{post, "/panel/cobertura/carga/aplicar", models.OperatorWriting, p.applyCoverageFile},
		{post, "/panel/cobertura/:id", models.OperatorWriting, p.changeCoverage},
		{post, "/panel/cobertura/:id/quitar", models.OperatorWriting, p.removeCoverage},

		{get, "/panel/ajustes", models.OperatorReading, p.showSettings},
		{post, "/panel/ajustes", models.OperatorWriting, p.changeSettings},

		{get, "/panel/usuarios", models.AdminReading, p.users().list},
		{post, "/panel/usuarios", models.AdminWriting, p.users().create},
		{get, "/panel/usuarios/:id", models.AdminReading, p.users().edit},
		{post, "/panel/usuarios/:id", models.AdminWriting, p.users().change},
		{post, "/panel/usuarios/:id/contrasena", models.AdminWriting, p.resetPassword},
	}
}

func (p *Pages) enter(v *Visit) error {
	v.Redirect(http.StatusSeeOther, home)
	return nil
}
