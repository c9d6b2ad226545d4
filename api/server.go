// Package api serves HTTP: the versioned API, the public catalog, the tracking page, and the panel
// with its JSON API.
package api

import (
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"go.temporal.io/sdk/client"

	"despacho/internal/cash"
	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/internal/events"
	"despacho/internal/operators"
	"despacho/internal/orders"
	"despacho/internal/panel"
	"despacho/internal/photos"
	"despacho/internal/photourl"
	"despacho/internal/riderpage"
	"despacho/internal/riders"
	"despacho/internal/signing"
	"despacho/internal/web"
	"despacho/internal/webhooks"
)

// Server handles HTTP requests.
type Server struct {
	config   *config.Config
	db       *db.DB
	catalog  *db.CatalogCache
	orders   *orders.Service
	webhooks *webhooks.Service
	events   *events.Service
	// operators manages what the operators configure themselves.
	operators *operators.Service
	// riders manages the phones of riders.
	riders    *riders.Service
	cash      *cash.Service
	temporal  client.Client
	namespace string
	clock     clock.Clock
	log       *slog.Logger
	photos    photos.Store
	photoURLs *photourl.Signer
	// reference is rendered on first use.
	reference func() (map[string]*document, error)
	pages     *web.Pages
	panel     *panel.Pages
	riderPage *riderpage.Page
	router    *gin.Engine
	signer    *signing.Signer
	// uploads are the requests with large bodies, waits those that wait for events.
	uploads, waits *shares
	// streams are the streams of changes, userStreams those of each user.
	streams     *shares
	userStreams *counts[uuid.UUID]
	// bodyLimits are the routes, as "METHOD path", whose bodies have a limit of their own.
	bodyLimits map[string]bodyLimit
	// clients are the requests of each client behind trustedProxies.
	clients        *counts[netip.Prefix]
	trustedProxies []netip.Prefix
	// diskFullAt is when the database last had no space for a request, in microseconds.
	diskFullAt atomic.Int64
	// diskFullErrors counts how often that was.
	diskFullErrors atomic.Int64
	// photoErrors counts how often a photo could not be stored.
	photoErrors atomic.Int64
	// checks are what /readyz looks at.
	checks readinessChecks
	// temporalUI trusts the origin of the Temporal UI besides the service's own.
	temporalUI       *http.CrossOriginProtection
	temporalUIOrigin string
	// draining is set while the process shuts down.
	draining atomic.Bool
	// lastRequest is when the last request came while draining, in Unix nanoseconds.
	lastRequest atomic.Int64
}

// Options are the dependencies of a Server.
type Options struct {
	Config   *config.Config
	DB       *db.DB
	Catalog  *db.CatalogCache
	Orders   *orders.Service
	Webhooks *webhooks.Service
	Events   *events.Service
	// Secrets encrypts the second factors of panel users.
	Secrets *encryption.Cipher
	// Photos is where they are, and PhotoURLs checks their addresses.
	Photos    photos.Store
	PhotoURLs *photourl.Signer
	Temporal  client.Client
	// Namespace is the Temporal namespace of the orders' workflows.
	Namespace string
	Clock     clock.Clock
	Log       *slog.Logger
	// Middleware runs before everything else: metrics and traces.
	Middleware []gin.HandlerFunc
}

