package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"despacho/api"
	"despacho/internal/telemetry"
	"despacho/internal/temporalcheck"
)

// ServeAPI serves the API until ctx ends. Then /readyz fails while requests are still accepted for
// DRAIN_DELAY, or longer if they still come, so that load balancers stop sending them; after that
// the requests in flight finish.
func (a *App) ServeAPI(ctx context.Context, listener net.Listener) error {
	if err := a.photos.Prepare(); err != nil {
		return err
	}
	server, err := api.New(api.Options{
		Config: a.Config, DB: a.DB, Catalog: a.catalog, Orders: a.Orders, Webhooks: a.webhooks, Events: a.events,
		Secrets: a.secrets,
		Photos:  a.photos, PhotoURLs: a.photoURLs, Temporal: a.Temporal, Namespace: a.namespace,
		Clock: a.clock, Log: a.log,
		Middleware: api.Middleware(a.Metrics.HTTP(), telemetry.GinTracing()),
	})
	if err != nil {
		return err
	}
	if err := a.checkTemporal(ctx); err != nil {
		a.log.Warn("Temporal cannot be reached; orders are accepted and their workflows start when it is back", "error", err)
	}
	a.watchAPI(server)
	sweeping, endSweeping := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { a.Orders.RunPhotoSweeper(sweeping) })
	defer background.Wait()
	defer endSweeping()
	a.log.Info("api listening", "address", listener.Addr().String())
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		a.log.Info("api stopping", "takes_requests_for", a.Config.DrainDelay)
		server.Drain(a.Config.DrainDelay)
		stop()
	})()
	return serve(serving, api.HTTPServer(server.Handler(), a.Config.Timeouts.Connection), server.Listener(listener),
		a.Config.ShutdownTimeout)
}

func (a *App) checkTemporal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return temporalcheck.Namespace(ctx, a.Temporal, a.namespace)
}

// errInFlight means that requests have not ended within the grace.
var errInFlight = errors.New("requests were still in flight")

// serve runs an HTTP server until ctx ends, then waits for requests in flight; those that take
// longer than the grace lose their connections, which is errInFlight.
func serve(ctx context.Context, server *http.Server, listener net.Listener, grace time.Duration) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		_ = server.Close()
		return fmt.Errorf("SHUTDOWN_TIMEOUT: %w after %s", errInFlight, grace)
	}
	return err
}
