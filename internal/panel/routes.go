package panel

import (
	"net/http"
	"slices"

	"despacho/internal/cash"
	"despacho/models"
)

// Route is a page or the target of its form.
type Route struct {
	Method, Path string
	Needs        models.Permission
	Answer       func(*Request) error
}

// Routes lists the panel's routes.
func (p *Pages) Routes() []Route {
	const get, post = http.MethodGet, http.MethodPost
	routes := []Route{
		{get, "/panel", models.AnyUser, p.enter},
		{get, home, models.AnyUser, p.showToday},
		{get, keyboardPath, models.AnyUser, p.showKeyboard},
		{get, ordersPath, models.AnyUser, p.listOrders},
		{get, ordersFilePath, models.AnyUser, p.downloadOrders},
		{get, "/panel/pedidos/:id", models.AnyUser, p.showOrder},
		{post, "/panel/pedidos/:id/recibir", models.OperatorWrite, p.receiveOrder},
		{post, "/panel/pedidos/:id/asignar", models.OperatorWrite, p.assignOrder},
		{post, "/panel/pedidos/:id/entregar", models.OperatorWrite, p.deliverOrder},
		{post, "/panel/pedidos/:id/no-entregado", models.OperatorWrite, p.failOrder},
		{post, "/panel/pedidos/:id/decidir", models.AnyUserWrite, p.decideOrder},
		{post, "/panel/pedidos/:id/devolver", models.OperatorWrite, p.handBackOrder},
		{post, "/panel/pedidos/:id/deshacer", models.OperatorWrite, p.undoOrder},
		{post, "/panel/pedidos/:id/cancelar", models.AnyUserWrite, p.cancelOrder},
		{post, "/panel/pedidos/:id/punto", models.OperatorWrite, p.setPoint},
		{get, "/panel/pedidos/:id/corregir", models.AnyUserWrite, p.showCorrection},
		{post, "/panel/pedidos/:id/corregir", models.AnyUserWrite, p.correctOrder},
		{post, "/panel/pedidos/:id/corregir-entrega", models.OperatorWrite, p.correctDelivery},
		{get, "/panel/etiquetas", models.AnyUser, p.printLabels},
		{post, "/panel/envios/:id/reenviar", models.AnyUserWrite, p.redeliver},
		{get, "/panel/recepcion", models.OperatorRead, p.showReception},
		{post, "/panel/recepcion", models.OperatorWrite, p.receive},
		{get, returnsPath, models.OperatorRead, p.showReturns},
		{post, returnsPath, models.OperatorWrite, p.handBackMany},
		{get, returnReceiptPath, models.OperatorRead, p.printReturnReceipt},
		{get, "/panel/asignacion", models.OperatorRead, p.showAssignment},
		{get, assignmentFilePath, models.OperatorRead, p.downloadAssignment},
		{post, "/panel/asignacion", models.OperatorWrite, p.assign},
		{get, routeSheetPath, models.OperatorRead, p.showRouteSheet},
		{get, "/panel/pedidos/nuevo", models.AnyUser, p.newOrder},
		{post, "/panel/pedidos/nuevo", models.AnyUserWrite, p.createOrder},
		{get, newOrderPricePath, models.AnyUser, p.priceNewOrder},
		{get, "/panel/carga", models.AnyUser, p.newUpload},
		{post, "/panel/carga", models.AnyUserWrite, p.previewUpload},
		{get, "/panel/carga/plantilla.csv", models.AnyUser, p.uploadTemplate},
		{get, uploadColumnsPath, models.AnyUser, p.showUploadColumns},
		{post, uploadColumnsPath, models.AnyUserWrite, p.saveUploadColumns},
		{get, "/panel/carga/revisar", models.AnyUser, p.uploadAgain},
		{post, "/panel/carga/revisar", models.AnyUserWrite, p.correctUpload},
		{get, "/panel/carga/crear", models.AnyUser, p.uploadAgain},
		{post, "/panel/carga/crear", models.AnyUserWrite, p.createUpload},
		{post, "/panel/carga/resumen", models.AnyUser, p.summarizeUpload},
		{post, "/panel/carga/resultado.csv", models.AnyUser, p.uploadResult},
		{post, "/panel/carga/errores.csv", models.AnyUser, p.uploadErrors},
		{get, "/panel/ubicaciones", models.AnyUser, p.suggestPlaces},
		{get, summaryPath, models.AnyUser, p.showSummary},
		{get, "/panel/destinos", models.AnyUser, p.suggestDestinations},

		{get, cashPath, models.OperatorRead, p.showCash},
		{get, handInPath, models.OperatorRead, p.showHandInForm},
		{post, handInPath, models.OperatorWrite, p.handIn},
		{get, handInsPath + "/:id", models.OperatorRead, p.showHandIn},
		{get, settlementsPath, models.AnyUser, p.listSettlements},
		{get, draftPath, models.OperatorRead, p.showDraft},
		{post, draftPath, models.OperatorWrite, p.issueSettlement},
		{get, settlementsPath + "/:id", models.AnyUser, p.showSettlement},
		{get, settlementsPath + "/:id/pedidos.csv", models.AnyUser, p.downloadSettlement},
		{post, settlementsPath + "/:id/pagar", models.OperatorWrite, p.paySettlement},

		{get, keysPath, models.OperatorRead, p.listKeys},
		{post, keysPath, models.OperatorWrite, p.createKey},
		{post, keysPath + "/:id/revocar", models.OperatorRevoke, p.revokeKey},

		{get, webhooksPath, models.AnyUser, p.listWebhooks},
		{post, webhooksPath, models.AnyUserWrite, p.registerWebhook},
		{get, webhooksPath + "/:id", models.AnyUser, p.openWebhook},
		{post, webhooksPath + "/:id/probar", models.AnyUserWrite, p.testWebhook},
		{post, webhooksPath + "/:id/cambiar", models.AnyUserWrite, p.changeWebhook},
		{post, webhooksPath + "/:id/pausar", models.AnyUserWrite, p.pauseWebhook},
		{post, webhooksPath + "/:id/reanudar", models.AnyUserWrite, p.resumeWebhook},
		{post, webhooksPath + "/:id/rotar", models.AnyUserWrite, p.rotateSecret},
		{post, webhooksPath + "/:id/desactivar", models.AnyUserWrite, p.deactivateWebhook},
		{post, webhooksPath + "/:id/reenviar", models.AnyUserWrite, p.redeliverRange},

		{get, accountPath, models.OwnAccount, p.account},
		{post, accountPath, models.OwnAccount, p.changePassword},
		{get, SecondFactorPath, models.OwnAccount, p.showSecondFactor},
		{post, SecondFactorPath, models.OwnAccount, p.startSecondFactor},
		{get, confirmPath, models.OwnAccount, p.askForFirstCode},
		{post, confirmPath, models.OwnAccount, p.confirmSecondFactor},
		{post, SecondFactorPath + "/quitar", models.OwnAccount, p.removeSecondFactor},

		{get, "/panel/cobertura", models.OperatorRead, p.listCoverage},
		{post, "/panel/cobertura", models.OperatorWrite, p.addCoverage},
		{get, "/panel/cobertura.csv", models.OperatorRead, p.downloadCoverage},
		{get, "/panel/cobertura/carga", models.OperatorRead, p.newCoverageFile},
		{post, "/panel/cobertura/carga", models.OperatorWrite, p.uploadCoverageFile},
		{post, "/panel/cobertura/carga/aplicar", models.OperatorWrite, p.applyCoverageFile},
		{post, "/panel/cobertura/:id", models.OperatorWrite, p.changeCoverage},
		{post, "/panel/cobertura/:id/quitar", models.OperatorWrite, p.removeCoverage},

		{get, "/panel/ajustes", models.OperatorRead, p.showSettings},
		{post, "/panel/ajustes", models.OperatorWrite, p.changeSettings},
		{get, rulesPath, models.OperatorRead, p.showRules},
		{post, rulesPath, models.OperatorWrite, p.changeRules},
		{post, logoPath, models.OperatorWrite, p.uploadLogo},
		{post, logoPath + "/quitar", models.OperatorWrite, p.removeLogo},

		{post, ridersPath + "/:id/enlace", models.OperatorWrite, p.linkRiderPhone},
		{post, ridersPath + "/:id/quitar-acceso", models.OperatorRevoke, p.revokeRiderPhone},

		{post, "/panel/usuarios/:id/contrasena", models.AdminRevoke, p.resetPassword},
		{post, "/panel/usuarios/:id/enlace", models.AdminRevoke, p.startPasswordReset},
		{post, "/panel/usuarios/:id/segundo-factor", models.AdminRevoke, p.resetSecondFactor},

		{get, privacyPath, models.AdminRead, p.showPrivacy},
		{post, privacyPath, models.AdminWrite, p.eraseByPhone},
		{post, "/panel/pedidos/:id/eliminar-datos", models.AdminWrite, p.eraseOrder},

		{get, auditPath, models.AdminRead, p.showAudit},
		{get, auditPath + ".csv", models.AdminRead, p.downloadAudit},
	}
	for _, kind := range cash.AdjustmentKinds {
		routes = append(routes, Route{post, adjustmentPath + "/" + string(kind), models.OperatorWrite, p.adjustCash(kind)})
	}
	for _, move := range slices.Concat(bulkMoves, streetMoves) {
		routes = append(routes, move.routes(p)...)
	}
	return slices.Concat(routes,
		p.stores().routes(models.OperatorRead, models.OperatorWrite),
		p.riders().routes(models.OperatorRead, models.OperatorWrite),
		p.branches().routes(models.OperatorRead, models.OperatorWrite),
		p.sizes().routes(models.OperatorRead, models.OperatorWrite),
		p.riskZones().routes(models.OperatorRead, models.OperatorWrite), p.users().routes(models.AdminRead, models.AdminWrite),
	)
}

func (p *Pages) enter(v *Request) error {
	v.Redirect(http.StatusSeeOther, home)
	return nil
}
