package api

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/db"
	"despacho/internal/apperror"
)

var (
	errOverloaded  = &apperror.Error{Kind: apperror.Unavailable, Code: "overloaded", RetryAfter: time.Second, Message: "El servicio está recibiendo demasiadas solicitudes. Vuelva a intentarlo en unos segundos."}
	errUnavailable = &apperror.Error{Kind: apperror.Unavailable, Code: "service_unavailable", RetryAfter: 2 * time.Second, Message: "El servicio no puede atender en este momento. Vuelva a intentarlo en unos segundos."}
)

// limitLoad has at most as many requests worked on at once as the process can carry: more would
// only make all of them slow and memory grow. The others wait a moment for their turn and are then
// told to come back. Probes always get through.
func (s *Server) limitLoad(c *gin.Context) {
	if isProbe(c) {
		return
	}
	if err := s.takeTurn(c.Request.Context()); err != nil {
		s.fail(c, err)
		return
	}
	defer func() { <-s.inFlight }()
	limit := s.config.Timeouts.Request
	if strings.HasPrefix(c.GetHeader("Content-Type"), "multipart/") {
		limit = s.config.Timeouts.Upload
	}
	limitBody(c.Writer, c.Request, limit)
	ctx, cancel := context.WithTimeout(c.Request.Context(), limit)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}

func (s *Server) takeTurn(ctx context.Context) error {
	select {
	case s.inFlight <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(s.config.Timeouts.Queue)
	defer timer.Stop()
	select {
	case s.inFlight <- struct{}{}:
		return nil
	case <-timer.C:
		return errOverloaded
	case <-ctx.Done():
		return ctx.Err()
	}
}

func isProbe(c *gin.Context) bool { return c.FullPath() == "/healthz" || c.FullPath() == "/readyz" }

// isOutage reports whether a request failed for what is likely to work in a moment.
func isOutage(ctx context.Context, err error) bool { return db.IsUnavailable(err) || outOfTime(ctx) }

// outOfTime reports whether a request was worked on for too long. A process that stood still finds
// several timers due at once, and the one of the connection, which takes the client for gone, may
// be the first: the clock decides.
func outOfTime(ctx context.Context) bool {
	deadline, limited := ctx.Deadline()
	return errors.Is(context.Cause(ctx), context.DeadlineExceeded) || limited && !time.Now().Before(deadline)
}
