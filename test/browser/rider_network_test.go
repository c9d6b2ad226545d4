package browser

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// network is between a phone and the service: there may be none, and it may lose answers.
type network struct {
	*httptest.Server
	down atomic.Bool
	// lose is how many answers to what a phone sends are still to be lost, after the service has
	// done what was asked.
	lose atomic.Int64
	// loseActivation is the same for the use of a link.
	loseActivation atomic.Bool
	// requests counts what reached the service.
	requests atomic.Int64
}

func newNetwork(t *testing.T, service http.Handler) *network {
	t.Helper()
	n := &network{}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.down.Load() {
			panic(http.ErrAbortHandler)
		}
		n.requests.Add(1)
		act := r.Method == http.MethodPost && r.URL.Path == "/rider/api/acts"
		if act && n.lose.Add(-1) >= 0 || r.URL.Path == "/rider/api/activate" && n.loseActivation.Swap(false) {
			service.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		service.ServeHTTP(w, r)
	}))
	n.Config.ErrorLog = nil
	t.Cleanup(n.Close)
	return n
}