// New makes a server; Handler serves it.
func New(options Options) (*Server, error) {
	signer, err := signing.New(options.Config.SecretKey)
	if err != nil {
		return nil, err
	}
	passwords := credentials.NewPool()
	s := &Server{
		config: options.Config, db: options.DB, catalog: options.Catalog, orders: options.Orders,
		webhooks: options.Webhooks, events: options.Events, operators: operators.New(operators.Options{
			DB: options.DB, Clock: options.Clock, Secrets: options.Secrets, Signer: signer,
			UserLimit: options.Config.PanelUserLimit, OperatorLimit: options.Config.PanelOperatorLimit, Photos: options.Photos,
			Passwords: passwords,
		}),
		cash:     cash.New(options.DB, options.Clock),
		riders:   riders.New(riders.Options{DB: options.DB, Clock: options.Clock, Passwords: passwords}),
		temporal: options.Temporal, namespace: options.Namespace, clock: options.Clock, log: options.Log, photos: options.Photos,
		photoURLs: options.PhotoURLs, pages: web.New(options.Config.BaseURL, options.Config.FilesURL),
		uploads: newShares(maxUploads, maxStoreUploads), waits: newShares(maxWaits, maxStoreWaits),
		streams: newShares(maxStreams, maxStoreStreams), userStreams: newCounts[uuid.UUID](maxUserStreams),
		bodyLimits: bodyLimits(), clients: newCounts[netip.Prefix](options.Config.MaxConnectionsPerAddress),
		trustedProxies: options.Config.ProxyNets(), signer: signer,
	}
	s.checks = s.newReadinessChecks()
	if err := s.trustTemporalUI(); err != nil {
		return nil, err
	}
	s.riderPage = riderpage.New()
	s.reference = sync.OnceValues(func() (map[string]*document, error) { return newReference(options.Config.BaseURL) })
	s.panel = panel.New(panel.Options{
		Config: s.config, DB: s.db, Catalog: s.catalog, Orders: s.orders, Webhooks: s.webhooks, Operators: s.operators, Riders: s.riders,
		Cash:              s.cash,
		TemporalNamespace: options.Namespace, Clock: s.clock, Log: s.log, LimitPasswordAttempts: s.limitPasswordAttempts,
		Signer:  signer,
		Secrets: options.Secrets, Stream: s.streamPage,
	})
	gin.SetMode(gin.ReleaseMode)
	s.router = gin.New()
	s.router.HandleMethodNotAllowed = true
	s.router.RedirectTrailingSlash = false
	// An encoded slash belongs to the value: a guide code with one is malformed, not another route.
	s.router.UseRawPath = true
	// Only X-Forwarded-For is read, from right to left up to the first address that is not a trusted
	// proxy. Gin's other default, X-Real-IP, would be believed where that header cannot be parsed.
	s.router.RemoteIPHeaders = []string{"X-Forwarded-For"}
	if err := s.router.SetTrustedProxies(options.Config.TrustedProxies); err != nil {
		return nil, err
	}
	s.router.Use(options.Middleware...)
	s.router.Use(s.identifyRequest, s.closeWhenDraining, s.limitRequest, s.recoverPanic)
	s.routes()
	return s, nil
}

// Handler returns the service as an http.Handler. A HEAD is handled as a GET is: net/http leaves
// the body of its response out, by the method of the request that it has read itself.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			r = r.WithContext(r.Context())
			r.Method = http.MethodGet
		}
		s.router.ServeHTTP(w, r)
	})
}

// Routes lists every route. A test compares them with openapi.yaml.
func (s *Server) Routes() gin.RoutesInfo { return s.router.Routes() }

// Middleware drops the nil handlers, those that are switched off.
func Middleware(handlers ...gin.HandlerFunc) []gin.HandlerFunc {
	return slices.DeleteFunc(handlers, func(h gin.HandlerFunc) bool { return h == nil })
}

// maxHeaders bounds the request line and the headers together; net/http allows some 4 KiB more.
const maxHeaders = 32 << 10

// HTTPServer returns a server with limits against slow clients and large headers. connection is how
// long a request may take from its first byte to the last of its response. It is longer than any
// request is worked on: net/http takes a client whose time is over for gone.
func HTTPServer(handler http.Handler, connection time.Duration) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       connection,
		WriteTimeout:      connection,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaders,
		ConnContext:       connContext,
		// The handler answers OPTIONS *, too, with the envelope.
		DisableGeneralOptionsHandler: true,
	}
}
