package api

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
)

// servePipes serves HTTP over connections in memory and returns a client of it. In a synctest
// bubble their deadlines pass on its clock, which stands still while anything runs.
func servePipes(t *testing.T, handler http.HandlerFunc) *http.Client {
	t.Helper()
	listener := pipeListener{connections: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: handler}
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

// A request that is worked on for longer than its body may take costs neither itself nor the next
// one on its connection their lives.
func TestWithReadDeadline_isRemovedAfterTheBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 10 * time.Second
		client := servePipes(t, func(w http.ResponseWriter, r *http.Request) {
			withReadDeadline(w, r, limit)
			_, err := io.ReadAll(r.Body)
			_, _ = r.Body.Read(make([]byte, 1)) // as who looks whether anything follows
			if err == nil {
				select {
				case <-r.Context().Done():
					err = r.Context().Err()
				case <-time.After(3 * limit): // work
				}
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
		for _, content := range []string{"{}", "", "{}", ""} {
			request, err := http.NewRequest(http.MethodPost, "http://despacho/", strings.NewReader(content))
			require.NoError(t, err)
			response, err := client.Do(request)
			require.NoError(t, err, "body %q", content)
			answer, err := io.ReadAll(response.Body)
			require.NoError(t, errors.Join(err, response.Body.Close()))
			require.Equal(t, http.StatusOK, response.StatusCode, "body %q: %s", content, answer)
		}
	})
}

func TestLimitInFlight_timesOutASlowBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 10 * time.Second
		outcome := make(chan error, 1)
		limits := &Server{config: &config.Config{Timeouts: config.Timeouts{Request: limit, Upload: 3 * limit}}, inFlight: make(chan struct{}, 1)}
		routes := gin.New()
		routes.Use(limits.limitInFlight)
		routes.POST("/", func(c *gin.Context) {
			_, err := io.ReadAll(c.Request.Body)
			outcome <- err
		})
		client := servePipes(t, routes.ServeHTTP)
		began := time.Now()
		dripping, drop := io.Pipe()
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			if response, err := client.Post("http://despacho/", "application/json", dripping); err == nil {
				_ = response.Body.Close()
			}
		}()
		for drips := 0; ; drips++ { // one byte a second, for as long as the server takes them
			select {
			case err := <-outcome:
				require.ErrorIs(t, err, os.ErrDeadlineExceeded)
				require.Equal(t, limit, time.Since(began), "by the clock of the bubble")
				require.NoError(t, drop.Close())
				<-answered
				return
			case <-time.After(time.Second):
				if drips == 60 {
					t.Error("the body goes on and on")
					require.NoError(t, drop.Close())
					<-answered
					return
				}
				_, _ = drop.Write([]byte(" "))
			}
		}
	})
}
