package api

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/requestid"
)

const requestIDHeader = "X-Request-Id"

// recheckKey is how to check the caller of a request again, in its context.
const recheckKey = "recheck"

// recheck checks the caller of a request again, who was admitted some time ago.
func recheck(ctx context.Context, c *gin.Context) error {
	return c.MustGet(recheckKey).(func(context.Context) error)(ctx)
}

var sensibleRequestID = regexp.MustCompile(`^[A-Za-z0-9._:+/=-]{1,128}$`)

// identifyRequest gives every request an id, the caller's own if it is valid, and logs the request.
func (s *Server) identifyRequest(c *gin.Context) {
	id := c.GetHeader(requestIDHeader)
	if !sensibleRequestID.MatchString(id) {
		id = uuid.NewString()
	}
	c.Request = c.Request.WithContext(requestid.With(c.Request.Context(), id))
	c.Header(requestIDHeader, id)
	// responses may contain text that users wrote: browsers must not guess another type
	c.Header("X-Content-Type-Options", "nosniff")
	began := time.Now()
	c.Next()
	level := slog.LevelInfo
	switch {
	case c.Writer.Status() >= http.StatusInternalServerError:
		level = slog.LevelWarn
	case isProbe(c):
		level = slog.LevelDebug // health checks come every few seconds
	}
	// The route, not the path: a path may contain a guide code, which gives access to the tracking
	// page.
	s.log.LogAttrs(c.Request.Context(), level, "request",
		slog.String("method", c.Request.Method), slog.String("route", c.FullPath()), slog.Int("status", c.Writer.Status()),
		slog.Duration("took", time.Since(began)))
}

// recoverPanic responds 500 to a request that panics.
func (s *Server) recoverPanic(c *gin.Context) {
	defer s.failPanic(c, s.fail)
	c.Next()
}

// failPanic, deferred, renders a panic as fail renders an error: as JSON, or as a page.
func (s *Server) failPanic(c *gin.Context, fail func(*gin.Context, error)) {
	recovered := recover()
	if recovered == nil {
		return
	}
	if recovered == http.ErrAbortHandler {
		panic(recovered)
	}
	panicked := fmt.Errorf("panic: %v", recovered)
	s.log.ErrorContext(c.Request.Context(), "panic", "route", c.FullPath(), "error", panicked, "stack", string(debug.Stack()))
	if !c.Writer.Written() {
		fail(c, apperror.Wrap(panicked))
	}
}

// readBody reads and parses a JSON body.
func readBody(c *gin.Context) (*jsonbody.Object, error) { return readWith(c, jsonbody.Parse) }

// readOptionalBody is readBody for requests whose body is optional.
func readOptionalBody(c *gin.Context) (*jsonbody.Object, error) {
	return readWith(c, jsonbody.ParseOptional)
}

func readWith(c *gin.Context, parse func([]byte) (*jsonbody.Object, error)) (*jsonbody.Object, error) {
	raw, err := readBytes(c)
	if err != nil {
		return nil, err
	}
	return parse(raw)
}

func unsupportedMedia(message string) error {
	return apperror.New(apperror.UnsupportedMedia, "unsupported_media_type", message)
}

// readBytes reads a JSON body.
func readBytes(c *gin.Context) ([]byte, error) {
	if given := c.GetHeader("Content-Type"); given != "" {
		mediaType, _, err := mime.ParseMediaType(given)
		if err != nil || mediaType != "application/json" {
			return nil, unsupportedMedia("El cuerpo debe enviarse con Content-Type: application/json.")
		}
	}
	for _, coding := range c.Request.Header.Values("Content-Encoding") {
		if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
			return nil, unsupportedMedia("El cuerpo debe enviarse sin comprimir, sin la cabecera Content-Encoding.")
		}
	}
	return io.ReadAll(c.Request.Body)
}

// pathID reads a UUID from the path. Anything else is treated like an unknown id.
func pathID(c *gin.Context, notFound error) (uuid.UUID, error) {
	id, ok := jsonbody.ParseUUID(c.Param("id"))
	if !ok {
		return uuid.Nil, notFound
	}
	return id, nil
}

// idAndBody reads the id from the path, and the body.
func idAndBody(
	c *gin.Context, notFound error, read func(*gin.Context) (*jsonbody.Object, error),
) (uuid.UUID, *jsonbody.Object, error) {
	id, err := pathID(c, notFound)
	if err != nil {
		return uuid.Nil, nil, err
	}
	in, err := read(c)
	return id, in, err
}
