package api

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"despacho/internal/events"
)

func TestDrain_waitsWhileRequestsCome(t *testing.T) {
	t.Parallel()
	const delay = 3 * time.Second
	for name, test := range map[string]struct {
		path         string
		requests     int // one in each half second
		drainedAfter time.Duration
	}{
		"no requests":                  {path: "/v1/orders", requests: 0, drainedAfter: delay},
		"a balancer that notices late": {path: "/v1/orders", requests: 9, drainedAfter: 4500*time.Millisecond + delay/3},
		"only probes":                  {path: "/readyz", requests: 30, drainedAfter: delay},
		"requests without end":         {path: "/v1/orders", requests: 30, drainedAfter: maxDrain * delay},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &Server{events: events.New(nil, nil, nil, nil)}
				router := gin.New()
				router.Use(s.closeWhenDraining)
				router.GET(test.path, func(*gin.Context) {})
				began := time.Now()
				drained := make(chan time.Duration, 1)
				go func() {
					s.Drain(delay)
					drained <- time.Since(began)
				}()
				for range test.requests {
					time.Sleep(500 * time.Millisecond)
					answer := httptest.NewRecorder()
					router.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, test.path, nil))
					require.Equal(t, "close", answer.Header().Get("Connection"))
				}
				// The time is the bubble's own: it does not depend on how busy the machine is.
				took := <-drained
				require.GreaterOrEqual(t, took, test.drainedAfter)
				require.Less(t, took, test.drainedAfter+delay/3+time.Millisecond)
			})
		})
	}
}
