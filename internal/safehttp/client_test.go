package safehttp_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/safehttp"
	"despacho/test/poll"
	"despacho/test/safehttptest"
)

// certifiedName is a name in the certificate that httptest servers show.
const certifiedName = "example.com"

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

func newServer(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server, roots
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(address, "https://"))
	require.NoError(t, err)
	return port
}

func get(t *testing.T, client *http.Client, url string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := client.Do(request)
	if err == nil {
		t.Cleanup(func() { _ = response.Body.Close() })
	}
	return response, err
}

func TestClientNeverConnectsToARefusedAddress(t *testing.T) {
	t.Parallel()
	resolver := safehttptest.Resolver(t, safehttptest.Names{
		"inside.test": {"127.0.0.1"},
		"mapped.test": {"::ffff:127.0.0.1"},
	})
	for _, host := range []string{
		"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]", "inside.test", "mapped.test",
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			tripwire := safehttptest.NewTripwire(t, "127.0.0.1:0")
			client := safehttp.NewClient(safehttp.Options{Resolver: resolver, Timeout: poll.Deadline})

			_, err := get(t, client, "https://"+host+":"+portOf(t, tripwire.Addr()))

			var refusal *safehttp.AddressError
			require.ErrorAs(t, err, &refusal)
			tripwire.RequireUntouched(t)
		})
	}
}

func TestClientConnectsInsideAllowedNetworks(t *testing.T) {
	t.Parallel()
	server, roots := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
	})
	resolver := safehttptest.Resolver(t, safehttptest.Names{certifiedName: {"127.0.0.1"}})
	client := safehttp.NewClient(safehttp.Options{AllowNets: loopback, RootCAs: roots, Resolver: resolver, Timeout: poll.Deadline})

	for _, url := range []string{server.URL, "https://" + certifiedName + ":" + portOf(t, server.URL)} {
		response, err := get(t, client, url)
		require.NoError(t, err)
		protocol, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, "HTTP/2.0", string(protocol))
	}
}

func TestClientChecksEachAddressOfAName(t *testing.T) {
	t.Parallel()
	server, roots := newServer(t, func(http.ResponseWriter, *http.Request) {})
	port := portOf(t, server.URL)
	tripwire := safehttptest.NewTripwire(t, "127.0.0.2:"+port)
	resolver := safehttptest.Resolver(t, safehttptest.Names{certifiedName: {"127.0.0.2 127.0.0.1"}})
	client := safehttp.NewClient(safehttp.Options{AllowNets: loopback, RootCAs: roots, Resolver: resolver, Timeout: poll.Deadline})

	_, err := get(t, client, "https://"+certifiedName+":"+port)

	require.NoError(t, err)
	tripwire.RequireUntouched(t)
}

func TestClientRefusesANameThatMovesInside(t *testing.T) {
	t.Parallel()
	server, roots := newServer(t, func(http.ResponseWriter, *http.Request) {})
	port := portOf(t, server.URL)
	tripwire := safehttptest.NewTripwire(t, "127.0.0.2:"+port)
	resolver := safehttptest.Resolver(t, safehttptest.Names{certifiedName: {"127.0.0.1", "127.0.0.2"}})
	client := safehttp.NewClient(safehttp.Options{AllowNets: loopback, RootCAs: roots, Resolver: resolver, Timeout: poll.Deadline})

	_, err := get(t, client, "https://"+certifiedName+":"+port)
	require.NoError(t, err)

	_, err = get(t, client, "https://"+certifiedName+":"+port)
	var refusal *safehttp.AddressError
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, "127.0.0.2", refusal.Addr.String())
	tripwire.RequireUntouched(t)
}

func TestClientFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	tripwire := safehttptest.NewTripwire(t, "127.0.0.1:0")
	server, roots := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+tripwire.Addr(), http.StatusFound)
	})
	client := safehttp.NewClient(safehttp.Options{AllowNets: loopback, RootCAs: roots, Timeout: poll.Deadline})

	response, err := get(t, client, server.URL)

	require.NoError(t, err)
	require.Equal(t, http.StatusFound, response.StatusCode)
	tripwire.RequireUntouched(t)
}

func TestClientIgnoresProxyVariables(t *testing.T) {
	tripwire := safehttptest.NewTripwire(t, "127.0.0.1:0")
	for _, variable := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(variable, "http://"+tripwire.Addr())
	}
	server, roots := newServer(t, func(http.ResponseWriter, *http.Request) {})
	resolver := safehttptest.Resolver(t, safehttptest.Names{certifiedName: {"127.0.0.1"}})
	client := safehttp.NewClient(safehttp.Options{AllowNets: loopback, RootCAs: roots, Resolver: resolver, Timeout: poll.Deadline})

	_, err := get(t, client, "https://"+certifiedName+":"+portOf(t, server.URL))

	require.NoError(t, err)
	tripwire.RequireUntouched(t)
}

func TestClientVerifiesTLS(t *testing.T) {
	t.Parallel()
	server, roots := newServer(t, func(http.ResponseWriter, *http.Request) {})
	t.Run("unknown authority", func(t *testing.T) {
		t.Parallel()
		client := safehttp.NewClient(safehttp.Options{AllowNets: loopback, RootCAs: x509.NewCertPool(), Timeout: poll.Deadline})
		_, err := get(t, client, server.URL)
		var failure *tls.CertificateVerificationError
		require.ErrorAs(t, err, &failure)
	})
	t.Run("below TLS 1.2", func(t *testing.T) {
		t.Parallel()
		old := httptest.NewUnstartedServer(http.NotFoundHandler())
		old.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
		old.StartTLS()
		t.Cleanup(old.Close)
		client := safehttp.NewClient(safehttp.Options{AllowNets: loopback, RootCAs: roots, Timeout: poll.Deadline})
		_, err := get(t, client, old.URL)
		require.ErrorContains(t, err, "protocol version")
	})
}

func TestClientBoundsTheAnswer(t *testing.T) {
	t.Parallel()
	t.Run("headers", func(t *testing.T) {
		t.Parallel()
		server, roots := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("a", 64<<10))
		})
		client := safehttp.NewClient(safehttp.Options{AllowNets: loopback, RootCAs: roots, Timeout: poll.Deadline})
		_, err := get(t, client, server.URL)
		require.Error(t, err)
	})
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		server, roots := newServer(t, func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			panic(http.ErrAbortHandler) // returning would be a 200, which may still arrive
		})
		client := safehttp.NewClient(safehttp.Options{AllowNets: loopback, RootCAs: roots, Timeout: 100 * time.Millisecond})
		_, err := get(t, client, server.URL)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestClientClosesItsConnections(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 10)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			ended <- err
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: anything\r\n\r\n")
		_, err = conn.Read(make([]byte, 1))
		ended <- err
	}))
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	var response *http.Response
	var err error
	// The same limit spans the answer, which must come in time, and what follows it: a busy machine
	// gets more of it.
	for limit := time.Second; limit < poll.Deadline; limit *= 2 {
		client := safehttp.NewClient(safehttp.Options{AllowNets: loopback, RootCAs: roots, Timeout: limit})
		if response, err = get(t, client, server.URL); !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode)
	_, err = io.ReadAll(response.Body)

	require.Error(t, err, "the transport itself would read an unasked upgrade for ever")
	require.NoError(t, response.Body.Close())
	require.ErrorIs(t, <-ended, io.EOF)
}
