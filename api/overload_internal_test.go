package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/db"
	"despacho/internal/events"
	"despacho/internal/operators"
	"despacho/internal/orders"
	"despacho/internal/photos"
	"despacho/models"
)

// A request that was given up is answered 503, also where the timer of its connection, which takes
// the client for gone, was faster than its own. Only a client that has really left gets no answer.
func TestReport_timeoutOrDisconnect(t *testing.T) {
	t.Parallel()
	s := &Server{log: slog.New(slog.DiscardHandler)}
	reading := errors.Join(errors.New("reading the order"), context.Canceled)
	moving := orders.ErrMoveUnconfirmed.Because(context.Canceled)
	for name, test := range map[string]struct {
		timeLeft time.Duration
		err      error
		want     int
	}{
		"out of time":                         {-time.Second, reading, http.StatusServiceUnavailable},
		"the client has left":                 {time.Hour, reading, statusClientGone},
		"out of time during a move":           {-time.Second, moving, http.StatusServiceUnavailable},
		"the client has left during a move":   {time.Hour, moving, statusClientGone},
		"refused, though the client has left": {time.Hour, orders.ErrOrderNotFound, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connection, leave := context.WithCancel(t.Context())
			leave()
			ctx, cancel := context.WithDeadline(connection, time.Now().Add(test.timeLeft))
			defer cancel()
			require.ErrorIs(t, ctx.Err(), context.Canceled)
			recorder := httptest.NewRecorder()
			c, _ := gin.CreateTestContext(recorder)
			c.Request = httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx)
			s.fail(c, test.err)
			c.Writer.WriteHeaderNow()
			require.Equal(t, test.want, recorder.Code)
			require.Equal(t, test.want == http.StatusServiceUnavailable, recorder.Header().Get("Retry-After") != "")
		})
	}
}

// The cause of every 5xx is logged, in one line with the route.
func TestReport_logsTheCauseOfEvery5xx(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"internal":      errors.New("the cause"),
		"unavailable":   errUnavailable.Because(errors.New("the cause")),
		"overloaded":    errOverloaded.Because(errors.New("the cause")),
		"no connection": fmt.Errorf("the cause: %w", db.ErrBusy),
		"not stored":    photos.ErrNotStored.Because(errors.New("the cause")),
		"disk is full":  fmt.Errorf("the cause: %w", &pgconn.PgError{Code: "53100"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logged bytes.Buffer
			s := &Server{log: slog.New(slog.NewTextHandler(&logged, nil)), clock: clock.System()}
			c, _ := gin.CreateTestContext(httptest.NewRecorder())
			c.Request = httptest.NewRequest(http.MethodGet, "/", nil)
			s.fail(c, err)
			require.GreaterOrEqual(t, c.Writer.Status(), http.StatusInternalServerError)
			require.Contains(t, logged.String(), "the cause")
		})
	}
}

