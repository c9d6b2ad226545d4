package dev

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func trust(t *testing.T, certificates *Certificates) *tls.Config {
	t.Helper()
	authority, err := os.ReadFile(certificates.CAFile)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(authority))
	return &tls.Config{RootCAs: roots}
}

func TestLoadCertificates_serveThisMachinesNames(t *testing.T) {
	t.Parallel()
	certificates, err := LoadCertificates(filepath.Join(t.TempDir(), "certs"))
	require.NoError(t, err)
	roots := trust(t, certificates).RootCAs
	for _, name := range []string{"127.0.0.1", "localhost", "::1"} {
		_, err := certificates.Server.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots})
		require.NoError(t, err, name)
	}
	_, err = certificates.Server.Leaf.Verify(x509.VerifyOptions{DNSName: "example.com", Roots: roots})
	require.Error(t, err)
}

func TestLoadCertificates_theAuthorityVouchesForLoopbackAlone(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	certificates, err := LoadCertificates(directory)
	require.NoError(t, err)
	authority, err := pemPair{filepath.Join(directory, "ca.pem"), filepath.Join(directory, "ca-key.pem")}.load()
	require.NoError(t, err)

	template := certificateTemplate("elsewhere", time.Now(), time.Hour)
	template.IPAddresses = []net.IP{net.IPv4(192, 0, 2, 1)}
	elsewhere := pemPair{filepath.Join(directory, "elsewhere.pem"), filepath.Join(directory, "elsewhere-key.pem")}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	forged, err := elsewhere.create(template, authority.Leaf, key, authority.PrivateKey.(crypto.Signer))
	require.NoError(t, err)
	_, err = forged.Leaf.Verify(x509.VerifyOptions{DNSName: "192.0.2.1", Roots: trust(t, certificates).RootCAs})
	require.ErrorContains(t, err, "not permitted")
}

func TestLoadCertificates_areReusedUntilTheyAreAboutToExpire(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	now := time.Now()
	for name, test := range map[string]struct {
		later                     time.Duration
		sameAuthority, sameServer bool
	}{
		"a moment later":                       {time.Second, true, true},
		"31 days before the server's expires":  {certificateLife - 31*day, true, true},
		"29 days before the server's expires":  {certificateLife - 29*day, true, false},
		"after the server's has expired":       {certificateLife + day, true, false},
		"29 days before the authority expires": {authorityLife - 29*day, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			first, err := loadCertificates(directory, now)
			require.NoError(t, err)
			firstAuthority, err := os.ReadFile(first.CAFile)
			require.NoError(t, err)

			second, err := loadCertificates(directory, now.Add(test.later))
			require.NoError(t, err)
			secondAuthority, err := os.ReadFile(second.CAFile)
			require.NoError(t, err)
			require.Equal(t, test.sameAuthority, string(firstAuthority) == string(secondAuthority))
			require.Equal(t, test.sameServer, first.Server.Leaf.Equal(second.Server.Leaf))
			_, err = second.Server.Leaf.Verify(x509.VerifyOptions{
				DNSName: "127.0.0.1", Roots: trust(t, second).RootCAs, CurrentTime: now.Add(test.later),
			})
			require.NoError(t, err)
		})
	}
}

func TestLoadCertificates_replacesWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	_, err := LoadCertificates(directory)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(directory, "server-key.pem"), []byte("half a ke"), 0o600))
	_, err = LoadCertificates(directory)
	require.NoError(t, err)
}

func TestLoadCertificates_filesAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	_, err := LoadCertificates(directory)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(directory, "*"))
	require.NoError(t, err)
	require.Len(t, files, 4)
	for _, file := range files {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), file)
	}
}
