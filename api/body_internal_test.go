package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/internal/orders"
	"despacho/models"
)

// servePipes serves HTTP over connections in memory and returns a client of it. In a synctest
// bubble their deadlines pass on its clock, which stands still while anything runs.
func servePipes(t *testing.T, handler http.HandlerFunc) *http.Client {
	t.Helper()
	listener := pipeListener{connections: make(chan net.Conn), closed: make(chan struct{})}
	server := HTTPServer(handler, testLimit)
	go func() { _ = server.Serve(listener) }()
	transport := &http.Transport{MaxConnsPerHost: 1, DialContext: listener.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		require.NoError(t, server.Close())
	})
	return &http.Client{Transport: transport}
}

type pipeListener struct {
	connections chan net.Conn
	closed      chan struct{}
}

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case connection := <-l.connections:
		return connection, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l pipeListener) Close() error {
	close(l.closed)
	return nil
}

func (l pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (l pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.connections <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// limited is a router with nothing but the limits and a handler.
func limited(limits *Server, handle gin.HandlerFunc) http.HandlerFunc {
	routes := gin.New()
	routes.Use(limits.limitRequest)
	routes.POST("/", handle)
	return routes.ServeHTTP
}

const testLimit = 10 * time.Second

func newLimits() *Server {
	return &Server{
		config:  &config.Config{Timeouts: config.Timeouts{Request: time.Hour, Upload: time.Hour}},
		uploads: newShares(maxUploads, maxStoreUploads), clients: newCounts[netip.Prefix](0), log: slog.New(slog.DiscardHandler),
		bodyLimits: map[string]bodyLimit{},
	}
}

// drip sends one byte a second as a chunked body for as long as the server takes them, and returns
// when the outcome is there.
func drip(t *testing.T, client *http.Client, outcome <-chan error) error {
	t.Helper()
	dripping, drop := io.Pipe()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if response, err := client.Post("http://despacho/", "application/json", dripping); err == nil {
			_ = response.Body.Close()
		}
	}()
	defer func() {
		require.NoError(t, drop.Close())
		<-answered
	}()
	for range 60 {
		select {
		case err := <-outcome:
			return err
		case <-time.After(time.Second):
			_, _ = drop.Write([]byte(" "))
		}
	}
	return errors.New("the body goes on and on")
}

// A body that does not arrive in the time of its connection is incomplete, however often it moves.
func TestBody_aSlowOneTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outcome := make(chan error, 1)
		client := servePipes(t, limited(newLimits(), func(c *gin.Context) {
			_, err := io.ReadAll(c.Request.Body)
			outcome <- err
		}))
		began := time.Now()
		err := drip(t, client, outcome)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.ErrorIs(t, err, errIncompleteBody)
		require.Less(t, time.Since(began), testLimit+2*time.Second, "by the clock of the bubble")
	})
}

// A client that stops reading is disconnected.
func TestResponse_aClientThatStopsReadingIsDisconnected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := servePipes(t, limited(newLimits(), func(c *gin.Context) { c.String(http.StatusOK, strings.Repeat("x", 1<<20)) }))
		response, err := client.Post("http://despacho/", "application/json", nil)
		require.NoError(t, err)
		time.Sleep(testLimit + time.Second)
		_, err = io.ReadAll(response.Body)
		require.NoError(t, response.Body.Close())
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	})
}

// One operator has a limited number of large bodies in memory, and a store fewer; those of another
// are read.
func TestBody_uploadsOfOneOperatorAreLimited(t *testing.T) {
	t.Parallel()
	limits := newLimits()
	limits.uploads = newShares(2, 1)
	limits.bodyLimits["POST /"] = bodyLimit{bytes: 8 << 20, tooLarge: errors.New("too large")}
	one, other := orders.Caller{Operator: &models.Operator{ID: uuid.New()}}, orders.Caller{Operator: &models.Operator{ID: uuid.New()}}
	store, storeID := one, uuid.New()
	store.StoreID = &storeID
	upload := func(who orders.Caller, during func()) (failed error) {
		handler := limited(limits, func(c *gin.Context) {
			c.Set(callerKey, who)
			_, failed = io.ReadAll(c.Request.Body)
			during()
		})
		body := strings.NewReader(strings.Repeat("photo", maxStrangerBody))
		handler(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", body))
		return failed
	}
	nothing := func() {}
	require.NoError(t, upload(store, func() {
		require.ErrorIs(t, upload(store, nothing), errOverloaded)
		require.NoError(t, upload(one, func() {
			require.ErrorIs(t, upload(one, nothing), errOverloaded)
			require.NoError(t, upload(other, nothing))
		}))
	}))
	require.NoError(t, upload(store, nothing))
	require.NoError(t, upload(one, nothing))
}
