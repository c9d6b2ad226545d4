package safehttp

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"time"
)

const (
	// DefaultTimeout bounds one request, from the dial to the last byte of the response.
	DefaultTimeout = 5 * time.Second

	maxResponseHeaderBytes = 32 << 10
	// maxUnreadBytes is how much of a response an HTTP/2 peer may send before it is read.
	maxUnreadBytes = 64 << 10
)

// Options configures a client. The zero value only reaches public addresses.
type Options struct {
	// AllowNets are networks that may be reached although they are not public.
	AllowNets []netip.Prefix
	// RootCAs are the authorities trusted for TLS; nil means those of the system.
	RootCAs *x509.CertPool
	// Timeout bounds one request; zero means DefaultTimeout.
	Timeout time.Duration
	// Resolver resolves host names; nil means the system's.
	Resolver *net.Resolver
}

// NewClient returns a client that only connects to public or allowed addresses and follows no
// redirects. Its callers bound their requests.
func NewClient(options Options) *http.Client {
	options.Timeout = cmp.Or(options.Timeout, DefaultTimeout)
	return &http.Client{
		Transport: newTransport(options),
		Timeout:   options.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

func newTransport(options Options) *http.Transport {
	dialer := &boundDialer{
		Dialer: net.Dialer{
			Resolver:       options.Resolver,
			ControlContext: refusePrivate(options.AllowNets),
		},
		timeout: options.Timeout,
	}
	return &http.Transport{
		// A proxy would connect to the receiver in our place, without the address check.
		Proxy:       nil,
		DialContext: dialer.DialContext,
		TLSClientConfig: &tls.Config{
			RootCAs:    options.RootCAs,
			MinVersion: tls.VersionTLS12,
		},
		TLSHandshakeTimeout: options.Timeout,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{MaxReceiveBufferPerStream: maxUnreadBytes},
		// Without keep-alive each request dials and is checked. It also cannot fail, or be silently
		// repeated, because the peer closed an idle connection.
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxResponseHeaderBytes,
	}
}