// A request that is refused before its handler is refused by its route as for any other error: a
// page that people open with a page of its kind and its policy, the others with the envelope.
func TestLimitRequest_refusesAsItsRouteDoes(t *testing.T) {
	t.Parallel()
	s, err := New(Options{
		Config: &config.Config{
			MaxConnectionsPerAddress: 1, TrustedProxies: []string{"192.0.2.1"}, Timeouts: config.Timeouts{Request: time.Hour, Upload: time.Hour},
		},
		Clock: clock.System(), Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	_, entered := s.clients.enter(clientNet(netip.MustParseAddr("192.0.2.1"))) // httptest's client
	require.True(t, entered)
	forPeople := map[string]string{}
	for _, path := range []string{"/", "/track", "/track/", "/track/:guide_code", "/track/:guide_code/", "/track/:guide_code/ayuda", "/reparto", "/reparto/",
		"/files/:name", "/nada"} {
		forPeople[path] = s.pages.Policy()
	}
	for _, route := range s.panel.Routes() {
		forPeople[route.Path] = s.panel.Policy()
	}
	for _, path := range []string{"/panel/", "/panel/ingreso", "/panel/ingreso/codigo", "/panel/salir", operators.PasswordResetPath} {
		forPeople[path] = s.panel.Policy()
	}
	for _, route := range append(s.Routes(), gin.RouteInfo{Method: http.MethodGet, Path: "/nada"}) {
		if route.Path == "/healthz" || route.Path == "/readyz" {
			continue // they are exempt
		}
		name := route.Method + " " + route.Path
		request := httptest.NewRequest(route.Method, route.Path, nil)
		request.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
		recorder := httptest.NewRecorder()
		s.Handler().ServeHTTP(recorder, request)
		require.Equal(t, http.StatusServiceUnavailable, recorder.Code, name)
		require.Equal(t, "1", recorder.Header().Get("Retry-After"), name)
		if policy := forPeople[route.Path]; policy != "" {
			require.Equal(t, "text/html; charset=utf-8", recorder.Header().Get("Content-Type"), name)
			require.Equal(t, policy, recorder.Header().Get("Content-Security-Policy"), name)
			require.Contains(t, recorder.Body.String(), "<h1>", name)
			continue
		}
		require.Equal(t, jsonType, recorder.Header().Get("Content-Type"), name)
		require.Contains(t, recorder.Body.String(), `"code":"overloaded"`, name)
	}
}

// The connection of a request does not give way to a new one while the service works for it. It
// does while it waits for its client or for an event.
func TestLimitRequest_connectionIsBusy(t *testing.T) {
	t.Parallel()
	s := newLimits()
	connection := &clientConn{}
	router := gin.New()
	router.Use(s.limitRequest)
	router.POST("/works", func(c *gin.Context) {
		require.True(t, connection.busy.Load())
		_, err := io.ReadAll(c.Request.Body)
		require.NoError(t, err)
		require.True(t, connection.busy.Load())
	})
	router.GET(eventsPath, func(*gin.Context) { require.False(t, connection.busy.Load()) })
	arriving := readerFunc(func([]byte) (int, error) {
		require.False(t, connection.busy.Load(), "the body is awaited")
		return 0, io.EOF
	})
	for path, method := range map[string]string{"/works": http.MethodPost, eventsPath: http.MethodGet} {
		request := httptest.NewRequest(method, path, arriving)
		router.ServeHTTP(httptest.NewRecorder(), request.WithContext(context.WithValue(t.Context(), connKey{}, connection)))
		require.False(t, connection.busy.Load(), "the response is sent")
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// What is counted for one is not counted for another, and counts no more once it has ended.
func TestCounts(t *testing.T) {
	t.Parallel()
	open := newCounts[string](2)
	leave, ok := open.enter("one")
	require.True(t, ok)
	_, ok = open.enter("one")
	require.True(t, ok)
	_, ok = open.enter("one")
	require.False(t, ok)
	_, ok = open.enter("other")
	require.True(t, ok)
	leave()
	leave() // does nothing
	_, ok = open.enter("one")
	require.True(t, ok)
	_, ok = open.enter("one")
	require.False(t, ok)
}

// Requests that wait for events with a test key take no place of those with a live one, and the
// other way round.
func TestWaits_ofEachMode(t *testing.T) {
	t.Parallel()
	s, operator := &Server{waits: newShares(1, 1)}, &models.Operator{ID: uuid.New()}
	for _, test := range []bool{false, true} {
		_, err := s.enterWait(orders.Caller{Operator: operator, Test: test})
		require.NoError(t, err)
		_, err = s.enterWait(orders.Caller{Operator: operator, Test: test})
		require.ErrorIs(t, err, errOverloaded)
	}
}

// net/http takes a client for gone when the time of its connection is over, so no request may be
// worked on for longer.
func TestTimeouts_connectionOutlastsEveryRequest(t *testing.T) {
	t.Parallel()
	timeouts := config.DefaultTimeouts()
	for _, limit := range []time.Duration{timeouts.Request + events.MaxWait, timeouts.Upload, timeouts.Bulk} {
		require.Greater(t, timeouts.Connection, limit)
	}
}
