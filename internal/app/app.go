// Package app opens the connections of the service and wires its packages together, for the command
// and for tests.
package app

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/client"

	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/internal/events"
	"despacho/internal/historycodec"
	"despacho/internal/identity"
	"despacho/internal/maplink"
	"despacho/internal/orders"
	"despacho/internal/photos"
	"despacho/internal/photourl"
	"despacho/internal/safehttp"
	"despacho/internal/signing"
	"despacho/internal/telemetry"
	"despacho/internal/webhooks"
	"despacho/worker"
)

// App is the service with its open connections.
type App struct {
	Config   *config.Config
	DB       *db.DB
	Temporal client.Client
	Orders   *orders.Service
	Metrics  *telemetry.Metrics

	// tasks is the worker's client: it decodes as historycodec.Codec.ForTasks says.
	tasks     client.Client
	codec     *historycodec.Codec
	namespace string
	clock     clock.Clock
	log       *slog.Logger
	catalog   *db.CatalogCache
	secrets   *encryption.Cipher
	roots     *x509.CertPool
	webhooks  *webhooks.Service
	events    *events.Service
	identity  *identity.Verifier
	photoURLs *photourl.Signer
	signer    *signing.Signer
	photos    photos.Store

	mapLinks *maplink.Resolver
	resolver *net.Resolver
	buildID  string
	only     worker.Part
	// runsWorker means that this process has a worker, polling that the worker polls for tasks.
	runsWorker, polling atomic.Bool
	// reconcilePaused means that the worker has seen the reconcile schedule paused.
	reconcilePaused atomic.Bool
}

// Options name the version of the worker, and replace dependencies in tests.
type Options struct {
	// Clock defaults to the system clock.
	Clock clock.Clock
	// Temporal defaults to TEMPORAL_*.
	Temporal *client.Options
	// ShortLinkHosts are added to the known hosts of short map links.
	ShortLinkHosts []string
	// Resolver resolves the hosts of webhooks and map links; nil means the system's.
	Resolver *net.Resolver
	// WebhookCAFiles are PEM files trusted for webhooks besides WEBHOOK_CA_FILE.
	WebhookCAFiles []string
	// BuildID is the version of the worker's code; empty turns Worker Deployment Versioning off.
	BuildID string
	// WorkerOnly is the part that the worker serves; empty serves both.
	WorkerOnly worker.Part
	// SlowStatement is the duration from which a statement is logged; 0 means the default.
	SlowStatement time.Duration
}

// Open opens everything. The database must be reachable and migrated; Temporal may be down.
func Open(ctx context.Context, cfg *config.Config, log *slog.Logger, options Options) (*App, error) {
	if err := errors.Join(cfg.RequireDatabase(), cfg.RequireSecrets()); err != nil {
		return nil, err
	}
	a := &App{
		Config: cfg, log: log, clock: options.Clock, Metrics: telemetry.NewMetrics(),
		resolver: options.Resolver, buildID: options.BuildID, only: options.WorkerOnly,
	}
	if a.clock == nil {
		a.clock = clock.System()
	}
	temporalOptions := options.Temporal
	if temporalOptions == nil {
		fromEnvironment, err := config.TemporalOptions()
		if err != nil {
			return nil, err
		}
		temporalOptions = &fromEnvironment
	}
	if err := a.openKeys(); err != nil {
		return nil, err
	}
	if err := a.openFiles(options.WebhookCAFiles); err != nil {
		return nil, err
	}
	var err error
	if a.DB, err = db.Open(ctx, cfg.DatabaseURL, db.Options{
		AcquireTimeout: cfg.Timeouts.Acquire, ConnectTimeout: cfg.Timeouts.Connect, SlowStatement: options.SlowStatement,
		MaxConns: cfg.DatabaseMaxConns, Logger: log, AuditRetention: cfg.AuditRetention,
	}); err != nil {
		return nil, err
	}
	if err := a.connect(ctx, *temporalOptions); err != nil {
		a.Close()
		return nil, err
	}
	a.catalog = db.NewCatalogCache(a.DB)
	a.mapLinks = maplink.NewResolver(safehttp.NewClient(a.safeHTTPOptions()), cfg.Timeouts.Exchange, options.ShortLinkHosts...)
	a.openServices()
	return a, nil
}

// openKeys makes what depends on SECRET_KEY: the cipher, and the signer of addresses.
func (a *App) openKeys() (err error) {
	cfg := a.Config
	if a.secrets, err = encryption.New(cfg.SecretKey, cfg.SecretKeyOld...); err != nil {
		return fmt.Errorf("SECRET_KEY: %w", err)
	}
	if a.signer, err = signing.New(cfg.SecretKey, cfg.SecretKeyOld...); err != nil {
		return fmt.Errorf("SECRET_KEY: %w", err)
	}
	a.photoURLs = photourl.New(cfg.FilesURL, cfg.PhotoURLTTL, a.signer)
	return nil
}

