package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/photos"
)

// envelope is the form of every JSON response.
type envelope struct {
	Data    any              `json:"data,omitempty"`
	Warning string           `json:"warning,omitempty"`
	Message string           `json:"message,omitempty"`
	Error   string           `json:"error,omitempty"`
	Code    string           `json:"code,omitempty"`
	Fields  []apperror.Field `json:"fields,omitempty"`
}

const jsonType = "application/json; charset=utf-8"

func ok(c *gin.Context, data any) error { return respond(c, http.StatusOK, envelope{Data: data}) }

func respond(c *gin.Context, status int, e envelope) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	sendJSON(c, status, body)
	return nil
}

// sendJSON sends a response that nobody may store, unless the handler has said otherwise: it may
// contain names, phones or secrets.
func sendJSON(c *gin.Context, status int, body []byte) {
	if c.Writer.Header().Get("Cache-Control") == "" {
		c.Header("Cache-Control", "no-store")
	}
	sendContent(c, status, jsonType, body)
}

var statusOf = map[apperror.Kind]int{
	apperror.Internal:         http.StatusInternalServerError,
	apperror.Invalid:          http.StatusBadRequest,
	apperror.Unauthenticated:  http.StatusUnauthorized,
	apperror.Forbidden:        http.StatusForbidden,
	apperror.NotFound:         http.StatusNotFound,
	apperror.MethodNotAllowed: http.StatusMethodNotAllowed,
	apperror.Conflict:         http.StatusConflict,
	apperror.TooLarge:         http.StatusRequestEntityTooLarge,
	apperror.UnsupportedMedia: http.StatusUnsupportedMediaType,
	apperror.Unprocessable:    http.StatusUnprocessableEntity,
	apperror.TooMany:          http.StatusTooManyRequests,
	apperror.Unavailable:      http.StatusServiceUnavailable,
}

// fail renders an error: the message for the caller, the cause only for the log.
func (s *Server) fail(c *gin.Context, err error) {
	f, present := s.report(c, err)
	if !present {
		return
	}
	body, marshalErr := json.Marshal(envelope{Error: f.Message, Code: f.Code, Fields: f.Fields})
	if marshalErr != nil {
		c.AbortWithStatus(http.StatusInternalServerError)
		return
	}
	sendJSON(c, statusOf[f.Kind], body)
}

// report ends the request, logs the cause of a 5xx and sets Retry-After, for JSON and HTML
// responses alike. present is false when the client has disconnected.
func (s *Server) report(c *gin.Context, err error) (f *apperror.Error, present bool) {
	f = apperror.From(err)
	c.Abort()
	ctx := c.Request.Context()
	if errors.Is(ctx.Err(), context.Canceled) && !outOfTime(ctx) && statusOf[f.Kind] >= http.StatusInternalServerError {
		// The client has disconnected: there is nobody to respond to and nothing to log as an
		// error, whatever the canceled context was taken for.
		c.AbortWithStatus(statusClientGone)
		return f, false
	}
	if f.Kind == apperror.Internal {
		f = cmp.Or(outage(ctx, err), f)
	}
	if db.IsFull(err) {
		s.noteFullDisk(s.clock.Now())
	}
	if errors.Is(err, photos.ErrNotStored) {
		s.photoErrors.Add(1)
	}
	switch f.Kind {
	case apperror.Internal:
		s.log.ErrorContext(ctx, "request failed", "method", c.Request.Method, "route", c.FullPath(), "error", err)
	case apperror.Unavailable:
		s.log.WarnContext(ctx, "request not served", "method", c.Request.Method, "route", c.FullPath(), "error", f)
	}
	if f.RetryAfter > 0 {
		c.Header("Retry-After", seconds(f.RetryAfter))
	}
	return f, true
}

// statusClientGone is the status in logs and metrics for a client that disconnected before its
// response (nginx's 499).
const statusClientGone = 499

func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

// noRoute answers a request for an address that does not exist.
func (s *Server) noRoute(c *gin.Context) { s.noPage(c, http.StatusNotFound, s.unknownRoute) }

// noMethod answers a request for an address that has no such method. A browser opens the address
// of a form, which has no page, when its user enters the address of the page that said why the form
// failed, or when it restores that page.
func (s *Server) noMethod(c *gin.Context) {
	s.noPage(c, http.StatusMethodNotAllowed, s.unknownMethod)
}

// noPage answers with a page to a browser that opens an address, with the error of refuse to
// everybody else.
func (s *Server) noPage(c *gin.Context, status int, refuse handler) {
	if !opensPage(c) {
		s.handle(refuse)(c)
		return
	}
	if path := c.Request.URL.Path; path == "/panel" || strings.HasPrefix(path, "/panel/") {
		s.panelPage(s.noPanelPage(refuse))(c)
		return
	}
	s.page(func(c *gin.Context) error { return showPage(c, status, s.pages.NoSuchPage) })(c)
}

// opensPage reports whether a browser opens an address of its user, outside of the APIs.
func opensPage(c *gin.Context) bool {
	if c.Request.Method != http.MethodGet || !strings.Contains(c.GetHeader("Accept"), "text/html") {
		return false
	}
	for _, prefix := range []string{"/v1/", "/panel/api/", "/rider/api/", "/public/"} {
		if strings.HasPrefix(c.Request.URL.Path, prefix) {
			return false
		}
	}
	return true
}

func (s *Server) unknownRoute(*gin.Context) error {
	return apperror.New(apperror.NotFound, "route_not_found", "La ruta no existe.")
}

func (s *Server) unknownMethod(*gin.Context) error {
	return apperror.New(apperror.MethodNotAllowed, "method_not_allowed", "La ruta no admite este método.")
}
