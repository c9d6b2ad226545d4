package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/operators"
	"despacho/internal/orders"
	"despacho/internal/panel"
	"despacho/internal/photos"
)

const (
	// maxBody is the largest body accepted, unless the route has a limit of its own.
	maxBody = 256 << 10
	// maxStrangerBody is the largest body accepted from somebody who is not signed in yet, other
	// than by the sign-in page.
	maxStrangerBody = 16 << 10
	// minUploadRate is how many bytes a second an upload must bring after its first seconds.
	minUploadRate = 16 << 10
	// standstill is how late a deadline must be noticed to conclude that this process stood still.
	standstill = time.Second
	// discardTimeout is how long the rest of a body that nobody wanted may take to arrive.
	discardTimeout = 2 * time.Second

	// uploadSlots bounds the bodies over maxBody that are in memory at the same time, and
	// uploadSlotsPerOperator those of one operator. The others wait before they are read.
	uploadSlots            = 32
	uploadSlotsPerOperator = 8
)

// bodyLimit is the largest body of a route, and the error for a larger one.
type bodyLimit struct {
	bytes    int64
	tooLarge error
	// multipart means that bodies of other types have the usual limit.
	multipart bool
}

func newBodyLimit(size int64) bodyLimit {
	return bodyLimit{bytes: size, tooLarge: apperror.New(apperror.TooLarge, "body_too_large", fmt.Sprintf("El cuerpo supera el máximo de %d KiB.", size>>10))}
}

var (
	usualBody    = newBodyLimit(maxBody)
	strangerBody = newBodyLimit(maxStrangerBody)
	photoBody    = bodyLimit{bytes: photos.MaxForm, tooLarge: photos.ErrTooLarge, multipart: true}
	logoBody     = bodyLimit{bytes: photos.MaxForm, tooLarge: operators.ErrLogoTooLarge, multipart: true}

	errIncompleteBody = apperror.New(apperror.Invalid, "incomplete_body", "El cuerpo llegó incompleto.")
)

// bodyLimits lists the routes whose bodies have a limit of their own.
func bodyLimits() map[string]bodyLimit {
	limits := map[string]bodyLimit{
		"POST /panel/api/session":             strangerBody,
		"POST /panel/ingreso":                 newBodyLimit(panel.MaxSignInRequest),
		"POST /panel/ingreso/codigo":          newBodyLimit(panel.MaxSignInRequest),
		"POST /panel/ingreso/inicio":          newBodyLimit(panel.MaxSignInRequest),
		"POST /panel/api/session/reset":       strangerBody,
		"POST " + operators.PasswordResetPath: strangerBody,
		"POST /panel/api/orders/:id/deliver":  photoBody,
		"POST /panel/pedidos/:id/entregar":    photoBody,
		"POST /panel/api/settings/logo":       logoBody,
		"POST /panel/ajustes/logo":            logoBody,
		"POST /panel/codec/decode":            newBodyLimit(maxCodecBody),
		"POST /panel/codec/encode":            newBodyLimit(maxCodecBody),
	}
	for _, path := range []string{"/panel/api/orders/:id/delivery-correction", "/panel/pedidos/:id/corregir-entrega"} {
		limits["POST "+path] = photoBody
	}
	for _, path := range panel.FileRoutes {
		limits["POST "+path] = bodyLimit{bytes: panel.MaxFileRequest, tooLarge: panel.ErrFileTooLarge}
	}
	return limits
}

// requestBody is the body of a request. The first Read waits for all of it: the request returns its
// slot meanwhile, so that a body that arrives slowly, or never, keeps nobody from being served. Its
// errors are those to respond with.
type requestBody struct {
	source     io.ReadCloser
	length     int64 // -1 if it is not known
	limit      bodyLimit
	slot       *requestSlot
	context    func() context.Context
	connection *http.ResponseController
	// grace is the time for a body of any size, longest that for a large one.
	grace, longest time.Duration
	// acquireUpload waits until a large body may be kept in memory.
	acquireUpload func(context.Context) (release func(), err error)

	content       bytes.Reader
	fetched       bool
	complete      bool // there is nothing left to receive
	err           error
	releaseUpload func()
}

