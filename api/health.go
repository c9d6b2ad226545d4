package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/db"
	"despacho/internal/recovered"
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
	checks.Go(func() { unreachable = recovered.Call(ctx, s.log, func() error { return s.temporalReachable(ctx) }) })
	checks.Go(func() { unwritable = recovered.Call(ctx, s.log, func() error { return s.photosWritable(ctx) }) })
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
		s.photoErrors.Add(1)
		s.log.WarnContext(ctx, "photos cannot be stored", "error", unwritable)
	}
	switch state.Database = s.databaseState(ctx); state.Database {
	case "unavailable":
		return notReady(c, state, "not_ready", "El servicio no está listo: la base de datos no responde, no está migrada o no acepta cambios.")
	case "full":
		return notReady(c, state, "not_ready", "El servicio no está listo: el disco de la base de datos está lleno.")
	}
	if s.draining.Load() {
		return notReady(c, state, "stopping", "El servicio se está deteniendo.")
	}
	return ok(c, state)
}

// photosWritable checks where the photos are with a short timeout.
func (s *Server) photosWritable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeouts.Readiness/3)
	defer cancel()
	return s.photos.CheckWritable(ctx)
}

func notReady(c *gin.Context, state readiness, code, message string) error {
	c.Header("Retry-After", "5")
	return respond(c, http.StatusServiceUnavailable, envelope{Data: state, Code: code, Error: message})
}

// databaseState is "full" if a request met a full disk a moment ago, or a small write does now. A
// database that only reads, as a standby does, is "unavailable" as one that does not answer: even a
// read counts against a limit, which is a write.
func (s *Server) databaseState(ctx context.Context) string {
	now := s.clock.Now()
	err := s.db.CheckVersion(ctx)
	if err == nil {
		if now.Sub(time.UnixMicro(s.diskFullAt.Load())) < fullDiskReportedFor {
			return "full"
		}
		err = s.db.CheckWritable(ctx, now)
	}
	if err == nil {
		return "ok"
	}
	s.log.WarnContext(ctx, "not ready", "error", err)
	if db.IsFull(err) {
		s.noteFullDisk(now)
		return "full"
	}
	return "unavailable"
}

func (s *Server) noteFullDisk(now time.Time) {
	s.diskFullAt.Store(now.UnixMicro())
	s.diskFullErrors.Add(1)
}

// DiskFullErrors is how often the database had no space for what this process had to write.
func (s *Server) DiskFullErrors() int64 { return s.diskFullErrors.Load() }

// PhotoErrors is how often this process could not store a photo.
func (s *Server) PhotoErrors() int64 { return s.photoErrors.Load() }
