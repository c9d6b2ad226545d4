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
	"despacho/internal/photos"
)

// A request that was given up is answered 503, also where the timer of its connection, which takes
// the client for gone, was faster than its own. Only a client that has really left gets no answer.
func TestReport_timeoutOrDisconnect(t *testing.T) {
	t.Parallel()
	s := &Server{log: slog.New(slog.DiscardHandler)}
	for name, test := range map[string]struct {
		timeLeft time.Duration
		want     int
	}{
		"out of time":         {-time.Second, http.StatusServiceUnavailable},
		"the client has left": {time.Hour, statusClientGone},
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
			s.fail(c, errors.Join(errors.New("reading the order"), ctx.Err()))
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
