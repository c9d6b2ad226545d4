package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

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
	// maxStrangerBody is the largest body accepted from somebody who is not signed in yet.
	maxStrangerBody = 16 << 10
	// maxUploads is how many requests with a larger body one operator may have at the same time: they
	// are in memory. maxStoreUploads of them may be one store's.
	maxUploads, maxStoreUploads = 16, 4
)

// bodyLimit is the largest body of a route, and the error for a larger one.
type bodyLimit struct {
	bytes    int64
	tooLarge error
	// multipart means that bodies of other types have the usual limit.
	multipart bool
}

func newBodyLimit(size int64) bodyLimit {
	return bodyLimit{bytes: size, tooLarge: apperror.New(apperror.TooLarge, "body_too_large",
		fmt.Sprintf("El cuerpo supera el máximo de %d KiB.", size>>10))}
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
		"POST /panel/api/session":                     strangerBody,
		"POST /panel/ingreso":                         strangerBody,
		"POST /panel/ingreso/codigo":                  strangerBody,
		"POST /panel/api/session/reset":               strangerBody,
		"POST /rider/api/activate":                    strangerBody,
		"POST /rider/api/session":                     strangerBody,
		"POST " + operators.PasswordResetPath:         strangerBody,
		"POST /panel/api/orders/:id/deliver":          photoBody,
		"POST /panel/api/orders/:id/attempt":          photoBody,
		"POST /rider/api/acts":                        photoBody,
		"POST /panel/pedidos/:id/entregar":            photoBody,
		"POST /panel/api/settings/logo":               logoBody,
		"POST /panel/ajustes/logo":                    logoBody,
		"POST " + orders.RecipientPath(":guide_code"): strangerBody,
		"POST /panel/codec/decode":                    newBodyLimit(maxCodecBody),
		"POST /panel/codec/encode":                    newBodyLimit(maxCodecBody),
	}
	for _, path := range []string{"/panel/api/orders/:id/delivery-correction", "/panel/pedidos/:id/corregir-entrega"} {
		limits["POST "+path] = photoBody
	}
	for _, path := range panel.FileRoutes {
		limits["POST "+path] = bodyLimit{bytes: panel.MaxFileRequest, tooLarge: panel.ErrFileTooLarge}
	}
	return limits
}

// requestBody is the body of a request, up to its limit. Its errors are those to respond with.
type requestBody struct {
	io.ReadCloser
	length int64 // -1 if it is not known
	limit  bodyLimit
	// connection is not busy while the client sends.
	connection *clientConn
	// enterUpload takes one of the operator's maxUploads.
	enterUpload func() (leave func(), err error)
	leaveUpload func()
	// content is the body once it was received, and err why it could not be.
	received bool
	content  bytes.Reader
	err      error
}

// limitBody replaces the request's body by a limited one, before anything can read it.
func (s *Server) limitBody(c *gin.Context, connection *clientConn) *requestBody {
	limit, known := s.bodyLimits[c.Request.Method+" "+c.FullPath()]
	switch {
	case comesFirst(c.Request):
		limit = strangerBody
	case !known, limit.multipart && !isMultipart(c.Request):
		limit = usualBody
	}
	b := &requestBody{
		ReadCloser: http.MaxBytesReader(c.Writer, c.Request.Body, limit.bytes), length: c.Request.ContentLength, limit: limit,
		connection: connection, enterUpload: func() (func(), error) { return s.enterUpload(c) },
	}
	c.Request.Body = b
	return b
}

// comesFirst reports whether a body is received before its sender is admitted, as nearly all are:
// that saves a second check. Larger ones are read from admitted senders only, and a client that
// sends Expect waits to be admitted.
func comesFirst(r *http.Request) bool {
	return r.ContentLength > 0 && r.ContentLength <= maxStrangerBody && r.Header.Get("Expect") == ""
}

// enterUpload counts one more upload of the caller's operator. Only signed-in callers reach the
// routes of uploads.
func (s *Server) enterUpload(c *gin.Context) (leave func(), err error) {
	leave, ok := s.uploads.enter(caller(c))
	if !ok {
		return nil, errOverloaded.Because(fmt.Errorf("the operator has %d uploads at the same time, or the store %d",
			maxUploads, maxStoreUploads))
	}
	return leave, nil
}

func isMultipart(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/")
}

// Read reads the body, which is received whole by the first one.
func (b *requestBody) Read(p []byte) (int, error) {
	if !b.received {
		b.receive()
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.content.Read(p)
}

// receive receives the body, or an error for whoever reads it.
func (b *requestBody) receive() {
	b.received = true
	if b.length > b.limit.bytes {
		b.err = b.limit.tooLarge
		return
	}
	if b.limit.bytes > maxBody {
		if b.leaveUpload, b.err = b.enterUpload(); b.err != nil {
			return
		}
	}
	b.connection.setBusy(false)
	content, err := io.ReadAll(b.ReadCloser)
	b.connection.setBusy(true)
	b.content.Reset(content)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		b.err = b.limit.tooLarge
	case err != nil:
		b.err = errIncompleteBody.Because(err)
	}
}

// admitted receives the body of a request that was admitted, unless it came first, and has check
// look again at who is admitted: access may have been taken away while the body came.
func (s *Server) admitted(c *gin.Context, check func(context.Context) error) error {
	c.Set(recheckKey, check)
	b, ok := c.Request.Body.(*requestBody)
	if !ok || b.received || b.length == 0 {
		return nil
	}
	b.receive()
	return check(c.Request.Context())
}

// end ends the body's use of memory.
func (b *requestBody) end() {
	if b.leaveUpload != nil {
		b.leaveUpload()
	}
}
