package app

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"

	"despacho/api"
	"despacho/internal/recovered"
	"despacho/internal/temporalcheck"
)

// ServeAdmin serves /metrics, /debug/pprof and a worker's /healthz and /readyz until ctx ends. The
// public listener serves none of these; its /healthz and /readyz are the API's own.
func (a *App) ServeAdmin(ctx context.Context, listener net.Listener) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.Metrics.Handler())
	mux.HandleFunc("GET /healthz", a.healthz)
	mux.HandleFunc("GET /readyz", a.readyz)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	err := serve(ctx, api.HTTPServer(mux, a.Config.Timeouts.Connection), listener, a.Config.ShutdownTimeout)
	if errors.Is(err, errInFlight) {
		return nil // a profile, whose end is nobody's loss
	}
	return err
}

// healthz answers 200 in a process with a worker. In others it answers 404: an API process is
// checked at its public listener.
func (a *App) healthz(w http.ResponseWriter, r *http.Request) {
	if !a.runsWorker.Load() {
		http.NotFound(w, r)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// readiness is the body of /readyz on ADMIN_ADDR: the state of what a worker needs.
type readiness struct {
	Database string `json:"database"`
	Temporal string `json:"temporal"`
	// Worker is empty in a process without one.
	Worker string `json:"worker,omitempty"`
}

// readyz answers 503 while orders cannot move on in this process: the database does not answer or
// takes no changes, Temporal does not answer or has no such namespace, or the worker does not poll.
func (a *App) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), a.Config.Timeouts.Readiness)
	defer cancel()
	var temporalErr error
	var checks sync.WaitGroup
	checks.Go(func() {
		temporalErr = recovered.Call(ctx, a.log, func() error {
			return temporalcheck.Namespace(ctx, a.Temporal, a.namespace)
		})
	})
	databaseErr := a.DB.CheckVersion(ctx)
	if databaseErr == nil {
		databaseErr = a.DB.CheckWritable(ctx, a.clock.Now())
	}
	checks.Wait()
	state, status := readiness{Database: "ok", Temporal: "ok"}, http.StatusOK
	if temporalErr != nil {
		state.Temporal = "unreachable"
	}
	if databaseErr != nil {
		state.Database = "unavailable"
	}
	if err := errors.Join(databaseErr, temporalErr); err != nil {
		status = http.StatusServiceUnavailable
		a.log.WarnContext(ctx, "not ready", "error", err)
	}
	if a.runsWorker.Load() {
		state.Worker = "polling"
		if !a.polling.Load() {
			state.Worker, status = "waiting", http.StatusServiceUnavailable
		}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(state)
}
