package dev

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	authorityLife   = 10 * 365 * 24 * time.Hour
	certificateLife = 397 * 24 * time.Hour // the longest that browsers accept
	// renewBefore leaves the clients that trust the files time to read the new ones.
	renewBefore = 30 * 24 * time.Hour
)

// Certificates are a development certificate authority and a server certificate for this machine's
// own names.
type Certificates struct {
	// CAFile is the PEM file to trust.
	CAFile string
	// Server is what a TLS listener presents.
	Server tls.Certificate
}

// LoadCertificates reads the certificates kept in directory, making or renewing what is missing or
// about to expire.
func LoadCertificates(directory string) (*Certificates, error) {
	certificates, err := loadCertificates(directory, time.Now())
	if err != nil {
		return nil, fmt.Errorf("development certificates in %s: %w", directory, err)
	}
	return certificates, nil
}

func loadCertificates(directory string, now time.Time) (*Certificates, error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, err
	}
	authorityFiles := pemPair{filepath.Join(directory, "ca.pem"), filepath.Join(directory, "ca-key.pem")}
	authority, err := authorityFiles.load()
	if err != nil || !validFor(authority.Leaf, now, renewBefore) {
		if authority, err = newAuthority(now, authorityFiles); err != nil {
			return nil, err
		}
	}
	serverFiles := pemPair{filepath.Join(directory, "server.pem"), filepath.Join(directory, "server-key.pem")}
	server, err := serverFiles.load()
	if err != nil || !validFor(server.Leaf, now, renewBefore) || server.Leaf.CheckSignatureFrom(authority.Leaf) != nil {
		if server, err = newServerCertificate(now, authority, serverFiles); err != nil {
			return nil, err
		}
	}
	return &Certificates{CAFile: authorityFiles.certificate, Server: server}, nil
}

func validFor(certificate *x509.Certificate, now time.Time, longer time.Duration) bool {
	return now.After(certificate.NotBefore) && now.Add(longer).Before(certificate.NotAfter)
}

// newAuthority is constrained to loopback names, so that a leaked key is of no use elsewhere.
func newAuthority(now time.Time, files pemPair) (tls.Certificate, error) {
	template := certificateTemplate("Despacho development CA", now, authorityLife)
	template.IsCA = true
	template.MaxPathLenZero = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	template.PermittedDNSDomainsCritical = true
	template.PermittedDNSDomains = []string{"localhost"}
	template.PermittedIPRanges = []*net.IPNet{
		{IP: net.IPv4(127, 0, 0, 0).To4(), Mask: net.CIDRMask(8, 32)},
		{IP: net.IPv6loopback, Mask: net.CIDRMask(128, 128)},
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	return files.create(template, template, key, key)
}

func newServerCertificate(now time.Time, authority tls.Certificate, files pemPair) (tls.Certificate, error) {
	template := certificateTemplate("localhost", now, certificateLife)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = []string{"localhost"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	return files.create(template, authority.Leaf, key, authority.PrivateKey.(crypto.Signer))
}

func certificateTemplate(name string, now time.Time, life time.Duration) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)) // never fails: the program ends first
	return &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             now.Add(-time.Hour), // for clocks that disagree
		NotAfter:              now.Add(life),
		BasicConstraintsValid: true,
	}
}

// pemPair is the files of a certificate and its key.
type pemPair struct{ certificate, key string }

func (p pemPair) load() (tls.Certificate, error) { return tls.LoadX509KeyPair(p.certificate, p.key) }

// create signs template with the issuer's key, writes both files and reads them back.
func (p pemPair) create(
	template, issuer *x509.Certificate, key *ecdsa.PrivateKey, issuerKey crypto.Signer,
) (tls.Certificate, error) {
	signed, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), issuerKey)
	if err != nil {
		return tls.Certificate{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	err = errors.Join(
		writePrivately(p.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
		writePrivately(p.certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})),
	)
	if err != nil {
		return tls.Certificate{}, err
	}
	return p.load()
}

// writePrivately replaces a file whole, readable by its owner alone.
func writePrivately(path string, content []byte) error {
	fresh := path + ".new"
	if err := os.WriteFile(fresh, content, 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}
