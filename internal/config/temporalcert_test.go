package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
)

// A certificate is renewed in its files while the processes run, and the old one expires.
func TestTemporalOptions_aRenewedCertificate(t *testing.T) {
	var serial int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		serial = r.TLS.PeerCertificates[0].SerialNumber.Int64()
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	defer server.Close()
	directory := t.TempDir()
	certificate, key, authority := filepath.Join(directory, "client.pem"), filepath.Join(directory, "client.key"), filepath.Join(directory, "ca.pem")
	require.NoError(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	t.Setenv("TEMPORAL_TLS_CLIENT_CERT_PATH", certificate)
	t.Setenv("TEMPORAL_TLS_CLIENT_KEY_PATH", key)
	t.Setenv("TEMPORAL_TLS_SERVER_CA_CERT_PATH", authority)
	issueCertificate(t, 1, certificate, key)
	options, err := config.TemporalOptions()
	require.NoError(t, err)
	connect := func() int64 {
		transport := &http.Transport{TLSClientConfig: options.ConnectionOptions.TLS.Clone(), DisableKeepAlives: true}
		response, err := (&http.Client{Transport: transport}).Get(server.URL)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return serial
	}
	require.EqualValues(t, 1, connect())
	issueCertificate(t, 2, certificate, key)
	require.EqualValues(t, 2, connect())
	require.NoError(t, os.Remove(key))
	require.EqualValues(t, 1, connect(), "between two files that are replaced one after the other")
}

func issueCertificate(t *testing.T, serial int64, certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	issued, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: issued}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), 0o600))
}
