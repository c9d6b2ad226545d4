package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/inflight"
	"despacho/internal/photos"
	"despacho/orders"
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
		require.NoError(t, inflight.Outside(c.Request.Context(), func() error {
			require.Equal(t, http.StatusOK, call("/other"))
			return nil
		}))
		require.Len(t, s.inFlight, 1)
	})
	router.GET("/fails", func(c *gin.Context) {
		require.Error(t, inflight.Outside(c.Request.Context(), func() error { return errors.New("gave up") }))
		require.Empty(t, s.inFlight)
	})
	for _, path := range []string{"/waits", "/fails", "/waits", "/other"} {
		require.Equal(t, http.StatusOK, call(path))
		require.Empty(t, s.inFlight)
	}
}