// openFiles opens the place of the photos, and reads the certificate authorities of webhooks.
func (a *App) openFiles(webhookCAFiles []string) (err error) {
	cfg := a.Config
	if a.photos, err = photos.NewStore(cfg.PhotoOptions()); err != nil {
		return fmt.Errorf("PHOTOS and PHOTOS_FALLBACK: %w", err)
	}
	a.roots, err = webhookRoots(append(webhookCAFiles, cfg.WebhookCAFile))
	return err
}

// connect checks the open database, and makes the clients of Temporal and of the identity
// providers.
func (a *App) connect(ctx context.Context, temporalOptions client.Options) error {
	if err := a.DB.CheckVersion(ctx); err != nil {
		return err
	}
	if err := a.openCodec(); err != nil {
		return err
	}
	if err := a.connectTemporal(temporalOptions); err != nil {
		return err
	}
	if err := a.DB.Trace(); err != nil {
		return err
	}
	a.Metrics.WatchDatabase(a.DB.SQL())
	return a.openIdentity()
}

// openServices makes the services of orders, webhooks and events, and measures their backlogs.
func (a *App) openServices() {
	cfg := a.Config
	a.Orders = orders.New(a.DB, a.catalog, a.Temporal, a.clock, a.log, orders.Options{
		TaskQueue: cfg.TaskQueue, AutoCancelAfter: cfg.AutoCancelAfter, IdempotencyTTL: cfg.IdempotencyTTL,
		StartTimeout: cfg.Timeouts.Start, FinishStarts: cfg.Timeouts.FinishStarts, WorkflowTaskTimeout: cfg.Timeouts.WorkflowTask,
		MoveTimeout: cfg.Timeouts.Move, MoveDeadline: cfg.Timeouts.MoveDeadline, BulkMoveTimeout: cfg.Timeouts.BulkMove,
		KeyLease: cfg.Timeouts.KeyLease(), MapLinks: a.mapLinks, VerifiesIdentity: a.identity != nil,
		Photos: a.photos, PhotoQuarantine: cfg.PhotoQuarantine, PhotoURLs: a.photoURLs, Signer: a.signer, BaseURL: cfg.BaseURL,
		Secrets: a.secrets, HistoryCodec: a.codec, UpdateIDSecret: cfg.SecretKey,
		Namespace: a.namespace, PayloadRetention: cfg.PayloadRetention, PersonalDataRetention: cfg.PersonalDataRetention,
	})
	a.watchOrders()
	a.webhooks = &webhooks.Service{
		DB: a.DB, Secrets: a.secrets, Clock: a.clock,
		OutcomeTimeout: cfg.Timeouts.Outcome, Paused: cfg.WebhooksPaused, PhotoURLs: a.photoURLs, AllowNets: cfg.WebhookAllowNets,
	}
	a.events = events.New(a.DB, a.clock, a.photoURLs, a.log)
}

// Clock is the clock of everything in the app.
func (a *App) Clock() clock.Clock { return a.clock }

// openIdentity makes the verifier of DNI_PROVIDER, if it is set.
func (a *App) openIdentity() error {
	if len(a.Config.DNIProvider) == 0 {
		return nil
	}
	providers, err := identity.Configs(a.Config.DNIProvider, a.Config.DNIURL, a.Config.DNIToken)
	if err != nil {
		return err
	}
	a.identity, err = identity.New(providers, identity.Options{
		Logger: a.log, Timeout: a.Config.Timeouts.Exchange,
	})
	return err
}

// Close closes everything that is open.
func (a *App) Close() {
	if a.Orders != nil {
		a.Orders.Close()
	}
	for _, temporal := range []client.Client{a.tasks, a.Temporal} {
		if temporal != nil {
			temporal.Close()
		}
	}
	if err := a.DB.Close(); err != nil {
		a.log.Warn("database not closed cleanly", "error", err)
	}
}

// safeHTTPOptions are the options of the clients that connect to addresses given by users.
func (a *App) safeHTTPOptions() safehttp.Options {
	return safehttp.Options{
		AllowNets: a.Config.WebhookAllowNets, RootCAs: a.roots, Resolver: a.resolver, Timeout: a.Config.Timeouts.Exchange,
	}
}

// webhookRoots returns the system's certificate authorities and those of the files.
func webhookRoots(files []string) (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	for _, file := range files {
		if file == "" {
			continue
		}
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("WEBHOOK_CA_FILE: %w", err)
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("WEBHOOK_CA_FILE: %s holds no PEM certificate", file)
		}
	}
	return roots, nil
}
