package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
	"despacho/test/closedport"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// healthState is what /readyz on ADMIN_ADDR tells.
type healthState struct {
	status                     int
	Database, Temporal, Worker string
}

// serveHealth serves the process's ADMIN_ADDR and returns a function that waits until /readyz tells
// the given state, and one that tells the status of /healthz.
func serveHealth(t *testing.T, s *apptest.Service) (waitFor func(healthState), alive func() int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.App.ServeAdmin(ctx, listener) })
	t.Cleanup(func() {
		cancel()
		serving.Wait()
	})
	waitFor = func(want healthState) {
		t.Helper()
		poll.Until(t, func() error {
			response, err := apptest.Client.Get("http://" + listener.Addr().String() + "/readyz")
			if err != nil {
				return err
			}
			defer response.Body.Close()
			got := healthState{status: response.StatusCode}
			if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
				return err
			}
			if got != want {
				return fmt.Errorf("%+v, not %+v", got, want)
			}
			return nil
		})
	}
	alive = func() int {
		response, err := apptest.Client.Get("http://" + listener.Addr().String() + "/healthz")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	return waitFor, alive
}

func TestHealth_withoutTheDatabase(t *testing.T) {
	t.Parallel()
	databaseURL := testenv.Postgres(t)
	waitFor, _ := serveHealth(t, boot(t, databaseURL, apptest.Options{}).Service)
	waitFor(healthState{http.StatusOK, "ok", "ok", "polling"})
	away := newOutage(t, databaseURL)
	away.begin()
	waitFor(healthState{http.StatusServiceUnavailable, "unavailable", "ok", "polling"})
	away.end()
	waitFor(healthState{http.StatusOK, "ok", "ok", "polling"})
}

// A worker can do nothing for orders on a database that only reads, as a standby.
func TestHealth_onAStandby(t *testing.T) {
	t.Parallel()
	databaseURL := testenv.Postgres(t)
	s := boot(t, databaseURL, apptest.Options{})
	s.App.DB.SQL().SetMaxIdleConns(0) // every statement is the first of its connection
	waitFor, _ := serveHealth(t, s.Service)
	waitFor(healthState{http.StatusOK, "ok", "ok", "polling"})
	away := newOutage(t, databaseURL)
	away.readOnly(true)
	waitFor(healthState{http.StatusServiceUnavailable, "unavailable", "ok", "polling"})
	away.readOnly(false)
	waitFor(healthState{http.StatusOK, "ok", "ok", "polling"})
}

// A Temporal without the namespace starts no workflow, however well it is.
func TestHealth_withoutTheNamespace(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{NoWorker: true, Namespace: "no-such-namespace"})
	ready := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/readyz"})
	require.Equal(t, http.StatusOK, ready.Status)
	require.Equal(t, "unreachable", ready.Data["temporal"])
	waitFor, _ := serveHealth(t, s.Service)
	waitFor(healthState{http.StatusServiceUnavailable, "ok", "unreachable", ""})
}

func TestHealth_withoutTemporal(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{NoWorker: true, TemporalAddress: closedport.Address(t)})
	waitFor, alive := serveHealth(t, s.Service)
	waitFor(healthState{http.StatusServiceUnavailable, "ok", "unreachable", ""})
	require.Equal(t, http.StatusNotFound, alive(), "no worker runs")
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = s.App.RunWorker(ctx, nil) })
	defer running.Wait()
	defer cancel()
	waitFor(healthState{http.StatusServiceUnavailable, "ok", "unreachable", "waiting"})
	require.Equal(t, http.StatusOK, alive(), "a worker that waits runs")
}
