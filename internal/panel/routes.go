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
		{post, "/panel/pedidos/:id/recibir", models.CounterWrite, p.receiveOrder},
		{post, "/panel/pedidos/:id/asignar", models.DispatchWrite, p.assignOrder},
		{post, "/panel/pedidos/:id/entregar", models.DispatchWrite, p.deliverOrder},
		{post, "/panel/pedidos/:id/no-entregado", models.DispatchWrite, p.failOrder},
		{post, "/panel/pedidos/:id/decidir", models.OrderWrite, p.decideOrder},
		{post, "/panel/pedidos/:id/devolver", models.CounterWrite, p.handBackOrder},
		{post, "/panel/pedidos/:id/deshacer", models.DispatchWrite, p.undoOrder},
		{post, "/panel/pedidos/:id/cancelar", models.OrderWrite, p.cancelOrder},
		{post, "/panel/pedidos/:id/punto", models.DispatchWrite, p.setPoint},
		{get, "/panel/pedidos/:id/corregir", models.OrderWrite, p.showCorrection},
		{post, "/panel/pedidos/:id/corregir", models.OrderWrite, p.correctOrder},
		{post, "/panel/pedidos/:id/corregir-entrega", models.CashWrite, p.correctDelivery},
		{get, "/panel/etiquetas", models.NewOrderRead, p.printLabels},
		{post, "/panel/envios/:id/reenviar", models.WebhookWrite, p.redeliver},
		{get, "/panel/recepcion", models.CounterRead, p.showReception},
		{post, "/panel/recepcion", models.CounterWrite, p.receive},
		{get, returnsPath, models.CounterRead, p.showReturns},
		{post, returnsPath, models.CounterWrite, p.handBackMany},
		{get, returnReceiptPath, models.CounterRead, p.printReturnReceipt},
		{get, "/panel/asignacion", models.DispatchRead, p.showAssignment},
		{get, assignmentFilePath, models.DispatchRead, p.downloadAssignment},
		{post, "/panel/asignacion", models.DispatchWrite, p.assign},
		{get, routeSheetPath, models.DispatchRead, p.showRouteSheet},
		{get, "/panel/pedidos/nuevo", models.NewOrderRead, p.newOrder},
		{post, "/panel/pedidos/nuevo", models.NewOrderWrite, p.createOrder},
		{get, newOrderPricePath, models.NewOrderRead, p.priceNewOrder},
		{get, "/panel/carga", models.NewOrderRead, p.newUpload},
		{post, "/panel/carga", models.NewOrderWrite, p.previewUpload},
		{get, "/panel/carga/plantilla.csv", models.NewOrderRead, p.uploadTemplate},
		{get, uploadColumnsPath, models.NewOrderRead, p.showUploadColumns},
		{post, uploadColumnsPath, models.NewOrderWrite, p.saveUploadColumns},
		{get, "/panel/carga/revisar", models.NewOrderRead, p.uploadAgain},
		{post, "/panel/carga/revisar", models.NewOrderWrite, p.correctUpload},
		{get, "/panel/carga/crear", models.NewOrderRead, p.uploadAgain},
		{post, "/panel/carga/crear", models.NewOrderWrite, p.createUpload},
		{post, "/panel/carga/resumen", models.NewOrderRead, p.summarizeUpload},
		{post, "/panel/carga/resultado.csv", models.NewOrderRead, p.uploadResult},
		{post, "/panel/carga/errores.csv", models.NewOrderRead, p.uploadErrors},
		{get, "/panel/ubicaciones", models.AnyUser, p.suggestPlaces},
		{get, summaryPath, models.AnyUser, p.showSummary},
		{get, "/panel/destinos", models.AnyUser, p.suggestDestinations},

		{get, cashPath, models.CashRead, p.showCash},
		{get, handInPath, models.CashRead, p.showHandInForm},
		{post, handInPath, models.CashWrite, p.handIn},
		{get, handInsPath + "/:id", models.CashRead, p.showHandIn},
		{get, settlementsPath, models.SettlementRead, p.listSettlements},
		{get, draftPath, models.CashRead, p.showDraft},
		{post, draftPath, models.CashWrite, p.issueSettlement},
		{get, settlementsPath + "/:id", models.SettlementRead, p.showSettlement},
		{get, settlementsPath + "/:id/pedidos.csv", models.SettlementRead, p.downloadSettlement},
		{post, settlementsPath + "/:id/pagar", models.CashWrite, p.paySettlement},

		{get, keysPath, models.SettingsRead, p.listKeys},
		{post, keysPath, models.SettingsWrite, p.createKey},
		{post, keysPath + "/:id/revocar", models.SettingsRevoke, p.revokeKey},

		{get, webhooksPath, models.WebhookRead, p.listWebhooks},
		{post, webhooksPath, models.WebhookWrite, p.registerWebhook},
		{get, webhooksPath + "/:id", models.WebhookRead, p.openWebhook},
		{post, webhooksPath + "/:id/probar", models.WebhookWrite, p.testWebhook},
		{post, webhooksPath + "/:id/cambiar", models.WebhookWrite, p.changeWebhook},
		{post, webhooksPath + "/:id/pausar", models.WebhookWrite, p.pauseWebhook},
		{post, webhooksPath + "/:id/reanudar", models.WebhookWrite, p.resumeWebhook},
		{post, webhooksPath + "/:id/rotar", models.WebhookWrite, p.rotateSecret},
		{post, webhooksPath + "/:id/desactivar", models.WebhookWrite, p.deactivateWebhook},
		{post, webhooksPath + "/:id/reenviar", models.WebhookWrite, p.redeliverRange},

		{get, accountPath, models.OwnAccount, p.account},
		{post, accountPath, models.OwnAccount, p.changePassword},
		{get, SecondFactorPath, models.OwnAccount, p.showSecondFactor},
		{post, SecondFactorPath, models.OwnAccount, p.startSecondFactor},
		{get, confirmPath, models.OwnAccount, p.askForFirstCode},
		{post, confirmPath, models.OwnAccount, p.confirmSecondFactor},
		{post, SecondFactorPath + "/quitar", models.OwnAccount, p.removeSecondFactor},

		{get, "/panel/cobertura", models.SettingsRead, p.listCoverage},
		{post, "/panel/cobertura", models.SettingsWrite, p.addCoverage},
		{get, "/panel/cobertura.csv", models.SettingsRead, p.downloadCoverage},
		{get, "/panel/cobertura/carga", models.SettingsRead, p.newCoverageFile},
		{post, "/panel/cobertura/carga", models.SettingsWrite, p.uploadCoverageFile},
		{post, "/panel/cobertura/carga/aplicar", models.SettingsWrite, p.applyCoverageFile},
		{post, "/panel/cobertura/:id", models.SettingsWrite, p.changeCoverage},
		{post, "/panel/cobertura/:id/quitar", models.SettingsWrite, p.removeCoverage},

		{get, storesPath + "/:id/tarifas", models.SettingsRead, p.showStorePrices},
		{post, storesPath + "/:id/tarifas", models.SettingsWrite, p.addStorePrice},
		{get, storePricesPath + "/:id", models.SettingsRead, p.editStorePrice},
		{post, storePricesPath + "/:id", models.SettingsWrite, p.changeStorePrice},
		{post, storePricesPath + "/:id/quitar", models.SettingsWrite, p.removeStorePrice},

		{get, "/panel/ajustes", models.SettingsRead, p.showSettings},
		{post, "/panel/ajustes", models.SettingsWrite, p.changeSettings},
		{get, rulesPath, models.SettingsRead, p.showRules},
		{post, rulesPath, models.SettingsWrite, p.changeRules},
		{post, logoPath, models.SettingsWrite, p.uploadLogo},
		{post, logoPath + "/quitar", models.SettingsWrite, p.removeLogo},

		{post, ridersPath + "/:id/enlace", models.DispatchWrite, p.linkRiderPhone},
		{post, ridersPath + "/:id/quitar-acceso", models.DispatchRevoke, p.revokeRiderPhone},

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
		routes = append(routes, Route{post, adjustmentPath + "/" + string(kind), models.CashWrite, p.adjustCash(kind)})
	}
	for _, move := range slices.Concat(bulkMoves, streetMoves) {
		routes = append(routes, move.routes(p)...)
	}
	return slices.Concat(routes,
		p.stores().routes(), p.riders().routes(), p.branches().routes(), p.sizes().routes(), p.riskZones().routes(), p.users().routes(),
	)
}

func (p *Pages) enter(v *Request) error {
	v.Redirect(http.StatusSeeOther, home)
	return nil
}
