package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
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
	"despacho/internal/fairpool"
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

// limited is a router with nothing but the limits and a handler.
func limited(limits *Server, handle gin.HandlerFunc) http.HandlerFunc {
	routes := gin.New()
	routes.Use(limits.limitInFlight)
	routes.POST("/", handle)
	return routes.ServeHTTP
}

const testLimit = 10 * time.Second

func newLimits() *Server {
	return &Server{
		config:   &config.Config{Timeouts: config.Timeouts{Queue: time.Second, Request: testLimit, Upload: 6 * testLimit, Progress: testLimit}},
		inFlight: make(chan struct{}, 1), uploads: fairpool.New(2, 1), log: slog.New(slog.DiscardHandler), clients: newClientCounts(0),
		bodyLimits: map[string]bodyLimit{},
	}
}

// A request that is worked on for longer than its body may take costs neither itself nor the next
// one on its connection their lives.
func TestBody_theDeadlineIsRemovedAfterIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := servePipes(t, limited(newLimits(), func(c *gin.Context) {
			_, err := io.ReadAll(c.Request.Body)
			_, _ = c.Request.Body.Read(make([]byte, 1)) // as who looks whether anything follows
			connection := context.WithoutCancel(c.Request.Context())
			if err == nil {
				select {
				case <-connection.Done():
					err = connection.Err()
				case <-time.After(3 * testLimit): // work
				}
			}
			if err != nil {
				c.String(http.StatusInternalServerError, err.Error())
			}
		}))
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

func TestBody_aSlowOneTimesOut(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]bodyLimit{"usual": usualBody, "upload": {bytes: 8 << 20, tooLarge: errors.New("too large")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				outcome := make(chan error, 1)
				limits := newLimits()
				limits.bodyLimits["POST /"] = limit
				client := servePipes(t, limited(limits, func(c *gin.Context) {
					_, err := io.ReadAll(c.Request.Body)
					outcome <- err
				}))
				began := time.Now()
				err := drip(t, client, outcome)
				require.ErrorIs(t, err, os.ErrDeadlineExceeded)
				require.ErrorIs(t, err, errIncompleteBody)
				require.Less(t, time.Since(began), testLimit+2*time.Second, "by the clock of the bubble: bytes that drip earn no time")
			})
		})
	}
}

// The only slot is free while a body is on its way and while a response is read.
func TestLimitInFlight_slowClientsHoldNoSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limits := newLimits()
		handler := limited(limits, func(c *gin.Context) {
			content, err := io.ReadAll(c.Request.Body)
			require.NoError(t, err)
			require.Len(t, limits.inFlight, 1, "work has a slot")
			c.String(http.StatusOK, strings.Repeat("x", 1<<20)+string(content))
		})
		client := servePipes(t, handler)
		slowBody, end := io.Pipe()
		answered := make(chan string, 1)
		go func() {
			response, err := client.Post("http://despacho/", "application/json", slowBody)
			if err != nil {
				answered <- err.Error()
				return
			}
			time.Sleep(testLimit / 2) // a pipe holds nothing: the server waits
			content, _ := io.ReadAll(response.Body)
			_ = response.Body.Close()
			answered <- string(content[1<<20:])
		}()
		_, err := end.Write([]byte("he"))
		require.NoError(t, err)
		synctest.Wait()
		require.Empty(t, limits.inFlight, "the body is on its way")
		_, err = end.Write([]byte("llo"))
		require.NoError(t, err)
		require.NoError(t, end.Close())
		synctest.Wait()
		require.Empty(t, limits.inFlight, "the response is on its way")
		require.Empty(t, answered)
		require.Equal(t, "hello", <-answered)
	})
}

// A client that stops reading is disconnected.
func TestSend_aClientThatStopsReadingIsDisconnected(t *testing.T) {
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

// A process that stood still between a request's arrival and its body's does not blame the client.
func TestBody_standingStillIsNotTheClientsFault(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outcome := make(chan error, 1)
		client := servePipes(t, limited(newLimits(), func(c *gin.Context) {
			time.Sleep(2 * testLimit)
			_, err := io.ReadAll(c.Request.Body)
			outcome <- err
		}))
		response, err := client.Post("http://despacho/", "application/json", strings.NewReader("{}"))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		if err := <-outcome; err != nil {
			require.NotErrorIs(t, err, errIncompleteBody)
		}
	})
}
