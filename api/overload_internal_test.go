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
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/inflight"
	"despacho/internal/operators"
	"despacho/internal/orders"
	"despacho/internal/photos"
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
		"internal":     errors.New("the cause"),
		"unavailable":  errUnavailable.Because(errors.New("the cause")),
		"overloaded":   errOverloaded.Because(errors.New("the cause")),
		"not stored":   photos.ErrNotStored.Because(errors.New("the cause")),
		"disk is full": fmt.Errorf("the cause: %w", &pgconn.PgError{Code: "53100"}),
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

// With every slot taken each route refuses as it does for any other error: a page that people open
// with a page of its kind and its policy, the others with the envelope.
func TestLimitInFlight_refusesAsItsRouteDoes(t *testing.T) {
	t.Parallel()
	limits := config.Timeouts{Request: time.Hour, Upload: time.Hour}
	s, err := New(Options{Config: &config.Config{MaxRequests: 1, Timeouts: limits}, Clock: clock.System(), Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	s.inFlight <- struct{}{}
	forPeople := map[string]string{}
	for _, path := range []string{"/", "/track", "/track/", "/track/:guide_code", "/track/:guide_code/", "/files/:name", "/nada"} {
		forPeople[path] = s.pages.Policy()
	}
	for _, route := range s.panel.Routes() {
		forPeople[route.Path] = s.panel.Policy()
	}
	for _, path := range []string{"/panel/", "/panel/ingreso", "/panel/ingreso/codigo", "/panel/ingreso/inicio", "/panel/salir", operators.PasswordResetPath} {
		forPeople[path] = s.panel.Policy()
	}
	for _, route := range append(s.Routes(), gin.RouteInfo{Method: http.MethodGet, Path: "/nada"}) {
		if route.Path == "/healthz" || route.Path == "/readyz" {
			continue // they need no slot
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
	require.Len(t, s.inFlight, 1, "nobody gave back what is not theirs")
}

// A request that waits outside of its slot lets others in, has a slot again afterwards, and gives
// back what it holds at its end and no more.
func TestLimitInFlight_waitingOutside(t *testing.T) {
	t.Parallel()
	s := &Server{
		log: slog.New(slog.DiscardHandler), inFlight: make(chan struct{}, 1),
		config: &config.Config{Timeouts: config.Timeouts{Queue: time.Hour, Request: time.Hour}},
	}
	router := gin.New()
	router.Use(s.limitInFlight)
	call := func(path string) int {
		recorder := httptest.NewRecorder()
		router.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
		return recorder.Code
	}
	router.GET("/other", func(c *gin.Context) { require.Len(t, s.inFlight, 1) })
	router.GET("/waits", func(c *gin.Context) {
		require.NoError(t, inflight.WithoutSlot(c.Request.Context(), func() error {
			require.Equal(t, http.StatusOK, call("/other"))
			return nil
		}))
		require.Len(t, s.inFlight, 1)
	})
	router.GET("/fails", func(c *gin.Context) {
		require.Error(t, inflight.WithoutSlot(c.Request.Context(), func() error {
			require.Empty(t, s.inFlight)
			return errors.New("gave up")
		}))
		require.Len(t, s.inFlight, 1)
	})
	for _, path := range []string{"/waits", "/fails", "/waits", "/other"} {
		require.Equal(t, http.StatusOK, call(path))
		require.Empty(t, s.inFlight)
	}
}

// What a request did outside of its slot is done: it is not refused for want of a slot afterwards,
// however long it waits for one, unless it takes longer than a request may.
func TestLimitInFlight_returnsFromOutsideWhenASlotIsFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const queue, limit = time.Second, time.Minute
		for name, test := range map[string]struct {
			taken time.Duration
			want  int
		}{
			"freed later than a new request would wait": {10 * queue, http.StatusOK},
			"freed after the request's time":            {2 * limit, http.StatusServiceUnavailable},
		} {
			s := &Server{
				log: slog.New(slog.DiscardHandler), inFlight: make(chan struct{}, 1), clock: clock.System(),
				config: &config.Config{Timeouts: config.Timeouts{Queue: queue, Request: limit}},
			}
			router := gin.New()
			router.Use(s.limitInFlight)
			router.POST("/sends", s.handle(func(c *gin.Context) error {
				return inflight.WithoutSlot(c.Request.Context(), func() error {
					s.inFlight <- struct{}{} // another request has it now
					time.AfterFunc(test.taken, func() { <-s.inFlight })
					return nil
				})
			}))
			recorder := httptest.NewRecorder()
			router.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/sends", nil))
			require.Equal(t, test.want, recorder.Code, name)
			time.Sleep(test.taken) // on the clock of the test
			require.Empty(t, s.inFlight, name)
		}
	})
}

// The connection of a request does not give way to a new one while the service works for it, with
// its slot or outside. It does while it waits for its client or for an event.
func TestLimitInFlight_connectionIsBusy(t *testing.T) {
	t.Parallel()
	s := &Server{
		log: slog.New(slog.DiscardHandler), inFlight: make(chan struct{}, 1),
		config: &config.Config{Timeouts: config.Timeouts{Queue: time.Hour, Request: time.Hour}},
	}
	connection := &clientConn{}
	outside := func(c *gin.Context, busy bool) {
		require.True(t, connection.busy.Load())
		require.NoError(t, inflight.WithoutSlot(c.Request.Context(), func() error {
			require.Equal(t, busy, connection.busy.Load())
			return nil
		}))
		require.True(t, connection.busy.Load())
	}
	router := gin.New()
	router.Use(s.limitInFlight)
	router.POST("/works", func(c *gin.Context) {
		outside(c, true)
		_, err := io.ReadAll(c.Request.Body)
		require.NoError(t, err)
		require.True(t, connection.busy.Load())
	})
	router.POST(eventsPath, func(c *gin.Context) { outside(c, false) })
	arriving := readerFunc(func([]byte) (int, error) {
		require.False(t, connection.busy.Load(), "the body is awaited")
		return 0, io.EOF
	})
	for _, path := range []string{"/works", eventsPath} {
		request := httptest.NewRequest(http.MethodPost, path, arriving)
		router.ServeHTTP(httptest.NewRecorder(), request.WithContext(context.WithValue(t.Context(), connKey{}, connection)))
		require.False(t, connection.busy.Load(), "the response is sent")
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
