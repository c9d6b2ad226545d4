package webhooks_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/test/closedport"
)

// startReceiver serves HTTPS and returns the URL.
func startReceiver(t *testing.T, handler http.HandlerFunc, change func(*httptest.Server)) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if change != nil {
		change(server)
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL + "/hook"
}

// slowReceiver responds only when the sender has disconnected or the test is over.
type slowReceiver struct {
	over chan struct{}
	once sync.Once
}

func newSlowReceiver() *slowReceiver { return &slowReceiver{over: make(chan struct{})} }

func (p *slowReceiver) release() { p.once.Do(func() { close(p.over) }) }

// hang reads the request and does not respond.
func (p *slowReceiver) hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	select {
	case <-r.Context().Done():
		panic(http.ErrAbortHandler) // returning would send a 200, which may still reach a disconnecting sender
	case <-p.over:
	}
}

// drip writes one byte after another until the sender disconnects.
func (p *slowReceiver) drip(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	now := time.NewTicker(100 * time.Millisecond)
	defer now.Stop()
	for {
		_, _ = io.WriteString(w, "a")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-now.C:
		case <-r.Context().Done():
			panic(http.ErrAbortHandler) // must not look like the end of the response
		case <-p.over:
			panic(http.ErrAbortHandler)
		}
	}
}

// truncatedResponse announces a longer body than it sends.
func truncatedResponse(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, "reci")
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func tenMegabytes(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, strings.Repeat("a", 10<<20))
}

// listeningOn makes a server listen on a loopback address that its certificate does not name.
func listeningOn(t *testing.T, address string) func(*httptest.Server) {
	return func(server *httptest.Server) {
		listener, err := net.Listen("tcp", address)
		require.NoError(t, err)
		require.NoError(t, server.Listener.Close())
		server.Listener = listener
	}
}

// certified gives a server a certificate for 127.0.0.1, signed by the service's authority and valid
// until the given time.
func certified(t *testing.T, until time.Time) func(*httptest.Server) {
	return func(server *httptest.Server) {
		trusted := httptest.NewTLSServer(http.NotFoundHandler())
		defer trusted.Close()
		template := &x509.Certificate{
			SerialNumber: big.NewInt(2), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
			NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		signed, err := x509.CreateCertificate(rand.Reader, template, trusted.Certificate(), key.Public(), trusted.TLS.Certificates[0].PrivateKey)
		require.NoError(t, err)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}}}
	}
}

// selfSigned gives a server a self-signed certificate.
func selfSigned(t *testing.T) func(*httptest.Server) {
	return func(server *httptest.Server) {
		template := &x509.Certificate{
			SerialNumber: big.NewInt(3), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		}
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		require.NoError(t, err)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}}}
	}
}

func enableHTTP2(server *httptest.Server) { server.EnableHTTP2 = true }

// closedAddress is the URL of a port that refuses connections.
func closedAddress(t *testing.T) string { return "https://" + closedport.Address(t) }
