package api

import (
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/api/docs"
	"despacho/internal/operators"
	"despacho/internal/orders"
	"despacho/internal/panel"
	"despacho/internal/photourl"
	"despacho/internal/riderpage"
	"despacho/internal/riders"
	"despacho/models"
)

// routes registers every path with who may call it and its handler.
func (s *Server) routes() {
	r := s.router
	r.NoRoute(s.noRoute)
	r.NoMethod(s.noMethod)

	r.GET("/healthz", s.handle(s.healthz))
	r.GET("/readyz", s.handle(s.readyz))
	r.GET("/files/:name", s.photo(s.servePhoto))
	r.GET(photourl.LogoPath+"/:name", s.handle(s.serveLogo))
	r.GET("/openapi.yaml", s.handle(s.serveOpenAPI))
	r.GET(docs.Root, s.handle(s.serveReference))
	r.GET(docs.Root+"/", s.handle(s.redirectToReference))
	r.GET(docs.Root+"/:page", s.handle(s.serveReference))

	r.GET("/", s.page(s.showTrackingForm))
	for _, end := range []string{"", "/"} { // some programs append a slash to an address
		r.GET("/track"+end, s.page(s.redirectToPackage))
		r.GET("/track/:guide_code"+end, s.page(s.showPackage))
	}
	r.GET(orders.RecipientPath(":guide_code"), s.page(s.showHelp))
	r.POST(orders.RecipientPath(":guide_code"), s.page(s.takeHelp))

	for _, end := range []string{"", "/"} {
		r.GET(riderpage.Root+end, s.page(s.showRiderPage))
	}
	r.GET(riderpage.WorkerPath, s.handle(s.serveRiderWorker))
	r.GET(riderpage.ManifestPath, s.handle(s.serveRiderManifest))
	r.GET(riderpage.Root+"/assets/:version/:name", s.handle(s.serveRiderAsset))

	r.GET("/panel/", s.panelPage(s.redirectToPanel))
	r.GET("/panel/ingreso", s.panelPage(s.showSignIn))
	r.POST("/panel/ingreso", s.panelPage(s.signInFromPage))
	r.POST("/panel/ingreso/codigo", s.panelPage(s.signInWithCode))
	r.POST("/panel/salir", s.panelPage(s.signOutFromPage))
	r.GET(operators.PasswordResetPath, s.panelPage(s.showPasswordReset))
	r.POST(operators.PasswordResetPath, s.panelPage(s.resetPasswordFromPage))
	r.GET(panel.ChangesPath, s.handle(s.streamChanges))
	r.GET("/panel/assets/:name", s.handle(s.servePanelAsset))
	r.POST("/panel/codec/decode", s.codec(s.decodePayloads))
	r.POST("/panel/codec/encode", s.codec(s.encodePayloads))
	r.OPTIONS("/panel/codec/decode", s.handle(s.codecPreflight))
	r.OPTIONS("/panel/codec/encode", s.handle(s.codecPreflight))
	for _, route := range s.panel.Routes() {
		r.Handle(route.Method, route.Path, s.panelPage(s.panelRoute(route)))
	}

	public := r.Group("/public")
	public.GET("/countries", s.handle(s.listCountries))
	public.GET("/cities", s.handle(s.listCities))
	public.GET("/locations", s.handle(s.searchLocations))
	public.GET("/locations/tree", s.handle(s.locationTree))
	public.GET("/locations/ubigeo", s.handle(s.locationsByUbigeo))
	public.GET("/locations/:id/children", s.handle(s.locationChildren))

	v1 := r.Group("/v1")
	v1.GET("/track/:guide_code", s.handle(s.track))
	v1.POST("/orders", s.withKey(models.ScopeWriteOrders, s.createOrder("/v1/orders/")))
	v1.GET("/orders", s.withKey(models.ScopeReadOrders, s.listOrders))
	v1.GET("/orders/:id", s.withKeyAndOrder(models.ScopeReadOrders, s.readOrder))
	v1.PATCH("/orders/:id", s.withKey(models.ScopeWriteOrders, s.correctOrder))
	v1.PATCH("/orders/:id/cancel", s.withKeyAndOrder(models.ScopeWriteOrders, s.cancelOrder))
	v1.POST("/orders/:id/decision", s.withKey(models.ScopeWriteOrders, s.decideOrder))
	v1.GET("/events", s.withKey(models.ScopeReadOrders, s.listEvents))
	v1.GET("/stores", s.withKey(models.ScopeReadStores, s.listStores))
	v1.GET("/settlements", s.withKey(models.ScopeReadSettlements, s.listSettlements))
	v1.GET("/settlements/:id", s.withKey(models.ScopeReadSettlements, s.readSettlement))
	v1.GET("/balance", s.withKey(models.ScopeReadSettlements, s.readBalance))
	v1.GET("/webhooks", s.withKey(models.ScopeManageWebhooks, s.listWebhooks))
	v1.POST("/webhooks", s.withKey(models.ScopeManageWebhooks, s.registerWebhook))
	v1.GET("/webhooks/:id", s.withKey(models.ScopeManageWebhooks, s.readWebhook))
	v1.PATCH("/webhooks/:id", s.withKey(models.ScopeManageWebhooks, s.changeWebhook))
	v1.DELETE("/webhooks/:id", s.withKey(models.ScopeManageWebhooks, s.deactivateWebhook))
	v1.GET("/webhooks/:id/health", s.withKey(models.ScopeManageWebhooks, s.webhookHealth))
	v1.POST("/webhooks/:id/rotate", s.withKey(models.ScopeManageWebhooks, s.rotateSecret))
	v1.POST("/webhooks/:id/test", s.withKey(models.ScopeManageWebhooks, s.testWebhook))
	v1.POST("/webhooks/:id/redeliver", s.withKey(models.ScopeManageWebhooks, s.redeliverRange))
	v1.GET("/deliveries", s.withKey(models.ScopeManageWebhooks, s.listDeliveries))
	v1.GET("/deliveries/:id", s.withKey(models.ScopeManageWebhooks, s.readDelivery))
	v1.POST("/deliveries/:id/redeliver", s.withKey(models.ScopeManageWebhooks, s.redeliver))

	v1.POST("/test/orders/:id/advance", s.withKey(models.ScopeWriteOrders, s.advanceTestOrder))

	rider := r.Group("/rider/api")
	rider.POST("/activate", s.handle(s.activatePhone))
	rider.POST("/session", s.withPhone(riders.Needs{}, s.unlockPhone))
	rider.GET("/session", s.withRider(false, s.currentRiderSession))
	rider.GET("/day", s.withRider(false, s.readRiderDay))
	rider.POST("/load", s.withRider(true, s.confirmLoad))
	rider.POST("/acts", s.withRider(true, s.makeAct))
	rider.DELETE("/session", s.withPhone(riders.Needs{}, s.lockPhone))

	panelAPI := r.Group("/panel/api")
	panelAPI.POST("/session", s.handle(s.signIn))
	panelAPI.GET("/session", s.withUser(models.OwnAccount, s.currentSession))
	panelAPI.DELETE("/session", s.withUser(models.OwnAccount, s.signOut))
	panelAPI.POST("/session/password", s.withUser(models.OwnAccount, s.changePassword))
	panelAPI.POST("/session/reset", s.handle(s.finishPasswordReset))
	panelAPI.POST("/session/second-factor", s.withUser(models.OwnAccount, s.startSecondFactor))
	panelAPI.POST("/session/second-factor/confirm", s.withUser(models.OwnAccount, s.confirmSecondFactor))
	panelAPI.POST("/session/second-factor/remove", s.withUser(models.OwnAccount, s.removeSecondFactor))
	panelAPI.GET("/orders", s.withUser(models.AnyUser, s.panelListOrders))
	panelAPI.POST("/orders", s.withUser(models.NewOrderWrite, s.createOrder("/panel/api/orders/")))
	panelAPI.GET("/orders/:id", s.withUser(models.AnyUser, s.panelReadOrder))
	panelAPI.POST("/orders/:id/receive", s.withUserAndOrder(models.CounterWrite, s.receiveOrder))
	panelAPI.POST("/orders/:id/assign", s.withUserAndOrder(models.DispatchWrite, s.assignOrder))
	panelAPI.POST("/orders/:id/deliver", s.withUser(models.DispatchWrite, s.deliverOrder))
	panelAPI.POST("/orders/:id/attempt", s.withUser(models.DispatchWrite, s.failOrder))
	panelAPI.POST("/orders/:id/decision", s.withUser(models.OrderWrite, s.decideOrder))
	panelAPI.POST("/orders/:id/hand-back", s.withUserAndOrder(models.CounterWrite, s.handBackOrder))
	panelAPI.POST("/orders/:id/undo", s.withUserAndOrder(models.DispatchWrite, s.undoOrder))
	panelAPI.POST("/orders/:id/cancel", s.withUserAndOrder(models.OrderWrite, s.panelCancelOrder))
	panelAPI.PATCH("/orders/:id", s.withUser(models.OrderWrite, s.correctOrder))
	panelAPI.POST("/orders/:id/delivery-correction", s.withUser(models.CashWrite, s.correctDelivery))
	panelAPI.PATCH("/orders/:id/point", s.withUser(models.DispatchWrite, s.setPoint))
	panelAPI.POST("/orders/:id/erase", s.withUser(models.AdminWrite, s.eraseOrder))
	panelAPI.POST("/erasures", s.withUser(models.AdminWrite, s.eraseByPhone))
	panelAPI.GET("/webhooks", s.withUser(models.WebhookRead, s.panelListWebhooks))
	panelAPI.POST("/webhooks", s.withUser(models.WebhookWrite, s.registerWebhook))
	panelAPI.PATCH("/webhooks/:id", s.withUser(models.WebhookWrite, s.changeWebhook))
	panelAPI.DELETE("/webhooks/:id", s.withUser(models.WebhookWrite, s.deactivateWebhook))
	panelAPI.GET("/webhooks/:id/health", s.withUser(models.WebhookRead, s.webhookHealth))
	panelAPI.POST("/webhooks/:id/rotate", s.withUser(models.WebhookWrite, s.rotateSecret))
	panelAPI.POST("/webhooks/:id/test", s.withUser(models.WebhookWrite, s.testWebhook))
	panelAPI.POST("/webhooks/:id/redeliver", s.withUser(models.WebhookWrite, s.redeliverRange))
	panelAPI.GET("/deliveries", s.withUser(models.WebhookRead, s.listDeliveries))
	panelAPI.GET("/deliveries/:id", s.withUser(models.WebhookRead, s.readDelivery))
	panelAPI.POST("/deliveries/:id/redeliver", s.withUser(models.WebhookWrite, s.redeliver))
	panelAPI.GET("/keys", s.withUser(models.SettingsRead, s.listKeys))
	panelAPI.POST("/keys", s.withUser(models.SettingsWrite, s.createKey))
	panelAPI.DELETE("/keys/:id", s.withUser(models.SettingsRevoke, s.revokeKey))
	resourceRoutes(s, panelAPI, "/stores", s.operators.Stores(), each(viewOfStore))
	resourceRoutes(s, panelAPI, "/riders", s.operators.Riders(), s.viewRiders)
	panelAPI.POST("/riders/:id/link", s.withUser(models.DispatchWrite, s.linkRider))
	panelAPI.DELETE("/riders/:id/device", s.withUser(models.DispatchRevoke, s.revokeRiderDevice))
	resourceRoutes(s, panelAPI, "/branches", s.operators.Branches(), each(viewOfBranch))
	resourceRoutes(s, panelAPI, "/sizes", s.operators.Sizes(), each(viewOfSize))
	resourceRoutes(s, panelAPI, "/coverage", s.operators.Coverage(), s.viewCoverage)
	panelAPI.DELETE("/coverage/:id", s.withUser(models.SettingsWrite, s.deleteCoverage))
	resourceRoutes(s, panelAPI, "/store-prices", s.operators.StorePrices(), each(viewOfStorePrice))
	panelAPI.DELETE("/store-prices/:id", s.withUser(models.SettingsWrite, s.deleteStorePrice))
	resourceRoutes(s, panelAPI, "/risk-zones", s.operators.RiskZones(), each(viewOfRiskZone))
	panelAPI.GET("/settings", s.withUser(models.OperatorRead, s.readSettings))
	panelAPI.PATCH("/settings", s.withUser(models.SettingsWrite, s.changeSettings))
	panelAPI.POST("/settings/logo", s.withUser(models.SettingsWrite, s.uploadLogo))
	panelAPI.DELETE("/settings/logo", s.withUser(models.SettingsWrite, s.removeLogo))
	panelAPI.GET("/users", s.withUser(models.AdminRead, s.listUsers))
	panelAPI.POST("/users", s.withUser(models.AdminWrite, s.createUser))
	panelAPI.PATCH("/users/:id", s.withUser(models.AdminWrite, s.changeUser))
	panelAPI.POST("/users/:id/password", s.withUser(models.AdminRevoke, s.resetPassword))
	panelAPI.POST("/users/:id/reset", s.withUser(models.AdminRevoke, s.startPasswordReset))
	panelAPI.DELETE("/users/:id/second-factor", s.withUser(models.AdminRevoke, s.resetSecondFactor))
	panelAPI.GET("/audit", s.withUser(models.AdminRead, s.listAudit))
}

// handler writes a response, or returns an error that handle renders.
type handler func(c *gin.Context) error

// run calls a handler, unless the request was refused before. The route renders that error as any
// other: as JSON, or as a page for people.
func run(c *gin.Context, h handler) error {
	if refused, ok := c.Get(refusedKey); ok {
		return refused.(error)
	}
	return h(c)
}

// handle is the only place where a handler's error becomes a JSON response.
func (s *Server) handle(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := run(c, h); err != nil {
			s.fail(c, err)
		}
	}
}

// orderHandler is a handler of a request about one order.
type orderHandler func(c *gin.Context, order *models.OrderView) error

// handleOrder handles a request about the order of its path. admit checks who makes the request,
// before the path is judged, and returns the order if there is one that the requester may see.
func (s *Server) handleOrder(
	admit func(c *gin.Context, id uuid.UUID) (*models.OrderView, error), h orderHandler,
) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		id, idErr := pathID(c, orders.ErrOrderNotFound)
		order, err := admit(c, id)
		switch {
		case err != nil:
			return err
		case idErr != nil:
			return idErr
		case order == nil:
			return orders.ErrOrderNotFound
		}
		return h(c, order)
	})
}
