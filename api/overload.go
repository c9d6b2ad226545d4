package api

import (
	"context"
	"errors"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/events"
)

var (
	errOverloaded = &apperror.Error{Kind: apperror.Unavailable, Code: "overloaded", RetryAfter: time.Second,
		Message: "El servicio está recibiendo demasiadas solicitudes. Vuelva a intentarlo en unos segundos."}
	errUnavailable = &apperror.Error{Kind: apperror.Unavailable, Code: "service_unavailable", RetryAfter: 2 * time.Second,
		Message: "El servicio no puede atender en este momento. Vuelva a intentarlo en unos segundos."}
)

// limitRequest bounds the time of a request and what is read of its body. Its response is sent when
// its handler has ended. Health checks are exempt.
func (s *Server) limitRequest(c *gin.Context) {
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
	if isStream(c) {
		limit += streamTime
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), limit)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	bufferResponse(c)
	s.serve(c)
	sendBuffered(c)
}

// refusedKey is the error of a request that is not served, in its context.
const refusedKey = "refused"

// serve runs the handler. A request of a client that has too many is answered by its route all the
// same: people get a page.
func (s *Server) serve(c *gin.Context) {
	leave, err := s.enterClient(c)
	if err != nil {
		c.Set(refusedKey, err)
		c.Next()
		return
	}
	defer leave()
	connection := connOf(c.Request.Context())
	if c.FullPath() != eventsPath && !isStream(c) { // most of its time it waits
		connection.setBusy(true)
		defer connection.setBusy(false)
	}
	body := s.limitBody(c, connection)
	defer body.end()
	if comesFirst(c.Request) {
		if body.receive(); body.err != nil {
			c.Set(refusedKey, body.err)
		}
	}
	c.Next()
	// net/http would remove the files of a form, but only of the request that it made itself.
	if form := c.Request.MultipartForm; form != nil {
		_ = form.RemoveAll()
	}
}

func isProbe(c *gin.Context) bool { return c.FullPath() == "/healthz" || c.FullPath() == "/readyz" }

// outage is the error to respond with if err is likely to be temporary: the database is unavailable
// or the request timed out. Otherwise it is nil.
func outage(ctx context.Context, err error) *apperror.Error {
	switch {
	case errors.Is(err, db.ErrBusy):
		return errOverloaded.Because(err)
	case db.IsUnavailable(err), outOfTime(ctx):
		return errUnavailable.Because(err)
	}
	return nil
}

// outOfTime reports whether the request's deadline has passed. It compares the clock: after a pause
// of the process several timers fire at once, and net/http may cancel the context before its
// deadline does.
func outOfTime(ctx context.Context) bool {
	deadline, limited := ctx.Deadline()
	return errors.Is(context.Cause(ctx), context.DeadlineExceeded) || limited && !time.Now().Before(deadline)
}
