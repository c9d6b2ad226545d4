package attacks

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// slowClients are ways to make the service wait, as raw bytes. Nobody reads what it answers.
var slowClients = map[string]string{
	"a body that never comes":          "POST /panel/api/session HTTP/1.1\r\nHost: despacho\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n{",
	"a form that never comes":          "POST /panel/ingreso HTTP/1.1\r\nHost: despacho\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 200\r\n\r\ne",
	"a chunk of one byte":              "POST /panel/api/session HTTP/1.1\r\nHost: despacho\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
	"a continue that nobody heeds":     "POST /panel/api/session HTTP/1.1\r\nHost: despacho\r\nExpect: 100-continue\r\nContent-Length: 200\r\n\r\n",
	"a body for a route without a key": "POST /v1/orders HTTP/1.1\r\nHost: despacho\r\nContent-Length: 200\r\n\r\n{",
	"a body for no route":              "POST /nowhere HTTP/1.1\r\nHost: despacho\r\nContent-Length: 200\r\n\r\n{",
	"HTTP/1.0":                         "POST /panel/api/session HTTP/1.0\r\nContent-Length: 200\r\n\r\n{",
	"answers that nobody reads":        strings.Repeat("GET /openapi.yaml HTTP/1.1\r\nHost: despacho\r\n\r\n", 100),
	"headers that never end":           "GET /docs HTTP/1.1\r\nHost: despacho\r\nX-Slow: ",
	"idle":                             "",
}

// Clients that are slow to send or to read hold no connection to the database: with many more of
// them than connections, others are served.
func TestSlowClients_keepNobodyWaiting(t *testing.T) {
	t.Parallel()
	for name, sent := range slowClients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apptest.Boot(t, testenv.Postgres(t), apptest.Options{NoWorker: true, Configure: func(c *config.Config) {
				c.DatabaseMaxConns, c.Timeouts.Acquire = connections, time.Second
			}})
			tenant := s.NewTenant(t)
			for range 10 * connections {
				connection := dial(t, s)
				require.NoError(t, connection.(*net.TCPConn).SetReadBuffer(4<<10))
				_, err := io.WriteString(connection, sent)
				require.NoError(t, err)
			}
			served := 0
			poll.Until(t, func() error {
				for ; served < 10; served++ {
					answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders", Key: tenant.Key})
					if answer.Status != http.StatusOK {
						served = 0
						return errors.New(answer.Text)
					}
				}
				return nil
			})
		})
	}
}

// One address has a limited number of connections. Those that only wait give way to those that ask
// for something, and another address is not affected.
func TestConnections_ofOneAddressAreLimited(t *testing.T) {
	t.Parallel()
	const limit = 5
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.MaxConnectionsPerAddress = limit }})
	connect := func(from string) net.Conn {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		connection, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.BaseURL, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = connection.Close() })
		require.NoError(t, connection.SetDeadline(time.Now().Add(poll.Deadline)))
		return connection
	}
	// ask returns the status on a new connection; 0 if there was no answer.
	ask := func(from string) int {
		connection := connect(from)
		_, _ = fmt.Fprint(connection, "GET /public/countries HTTP/1.1\r\nHost: despacho\r\n\r\n")
		answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			return 0 // the refusal was lost with the connection
		}
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	var waiting []net.Conn
	for range 3 * limit {
		connection := connect("127.0.0.2")
		_, _ = fmt.Fprint(connection, "POST /panel/api/session HTTP/1.1\r\nHost: despacho\r\nContent-Length: 200\r\n\r\n{")
		waiting = append(waiting, connection)
	}
	require.Equal(t, http.StatusOK, ask("127.0.0.3"), "another address has connections of its own")
	poll.Until(t, func() error { // as soon as the service waits for what they send
		if status := ask("127.0.0.2"); status != http.StatusOK {
			return fmt.Errorf("status %d", status)
		}
		return nil
	})
	closed := map[net.Conn]bool{}
	poll.Until(t, func() error { // a read that began after its deadline has not looked
		for _, connection := range waiting {
			require.NoError(t, connection.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
			if _, err := io.Copy(io.Discard, connection); !errors.Is(err, os.ErrDeadlineExceeded) {
				closed[connection] = true
			}
		}
		if len(closed) <= 2*limit {
			return fmt.Errorf("%d connections were closed: more than the limit are open, or none gave way", len(closed))
		}
		return nil
	})
}

// A trusted proxy may have any number of connections; each client behind it has the limit.
func TestConnections_behindAProxyAreLimitedByClient(t *testing.T) {
	t.Parallel()
	const limit = 3
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true, Configure: func(c *config.Config) {
		c.MaxConnectionsPerAddress, c.TrustedProxies = limit, []string{"127.0.0.1"}
	}})
	ask := func(client string) *apptest.Answer {
		return s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/public/countries", Header: map[string]string{"X-Forwarded-For": client}})
	}
	for i := range 2 * limit { // an IPv6 network of 64 bits is one client
		_, err := fmt.Fprintf(dial(t, s), "POST /panel/api/session HTTP/1.1\r\nHost: despacho\r\nX-Forwarded-For: 2001:db8::%d\r\nContent-Length: 200\r\n\r\n{", i)
		require.NoError(t, err)
	}
	poll.Until(t, func() error {
		if refused := ask("2001:db8::ffff"); refused.Code != "overloaded" {
			return errors.New(refused.Text)
		}
		return nil
	})
	require.Equal(t, http.StatusOK, ask("2001:db8:0:1::1").Status)
	require.Equal(t, http.StatusOK, ask("192.0.2.1").Status)
}
