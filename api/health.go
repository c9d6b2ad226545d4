package api

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
)

// healthz answers as long as the process runs.
func (s *Server) healthz(c *gin.Context) error {
	return respond(c, http.StatusOK, envelope{Message: "ok"})
}

// readiness is the body of /readyz: the state of each dependency.
type readiness struct {
	Database string `json:"database"`
	Temporal string `json:"temporal"`
	// WorkflowStarts is how far this process is behind with the workflows of created orders.
	WorkflowStarts startBacklog `json:"workflow_starts"`
}

type startBacklog struct {
	Waiting       int     `json:"waiting"`
	OldestSeconds float64 `json:"oldest_seconds"`
}

// readyz reports whether requests can be served. Temporal's state is shown but does not fail the
// check: orders are accepted without it.
func (s *Server) readyz(c *gin.Context) error {
	ctx, cancel := context.WithTimeout(c.Request.Context(), s.config.Timeouts.Readiness)
	defer cancel()
	backlog := s.orders.StartBacklog()
	state := readiness{Database: "ok", Temporal: "ok", WorkflowStarts: startBacklog{Waiting: backlog.Waiting, OldestSeconds: backlog.Oldest.Seconds()}}
	if err := s.temporalReachable(ctx); err != nil {
		state.Temporal = "unreachable"
	}
	if err := s.db.CheckVersion(ctx); err != nil {
		state.Database = "unavailable"
		s.log.WarnContext(ctx, "not ready", "error", err)
		c.Header("Retry-After", "5")
		return respond(c, http.StatusServiceUnavailable, envelope{Data: state, Code: "not_ready", Error: "El servicio no está listo: la base de datos no responde o no está migrada."})
	}
	if s.draining.Load() {
		c.Header("Retry-After", "5")
		return respond(c, http.StatusServiceUnavailable, envelope{Data: state, Code: "stopping", Error: "El servicio se está deteniendo."})
	}
	return ok(c, state)
}
