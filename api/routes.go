package api

import (
	"github.com/gin-gonic/gin"

	"despacho/models"
)

// routes is the map of the service: every path, who may call it, and what answers.
func (s *Server) routes() {
	r := s.router
	r.NoRoute(s.handle(s.unknownRoute))
	r.NoMethod(s.handle(s.unknownMethod))

	r.GET("/healthz", s.handle(s.alive))
	r.GET("/readyz", s.handle(s.ready))
	r.GET("/files/:name", s.handle(s.servePhoto))
	r.GET("/openapi.yaml", s.handle(s.serveOpenAPI))
	r.GET("/docs", s.handle(s.serveReference))

	r.GET("/", s.page(s.askForCode))
	r.GET("/track", s.page(s.takeCode))
	r.GET("/track/:guide_code", s.page(s.showPackage))

	public := r.Group("/public")
	public.GET("/countries", s.handle(s.listCountries))
	public.GET("/cities", s.handle(s.listCities))
	public.GET("/locations", s.handle(s.searchLocations))
	public.GET("/locations/tree", s.handle(s.locationTree))
	public.GET("/locations/ubigeo", s.handle(s.locationsByUbigeo))
	public.GET("/locations/:id/children", s.handle(s.locationChildren))

	v1 := r.Group("/v1")
	v1.GET("/track/:guide_code", s.handle(s.track))
	v1.POST("/orders", s.withKey(models.ScopeWriteOrders, s.createOrder))
	v1.GET("/orders", s.withKey(models.ScopeReadOrders, s.listOrders))
	v1.GET("/orders/:id", s.withKey(models.ScopeReadOrders, s.readOrder))
	v1.PATCH("/orders/:id/cancel", s.withKey(models.ScopeWriteOrders, s.cancelOrder))
	v1.GET("/stores", s.withKey(models.ScopeReadStores, s.listStores))
	v1.GET("/webhooks", s.withKey(models.ScopeManageWebhooks, s.listWebhooks))
	v1.POST("/webhooks", s.withKey(models.ScopeManageWebhooks, s.registerWebhook))
	v1.DELETE("/webhooks/:id", s.withKey(models.ScopeManageWebhooks, s.deactivateWebhook))
	v1.POST("/webhooks/:id/rotate", s.withKey(models.ScopeManageWebhooks, s.rotateSecret))
	v1.POST("/webhooks/:id/test", s.withKey(models.ScopeManageWebhooks, s.testWebhook))
	v1.POST("/webhooks/:id/redeliver", s.withKey(models.ScopeManageWebhooks, s.redeliverRange))
	v1.GET("/deliveries", s.withKey(models.ScopeManageWebhooks, s.listDeliveries))
	v1.POST("/deliveries/:id/redeliver", s.withKey(models.ScopeManageWebhooks, s.redeliver))

	panel := r.Group("/panel/api")
	panel.POST("/session", s.handle(s.signIn))
	panel.GET("/session", s.withUser(anyone, s.currentSession))
	panel.DELETE("/session", s.withUser(anyone, s.signOut))
	panel.POST("/session/password", s.withUser(anyoneWriting, s.changePassword))
	panel.GET("/orders", s.withUser(anyone, s.panelListOrders))
	panel.POST("/orders", s.withUser(anyoneWriting, s.panelCreateOrder))
	panel.GET("/orders/:id", s.withUser(anyone, s.panelReadOrder))
	panel.POST("/orders/:id/receive", s.withUser(operatorWriting, s.receiveOrder))
	panel.POST("/orders/:id/assign", s.withUser(operatorWriting, s.assignOrder))
	panel.POST("/orders/:id/deliver", s.withUser(operatorWriting, s.deliverOrder))
	panel.POST("/orders/:id/cancel", s.withUser(anyoneWriting, s.panelCancelOrder))
	panel.PATCH("/orders/:id/point", s.withUser(operatorWriting, s.setPoint))
	panel.GET("/webhooks", s.withUser(anyone, s.panelListWebhooks))
	panel.POST("/webhooks", s.withUser(anyoneWriting, s.registerWebhook))
	panel.DELETE("/webhooks/:id", s.withUser(anyoneWriting, s.deactivateWebhook))
	panel.POST("/webhooks/:id/rotate", s.withUser(anyoneWriting, s.rotateSecret))
	panel.POST("/webhooks/:id/test", s.withUser(anyoneWriting, s.testWebhook))
	panel.POST("/webhooks/:id/redeliver", s.withUser(anyoneWriting, s.redeliverRange))
	panel.GET("/deliveries", s.withUser(anyone, s.listDeliveries))
	panel.POST("/deliveries/:id/redeliver", s.withUser(anyoneWriting, s.redeliver))
	panel.GET("/keys", s.withUser(operatorOnly, s.listKeys))
	panel.POST("/keys", s.withUser(operatorWriting, s.createKey))
	panel.DELETE("/keys/:id", s.withUser(operatorWriting, s.revokeKey))
	panel.GET("/stores", s.withUser(operatorOnly, s.panelListStores))
	panel.POST("/stores", s.withUser(operatorWriting, s.createStore))
	panel.PATCH("/stores/:id", s.withUser(operatorWriting, s.changeStore))
	panel.GET("/riders", s.withUser(operatorOnly, s.listRiders))
	panel.POST("/riders", s.withUser(operatorWriting, s.createRider))
	panel.PATCH("/riders/:id", s.withUser(operatorWriting, s.changeRider))
	panel.GET("/branches", s.withUser(operatorOnly, s.listBranches))
	panel.POST("/branches", s.withUser(operatorWriting, s.createBranch))
	panel.PATCH("/branches/:id", s.withUser(operatorWriting, s.changeBranch))
	panel.GET("/sizes", s.withUser(operatorOnly, s.listSizes))
	panel.POST("/sizes", s.withUser(operatorWriting, s.createSize))
	panel.PATCH("/sizes/:id", s.withUser(operatorWriting, s.changeSize))
	panel.GET("/coverage", s.withUser(operatorOnly, s.listCoverage))
	panel.POST("/coverage", s.withUser(operatorWriting, s.createCoverage))
	panel.PATCH("/coverage/:id", s.withUser(operatorWriting, s.changeCoverage))
	panel.DELETE("/coverage/:id", s.withUser(operatorWriting, s.deleteCoverage))
	panel.GET("/risk-zones", s.withUser(operatorOnly, s.listRiskZones))
	panel.POST("/risk-zones", s.withUser(operatorWriting, s.createRiskZone))
	panel.PATCH("/risk-zones/:id", s.withUser(operatorWriting, s.changeRiskZone))
	panel.GET("/settings", s.withUser(operatorOnly, s.readSettings))
	panel.PATCH("/settings", s.withUser(operatorWriting, s.changeSettings))
	panel.GET("/users", s.withUser(adminOnly, s.listUsers))
	panel.POST("/users", s.withUser(adminWriting, s.createUser))
	panel.PATCH("/users/:id", s.withUser(adminWriting, s.changeUser))
	panel.POST("/users/:id/password", s.withUser(adminWriting, s.resetPassword))
}

// handler answers a request or says what is wrong with it.
type handler func(c *gin.Context) error

// handle is the one place where a handler's error becomes a response.
func (s *Server) handle(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			s.fail(c, err)
		}
	}
}
