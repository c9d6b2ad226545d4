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
	// DefaultTimeout bounds one exchange, from the dial to the last byte of the answer.
	DefaultTimeout = 5 * time.Second
	// DefaultMaxConnsPerHost bounds the connections open at once to one host and port.
	DefaultMaxConnsPerHost = 16

	maxResponseHeaderBytes = 32 << 10
	// maxUnreadBytes is how much of an answer an HTTP/2 peer may push before anybody reads it.
	maxUnreadBytes = 64 << 10
)

// Options configures a guarded client; the zero value reaches public addresses alone.
type Options struct {
	// AllowNets are networks exempt from the guard; none unless given.
	AllowNets []netip.Prefix
	// RootCAs are the authorities trusted for TLS; nil means those of the system.
	RootCAs *x509.CertPool
	// Timeout bounds one exchange; zero means DefaultTimeout.
	Timeout time.Duration
	// MaxConnsPerHost bounds the connections to one host and port; zero means
	// DefaultMaxConnsPerHost.
	MaxConnsPerHost int
	// Resolver looks names up; nil means that of the system.
	Resolver *net.Resolver
}

// NewClient returns a client that connects only to public or exempt addresses and follows no
// redirects.
func NewClient(options Options) *http.Client {
	options.Timeout = cmp.Or(options.Timeout, DefaultTimeout)
	options.MaxConnsPerHost = cmp.Or(options.MaxConnsPerHost, DefaultMaxConnsPerHost)
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
		// The transport's own bound does not hold for HTTP/2 without keep-alive.
		connections: NewHostSlots(options.MaxConnsPerHost),
	}
	return &http.Transport{
		// A proxy would be dialled in the receiver's place, out of the guard's sight.
		Proxy:       nil,
		DialContext: dialer.DialContext,
		TLSClientConfig: &tls.Config{
			RootCAs:    options.RootCAs,
			MinVersion: tls.VersionTLS12,
		},
		TLSHandshakeTimeout: options.Timeout,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{MaxReceiveBufferPerStream: maxUnreadBytes},
		// Each request dials, so each request passes the guard; and a request is never lost to, nor
		// silently repeated because of, an idle connection that its peer had closed meanwhile.
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxResponseHeaderBytes,
	}
}
