package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/operators"
	"despacho/internal/panel"
	"despacho/internal/photos"
)

const (
	// maxBody is the largest body accepted, unless the route has a limit of its own.
	maxBody = 256 << 10
	// maxStrangerBody is the largest body accepted from somebody who is not signed in yet.
	maxStrangerBody = 16 << 10
	// maxUploads is how many requests with a larger body one operator may have at the same time: they
	// are in memory.
	maxUploads = 16
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
		"POST /panel/api/session":             strangerBody,
		"POST /panel/ingreso":                 strangerBody,
		"POST /panel/ingreso/codigo":          strangerBody,
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
}

// limitBody replaces the request's body by a limited one, before anything can read it.
func (s *Server) limitBody(c *gin.Context, connection *clientConn) *requestBody {
	limit, known := s.bodyLimits[c.Request.Method+" "+c.FullPath()]
	if !known || limit.multipart && !isMultipart(c.Request) {
		limit = usualBody
	}
	b := &requestBody{
		ReadCloser: http.MaxBytesReader(c.Writer, c.Request.Body, limit.bytes), length: c.Request.ContentLength, limit: limit,
		connection: connection, enterUpload: func() (func(), error) { return s.enterUpload(c) },
	}
	c.Request.Body = b
	return b
}

// enterUpload counts one more upload of the caller's operator. Only signed-in callers reach the
// routes of uploads.
func (s *Server) enterUpload(c *gin.Context) (leave func(), err error) {
	leave, ok := s.uploads.enter(caller(c).Operator.ID)
	if !ok {
		return nil, errOverloaded.Because(fmt.Errorf("the operator has %d uploads at the same time", maxUploads))
	}
	return leave, nil
}

func isMultipart(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/")
}

// Read reads the body as it was received.
func (b *requestBody) Read(p []byte) (n int, err error) {
	if b.length > b.limit.bytes {
		return 0, b.limit.tooLarge
	}
	if b.limit.bytes > maxBody && b.leaveUpload == nil {
		if b.leaveUpload, err = b.enterUpload(); err != nil {
			return 0, err
		}
	}
	b.connection.setBusy(false)
	n, err = b.ReadCloser.Read(p)
	b.connection.setBusy(true)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		err = b.limit.tooLarge
	case err != nil && !errors.Is(err, io.EOF):
		err = errIncompleteBody.Because(err)
	}
	return n, err
}

// end ends the body's use of memory.
func (b *requestBody) end() {
	if b.leaveUpload != nil {
		b.leaveUpload()
	}
}
