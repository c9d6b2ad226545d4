package api

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/db"
	"despacho/internal/apperror"
	"despacho/internal/inflight"
)

var (
	errOverloaded  = &apperror.Error{Kind: apperror.Unavailable, Code: "overloaded", RetryAfter: time.Second, Message: "El servicio está recibiendo demasiadas solicitudes. Vuelva a intentarlo en unos segundos."}
	errUnavailable = &apperror.Error{Kind: apperror.Unavailable, Code: "service_unavailable", RetryAfter: 2 * time.Second, Message: "El servicio no puede atender en este momento. Vuelva a intentarlo en unos segundos."}
)

// limitInFlight bounds the requests handled at the same time, because more would slow all of them
// and use more memory. Others wait up to Timeouts.Queue and then get 503. Health checks are exempt.
func (s *Server) limitInFlight(c *gin.Context) {
	if isProbe(c) {
		return
	}
	if err := s.acquireSlot(c.Request.Context()); err != nil {
		s.fail(c, err)
		return
	}
	slot := &requestSlot{server: s, held: true}
	defer slot.Leave()
	limit := s.config.Timeouts.Request
	if strings.HasPrefix(c.GetHeader("Content-Type"), "multipart/") {
		limit = s.config.Timeouts.Upload
	}
	withReadDeadline(c.Writer, c.Request, limit)
	ctx, cancel := context.WithTimeout(inflight.With(c.Request.Context(), slot), limit)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}

// requestSlot is the slot of one request, which it may give back while it waits for something else.
type requestSlot struct {
	server *Server
	held   bool
}

// Leave gives the slot back, if it is held.
func (r *requestSlot) Leave() {
	if r.held {
		r.held = false
		<-r.server.inFlight
	}
}

// Enter acquires a slot again.
func (r *requestSlot) Enter(ctx context.Context) error {
	err := r.server.acquireSlot(ctx)
	r.held = err == nil
	return err
}

func (s *Server) acquireSlot(ctx context.Context) error {
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

// isOutage reports whether the error is likely to be temporary: the database is unavailable or the
// request timed out.
func isOutage(ctx context.Context, err error) bool { return db.IsUnavailable(err) || outOfTime(ctx) }

// outOfTime reports whether the request's deadline has passed. It compares the clock: after a pause
// of the process several timers fire at once, and net/http may cancel the context before its
// deadline does.
func outOfTime(ctx context.Context) bool {
	deadline, limited := ctx.Deadline()
	return errors.Is(context.Cause(ctx), context.DeadlineExceeded) || limited && !time.Now().Before(deadline)
}
