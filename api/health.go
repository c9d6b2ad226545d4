package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/db"
	"despacho/internal/temporalcheck"
)

// healthz answers as long as the process runs.
func (s *Server) healthz(c *gin.Context) error {
	return respond(c, http.StatusOK, envelope{Message: "ok"})
}

// readiness is the body of /readyz: the state of each dependency.
type readiness struct {
	Database string `json:"database"`
	Files    string `json:"files"`
	Temporal string `json:"temporal"`
	Webhooks string `json:"webhooks"`
	// WorkflowStarts is how far this process is behind with the workflows of created orders.
	WorkflowStarts startBacklog `json:"workflow_starts"`
}

type startBacklog struct {
	Waiting       int     `json:"waiting"`
	OldestSeconds float64 `json:"oldest_seconds"`
}

// fullDiskReportedFor is how long /readyz reports a full disk after a request has met it. A small
// write can succeed where a larger one does not, so that it proves nothing.
const fullDiskReportedFor = 10 * time.Second

// readyz reports whether requests can be served. The states of Temporal, of the photos and of
// webhooks are shown but do not fail the check: orders are accepted without them.
func (s *Server) readyz(c *gin.Context) error {
	ctx, cancel := context.WithTimeout(c.Request.Context(), s.config.Timeouts.Readiness)
	defer cancel()
	backlog := s.orders.StartBacklog()
	state := readiness{
		Files: "ok", Temporal: "ok", Webhooks: "ok",
		WorkflowStarts: startBacklog{Waiting: backlog.Waiting, OldestSeconds: backlog.Oldest.Seconds()},
	}
	var unreachable, unwritable error
	var checks sync.WaitGroup
	checks.Go(func() { unreachable = s.checks.temporal.outcome(ctx) })
	checks.Go(func() { unwritable = s.checks.photos.outcome(ctx) })
	checks.Go(func() { state.Database = s.databaseState(ctx) })
	checks.Wait()
	if unreachable != nil {
		state.Temporal = "unreachable"
	}
	if s.config.WebhooksPaused {
		state.Webhooks = "paused"
	}
	if s.orders.PhotoSweep().Refused {
		state.Files = "unknown"
	}
	if unwritable != nil {
		state.Files = "unwritable"
	}
	switch state.Database {
	case "unavailable":
		return notReady(c, state, "not_ready",
			"El servicio no está listo: la base de datos no responde, no está migrada o no acepta cambios.")
	case "full":
		return notReady(c, state, "not_ready", "El servicio no está listo: el disco de la base de datos está lleno.")
	}
	if s.draining.Load() {
		return notReady(c, state, "stopping", "El servicio se está deteniendo.")
	}
	return ok(c, state)
}

// readinessChecks are what /readyz looks at.
type readinessChecks struct{ database, temporal, photos *sharedCheck }

func (s *Server) newReadinessChecks() readinessChecks {
	within := func(timeout time.Duration, check func(context.Context) error) *sharedCheck {
		return &sharedCheck{clock: s.clock, log: s.log, timeout: timeout, check: check}
	}
	readiness := s.config.Timeouts.Readiness
	return readinessChecks{
		database: within(readiness, s.checkDatabase), temporal: within(readiness/3, s.checkTemporal),
		photos: within(readiness/3, s.checkPhotos),
	}
}

// checkTemporal checks that Temporal answers and has the namespace.
func (s *Server) checkTemporal(ctx context.Context) error {
	return temporalcheck.Namespace(ctx, s.temporal, s.namespace)
}

// checkPhotos checks that photos can be stored.
func (s *Server) checkPhotos(ctx context.Context) error {
	err := s.photos.CheckWritable(ctx)
	if err != nil {
		s.photoErrors.Add(1)
		s.log.WarnContext(ctx, "photos cannot be stored", "error", err)
	}
	return err
}

// checkDatabase checks that the schema is one that this binary works on and that a small write
// succeeds. A database that only reads, as a standby does, serves no request: even a read counts
// against a limit, which is a write.
func (s *Server) checkDatabase(ctx context.Context) error {
	now := s.clock.Now()
	err := s.db.CheckVersion(ctx)
	if err == nil {
		err = s.db.CheckWritable(ctx, now)
	}
	if err != nil {
		s.log.WarnContext(ctx, "not ready", "error", err)
	}
	if db.IsFull(err) {
		s.noteFullDisk(now)
	}
	return err
}

// databaseState is "full" if a request or a small write met a full disk a moment ago, and
// "unavailable" if the database does not answer or only reads.
func (s *Server) databaseState(ctx context.Context) string {
	if s.metFullDisk() {
		return "full"
	}
	err := s.checks.database.outcome(ctx)
	switch {
	case err == nil:
		return "ok"
	case s.metFullDisk():
		return "full"
	}
	return "unavailable"
}

func (s *Server) metFullDisk() bool {
	age := s.clock.Now().Sub(time.UnixMicro(s.diskFullAt.Load()))
	return 0 <= age && age < fullDiskReportedFor // negative if the clock was set back
}

func notReady(c *gin.Context, state readiness, code, message string) error {
	c.Header("Retry-After", "5")
	return respond(c, http.StatusServiceUnavailable, envelope{Data: state, Code: code, Error: message})
}

func (s *Server) noteFullDisk(now time.Time) {
	s.diskFullAt.Store(now.UnixMicro())
	s.diskFullErrors.Add(1)
}

// DiskFullErrors is how often the database had no space for what this process had to write.
func (s *Server) DiskFullErrors() int64 { return s.diskFullErrors.Load() }

// PhotoErrors is how often this process could not store a photo.
func (s *Server) PhotoErrors() int64 { return s.photoErrors.Load() }
