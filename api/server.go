// Package api is the HTTP edge: the versioned API, the public catalog, tracking with its page, and
// the panel's JSON API.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"go.temporal.io/sdk/client"

	"despacho/db"
	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/photos"
	"despacho/operators"
	"despacho/orders"
	"despacho/web"
	"despacho/web/panel"
	"despacho/webhooks"
)

// Server answers HTTP requests.
type Server struct {
	config   *config.Config
	db       *db.DB
	catalog  *db.CatalogCache
	orders   *orders.Service
	webhooks *webhooks.Service
	// operators is what the operators' own people set up.
	operators *operators.Service
	temporal  client.Client
	clock     clock.Clock
	log       *slog.Logger
	files     photos.Store
	// reference is rendered when it is first asked for.
	reference func() (*reference, error)
	pages     *web.Pages
	panel     *panel.Pages
	router    *gin.Engine
	// inFlight are held by the requests that are being worked on.
	inFlight chan struct{}
	// draining says that the process is about to stop.
	draining atomic.Bool
}

// Options are what a server is made of.
type Options struct {
	Config   *config.Config
	DB       *db.DB
	Catalog  *db.CatalogCache
	Orders   *orders.Service
	Webhooks *webhooks.Service
	Temporal client.Client
	// Namespace is where Temporal keeps the orders' workflows.
	Namespace string
	Clock     clock.Clock
	Log       *slog.Logger
	// Middleware runs before everything else: metrics and traces.
	Middleware []gin.HandlerFunc
}

// New makes a server; Handler serves it.
func New(options Options) (*Server, error) {
	files := photos.Store{Dir: options.Config.FilesDir}
	if err := files.Prepare(); err != nil {
		return nil, err
	}
	s := &Server{
		config: options.Config, db: options.DB, catalog: options.Catalog, orders: options.Orders,
		webhooks: options.Webhooks, operators: operators.New(options.DB, options.Clock),
		temporal: options.Temporal, clock: options.Clock, log: options.Log, files: files, pages: web.New(),
		inFlight: make(chan struct{}, options.Config.MaxRequests),
	}
	s.reference = sync.OnceValues(func() (*reference, error) { return newReference(options.Config.BaseURL) })
	s.panel = panel.New(panel.Options{
		Config: s.config, DB: s.db, Catalog: s.catalog, Orders: s.orders, Webhooks: s.webhooks, Operators: s.operators,
		TemporalNamespace: options.Namespace, Clock: s.clock, Log: s.log, LimitGuesses: s.limitGuesses,
	})
	gin.SetMode(gin.ReleaseMode)
	s.router = gin.New()
	s.router.HandleMethodNotAllowed = true
	s.router.RedirectTrailingSlash = false
	// A slash that came encoded belongs to the value: a guide code with one is malformed, not
	// another route.
	s.router.UseRawPath = true
	if err := s.router.SetTrustedProxies(options.Config.TrustedProxies); err != nil {
		return nil, err
	}
	s.router.Use(options.Middleware...)
	s.router.Use(s.identifyRequest, s.closeWhenDraining, s.limitLoad, s.recoverPanic)
	s.routes()
	return s, nil
}

// Handler is the whole service as an http.Handler.
func (s *Server) Handler() http.Handler { return s.router }

// Routes lists every route, for the test that holds them against openapi.yaml.
func (s *Server) Routes() gin.RoutesInfo { return s.router.Routes() }

// Middleware drops what is switched off.
func Middleware(handlers ...gin.HandlerFunc) []gin.HandlerFunc {
	return slices.DeleteFunc(handlers, func(h gin.HandlerFunc) bool { return h == nil })
}

// HTTPServer is the server with the limits that slow or greedy clients run into.
func HTTPServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       60 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
	}
}

// temporalReachable asks Temporal whether it is there, without waiting long.
func (s *Server) temporalReachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeouts.Readiness/3)
	defer cancel()
	_, err := s.temporal.CheckHealth(ctx, &client.CheckHealthRequest{})
	return err
}
