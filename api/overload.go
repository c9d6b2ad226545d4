package api

import (
	"context"
	"errors"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/events"
	"despacho/internal/inflight"
)

var (
	errOverloaded  = &apperror.Error{Kind: apperror.Unavailable, Code: "overloaded", RetryAfter: time.Second, Message: "El servicio está recibiendo demasiadas solicitudes. Vuelva a intentarlo en unos segundos."}
	errUnavailable = &apperror.Error{Kind: apperror.Unavailable, Code: "service_unavailable", RetryAfter: 2 * time.Second, Message: "El servicio no puede atender en este momento. Vuelva a intentarlo en unos segundos."}
)

// limitInFlight bounds the requests that are worked on at the same time, because more would slow
// all of them and use more memory. Others wait up to Timeouts.Queue and then get 503. A request
// holds a slot neither while its body arrives nor while its response is sent: a slow client costs a
// goroutine and a buffer, and nobody else's slot. Health checks are exempt.
func (s *Server) limitInFlight(c *gin.Context) {
	if isProbe(c) {
		return
	}
	limit := s.config.Timeouts.Request
	if isMultipart(c.Request) {
		limit = s.config.Timeouts.Upload
	}
	if c.FullPath() == eventsPath {
		limit += events.MaxWait
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), limit)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	response := bufferResponse(c)
	s.serveInSlot(c)
	response.send(c, s.config.Timeouts.Progress)
}

// refusedKey is the error of a request that gets no slot, in its context.
const refusedKey = "refused"

// serveInSlot runs the handler. The slot is returned before the response is sent. A request that
// gets no slot is answered by its route all the same: people get a page.
func (s *Server) serveInSlot(c *gin.Context) {
	leave, err := s.enterClient(c)
	if err != nil {
		c.Set(refusedKey, err)
		c.Next()
		return
	}
	defer leave()
	slot := &requestSlot{
		slots: s.inFlight, wait: s.config.Timeouts.Queue, connection: connOf(c.Request.Context()), waitsForEvents: c.FullPath() == eventsPath,
	}
	defer slot.releaseToClient()
	if err := slot.acquire(c.Request.Context()); err != nil {
		c.Set(refusedKey, err)
		c.Next()
		return
	}
	c.Request = c.Request.WithContext(inflight.WithSlot(c.Request.Context(), slot))
	body := s.bufferBody(c, slot)
	defer body.close()
	c.Next()
	// net/http would remove the files of a form, but only of the request that it made itself.
	if form := c.Request.MultipartForm; form != nil {
		_ = form.RemoveAll()
	}
}

// requestSlot is a request's slot among MAX_REQUESTS, which it gives back while it waits for
// something else. It is not safe for concurrent use.
type requestSlot struct {
	slots chan struct{}
	wait  time.Duration
	held  bool
	// connection is busy unless the request waits for its client or for events.
	connection *clientConn
	// waitsForEvents means that what the request waits for without its slot are events.
	waitsForEvents bool
}

// acquire waits for a slot for a short time.
func (r *requestSlot) acquire(ctx context.Context) error {
	if r.tryAcquire() {
		return nil
	}
	timer := time.NewTimer(r.wait)
	defer timer.Stop()
	return r.await(ctx, timer.C)
}

// Reacquire waits for a slot until ctx ends.
func (r *requestSlot) Reacquire(ctx context.Context) error {
	if r.tryAcquire() {
		return nil
	}
	return r.await(ctx, nil)
}

func (r *requestSlot) tryAcquire() bool {
	r.connection.setBusy(true)
	select {
	case r.slots <- struct{}{}:
		r.held = true
	default:
	}
	return r.held
}

func (r *requestSlot) await(ctx context.Context, tooLate <-chan time.Time) error {
	select {
	case r.slots <- struct{}{}:
		r.held = true
		return nil
	case <-tooLate:
		return errOverloaded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release gives the slot back, if it is held.
func (r *requestSlot) Release() {
	r.connection.setBusy(!r.waitsForEvents)
	if r.held {
		<-r.slots
		r.held = false
	}
}

// releaseToClient is Release while the client sends its body or takes the response.
func (r *requestSlot) releaseToClient() {
	r.Release()
	r.connection.setBusy(false)
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
