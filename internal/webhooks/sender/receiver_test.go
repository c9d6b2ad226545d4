package sender_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/safehttp"
	"despacho/internal/webhooks/sender"
	"despacho/test/poll"
	"despacho/test/safehttptest"
)

// receiverName resolves to the loopback address that test senders are allowed to reach.
const receiverName = "tienda.test"

// authority signs the receivers' certificates; test senders trust no other.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	roots       *x509.CertPool
}

var testAuthority = sync.OnceValue(func() *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	return &authority{certificate: certificate, key: key, roots: roots}
})

// certify signs a certificate for a name with the given lifetime, which may be negative.
func (a *authority) certify(t *testing.T, name string, lifetime time.Duration) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// newReceiver serves HTTPS on loopback under receiverName and returns its URL.
func newReceiver(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	return startReceiver(t, testAuthority().certify(t, receiverName, time.Hour), false, handler)
}

func startReceiver(t *testing.T, certificate tls.Certificate, http2 bool, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.EnableHTTP2 = http2
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return urlAt(server.Listener.Addr())
}

func urlAt(address net.Addr) string {
	port := address.(*net.TCPAddr).Port
	return "https://" + net.JoinHostPort(receiverName, strconv.Itoa(port)) + "/hook"
}

func portOf(t *testing.T, raw string) string {
	t.Helper()
	parsed, err := url.Parse(raw)
	require.NoError(t, err)
	return parsed.Port()
}

// senderOptions allow only 127.0.0.1, resolve only receiverName, and have a long timeout.
func senderOptions(t *testing.T) sender.Options {
	t.Helper()
	return sender.Options{HTTP: safehttp.Options{
		AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		RootCAs:   testAuthority().roots,
		Resolver:  safehttptest.Resolver(t, safehttptest.Names{receiverName: {"127.0.0.1"}}),
		Timeout:   poll.Deadline,
	}}
}

const (
	currentSecret  = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	previousSecret = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
	deliveryID     = "msg_0f8fad5b-d9cb-469f-a165-70867728950e"
	tenantID       = "7b0d3c1e-4a53-4b7e-9d2f-0c5f6a1e8b90"
	eventData      = `{"id":"54c51d2b-049b-53b9-93ac-fa910f68ea0d","recipient_name":"Ñusta & Co <Perú>","amount_to_collect":120.50}`
)

func deliveredEvent(receiverURL string) sender.Request {
	return sender.Request{
		URL: receiverURL, Event: "order.delivered", ID: deliveryID, TenantID: tenantID,
		Data: json.RawMessage(eventData), Secrets: []string{currentSecret},
	}
}

// send reserves a slot and makes the attempt.
func send(ctx context.Context, s *sender.Sender, request sender.Request) sender.Result {
	return s.Send(ctx, request, time.Now())
}

// contractReceiver is written only from contract section 6; it answers 200 to requests that it
// verifies.
func contractReceiver(secret string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "unreadable body", http.StatusBadRequest)
			return
		}
		timestamp := r.Header.Get("X-Service-Timestamp")
		digest := sha256.Sum256([]byte(secret + "." + timestamp + "." + string(raw)))
		if r.Header.Get("X-Service-Signature") != "sha256="+hex.EncodeToString(digest[:]) {
			http.Error(w, "wrong signature", http.StatusUnauthorized)
			return
		}
		seconds, err := strconv.ParseInt(timestamp, 10, 64)
		if age := time.Since(time.Unix(seconds, 0)); err != nil || age > 5*time.Minute || age < -5*time.Minute {
			http.Error(w, "wrong timestamp", http.StatusUnauthorized)
			return
		}
		var body struct {
			Event     string         `json:"event"`
			TenantID  string         `json:"tenant_id"`
			Timestamp string         `json:"timestamp"`
			Data      map[string]any `json:"data"`
		}
		if err := json.Unmarshal(raw, &body); err != nil || r.Method != http.MethodPost ||
			r.Header.Get("Content-Type") != "application/json" ||
			body.Event != r.Header.Get("X-Service-Event") || body.Timestamp != timestamp ||
			body.TenantID == "" || body.Data["id"] == nil {
			http.Error(w, "not an event of the contract", http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, "recibido")
	}
}

// hang does not respond until the sender disconnects, which a server notices once it has read the
// body.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
	panic(http.ErrAbortHandler) // returning would send a 200, which may still reach a disconnecting sender
}