// bufferBody replaces the request's body by a limited one, before anything can read it.
func (s *Server) bufferBody(c *gin.Context, slot *requestSlot) *requestBody {
	limit, known := s.bodyLimits[c.Request.Method+" "+c.FullPath()]
	if !known || limit.multipart && !isMultipart(c.Request) {
		limit = usualBody
	}
	b := &requestBody{
		source: c.Request.Body, length: c.Request.ContentLength, limit: limit, slot: slot,
		context: func() context.Context { return c.Request.Context() }, connection: http.NewResponseController(c.Writer),
		grace: s.config.Timeouts.Request, longest: s.config.Timeouts.Upload,
		acquireUpload: func(ctx context.Context) (func(), error) { return s.uploads.Acquire(ctx, uploaderOf(c)) },
		complete:      c.Request.Body == nil || c.Request.Body == http.NoBody,
	}
	if !b.complete {
		c.Request.Body = b
	}
	return b
}

// uploaderOf names the caller's operator. Only signed-in callers reach the routes of uploads.
func uploaderOf(c *gin.Context) string {
	if who, ok := c.Get(callerKey); ok {
		return who.(orders.Caller).Operator.ID.String()
	}
	return ""
}

func isMultipart(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/")
}

// Read reads the body as it was received.
func (b *requestBody) Read(p []byte) (int, error) {
	if !b.fetched {
		b.fetched = true
		b.err = b.fetch()
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.content.Read(p)
}

// Close does nothing: net/http closes what the client sends.
func (b *requestBody) Close() error { return nil }

// close ends the body's use of memory.
func (b *requestBody) close() {
	b.content.Reset(nil)
	if b.releaseUpload != nil {
		b.releaseUpload()
	}
}

// fetch receives the body without holding the request's slot.
func (b *requestBody) fetch() error {
	if b.length > b.limit.bytes {
		return b.limit.tooLarge
	}
	ctx := b.context()
	b.slot.releaseToClient()
	content, err := b.receive(ctx)
	b.content.Reset(content)
	if again := b.slot.acquire(ctx); err == nil {
		err = again
	}
	return err
}

func (b *requestBody) receive(ctx context.Context) ([]byte, error) {
	var content bytes.Buffer
	content.Grow(int(min(max(b.length, 0), readStep)) + bytes.MinRead)
	began := time.Now()
	for {
		if content.Len() > maxBody && b.releaseUpload == nil {
			release, err := b.acquireUpload(ctx)
			if err != nil {
				return nil, errOverloaded.Because(err)
			}
			b.releaseUpload, began = release, time.Now()
		}
		until := b.deadline(began, content.Len())
		// A deadline cannot be set in a test without a connection.
		_ = b.connection.SetReadDeadline(until)
		_, err := io.CopyN(&content, b.source, min(readStep, b.limit.bytes+1-int64(content.Len())))
		switch {
		case int64(content.Len()) > b.limit.bytes:
			return nil, b.limit.tooLarge
		case errors.Is(err, io.EOF):
			// Without a deadline: if it passed while the request is handled, net/http would cancel
			// this request as if the client had left, and every later one on the connection.
			_ = b.connection.SetReadDeadline(time.Time{})
			b.complete = true
			return content.Bytes(), nil
		case errors.Is(err, os.ErrDeadlineExceeded) && time.Since(until) > standstill:
			return nil, errUnavailable.Because(fmt.Errorf("the process stood still while a body arrived: %w", err))
		case err != nil:
			return nil, errIncompleteBody.Because(err)
		}
	}
}

// readStep is how much of a body is read under one deadline.
const readStep = 32 << 10

// discardDeadline is when net/http gives up reading the rest of a body that nobody wanted, which it
// does before it sends the response. A body that did not come in its time gets no more.
func (b *requestBody) discardDeadline() time.Time {
	if errors.Is(b.err, os.ErrDeadlineExceeded) {
		return time.Now()
	}
	return time.Now().Add(discardTimeout)
}

// deadline is when the next part of a body has to have arrived: a large body has more time with
// every byte that came.
func (b *requestBody) deadline(began time.Time, received int) time.Time {
	if b.limit.bytes <= maxBody {
		return began.Add(b.grace)
	}
	earned := time.Duration(received) * time.Second / minUploadRate
	return began.Add(min(b.grace+earned, b.longest))
}
