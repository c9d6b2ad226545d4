package sender

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"despacho/internal/safehttp"
)

const (
	userAgent = "Despacho-Webhooks/1"
	// DefaultPerHost is the default number of concurrent exchanges with one host and port.
	DefaultPerHost = 8
)

// Options configures a Sender; the zero value sends to public addresses with the contract's limits.
type Options struct {
	// HTTP configures the client. Its Timeout bounds the whole exchange (zero means 5 seconds); its
	// MaxConnsPerHost is set by the sender.
	HTTP safehttp.Options
	// PerHost bounds the concurrent exchanges with one host and port; zero means DefaultPerHost.
	PerHost int
	// Now is the clock for timestamps; nil means time.Now.
	Now func() time.Time
}

// Request is one event for one webhook.
type Request struct {
	// URL is the registered URL.
	URL string
	// Event is the event's name.
	Event string
	// ID is the webhook-id, the same in every attempt at a delivery.
	ID string
	// TenantID is the operator's id.
	TenantID string
	// Data is the event's data as of when it happened.
	Data json.RawMessage
	// Secrets sign the request, the current one first.
	Secrets []string
}

// Slot is a request's place among the concurrent exchanges with its receiver's host.
type Slot struct {
	// At is when the slot was acquired: the signed timestamp of the attempt.
	At time.Time
	// Waited is the time spent waiting for the slot.
	Waited time.Duration

	sender  *Sender
	request Request
	// target is nil if the URL is invalid, and failure says why.
	target  *url.URL
	failure Failure
	release func()
}

// Result is the outcome of one attempt.
type Result struct {
	Failure
	// Duration is the time from the dial to the last byte read.
	Duration time.Duration
	// StatusCode is the response's status code, 0 without a response.
	StatusCode int
	// Response is the beginning of the response body, at most 1 KiB of valid UTF-8.
	Response string
	// RetryAfter is the delay that a failing receiver asked for, or 0.
	RetryAfter time.Duration
}

// Delivered reports whether the receiver accepted the event.
func (r Result) Delivered() bool { return r.Reason == "" }

// Gone reports whether the receiver answered 410.
func (r Result) Gone() bool { return r.StatusCode == http.StatusGone }

// Sender posts events to receivers; it is safe for concurrent use.
type Sender struct {
	client *http.Client
	allow  []netip.Prefix
	hosts  *safehttp.HostSlots
	now    func() time.Time
}

// NewSender returns a sender with its own HTTP client.
func NewSender(options Options) *Sender {
	perHost := cmp.Or(options.PerHost, DefaultPerHost)
	// A cancelled exchange may still hold a connection in its TLS handshake.
	options.HTTP.MaxConnsPerHost = 2 * perHost
	now := options.Now
	if now == nil {
		now = time.Now
	}
	return &Sender{
		client: safehttp.NewClient(options.HTTP),
		allow:  options.HTTP.AllowNets,
		hosts:  safehttp.NewHostSlots(perHost),
		now:    now,
	}
}

// Reserve waits for a slot of the request's host, until ctx ends. A request whose URL is invalid needs
// none: Send says why it fails.
func (s *Sender) Reserve(ctx context.Context, request Request) (*Slot, error) {
	slot := &Slot{sender: s, request: request, release: func() {}}
	target, err := safehttp.CheckURL(request.URL, s.allow)
	if err != nil {
		slot.At, slot.failure = s.now(), failureOfURL(err)
		return slot, nil
	}
	queued := time.Now()
	release, err := s.hosts.Acquire(ctx, hostAndPort(target))
	if err != nil {
		return nil, err
	}
	slot.target, slot.release, slot.Waited, slot.At = target, release, time.Since(queued), s.now()
	return slot, nil
}

// Release frees the slot; call it once, after Send or instead of it.
func (s *Slot) Release() { s.release() }

// Send makes one attempt. The timeout begins here, not while waiting for the slot.
func (s *Slot) Send(ctx context.Context) Result {
	if s.target == nil {
		return Result{Failure: s.failure}
	}
	post, err := newPost(ctx, s.target, s.request, s.At)
	if err != nil {
		return Result{Failure: failureOf(ReasonInvalid)}
	}
	began := time.Now()
	result := s.sender.exchange(post)
	result.Duration = time.Since(began)
	if timeout := s.sender.client.Timeout; result.Duration >= timeout && (result.Delivered() || result.Reason == ReasonClosed) {
		// The response ended or broke off just as the timeout cancelled it: it counts as a timeout.
		result.Failure = failureOfTimeout(timeout)
	}
	return result
}

func newPost(ctx context.Context, target *url.URL, request Request, at time.Time) (*http.Request, error) {
	body, err := Body(request.Event, request.TenantID, request.Data, at)
	if err != nil {
		return nil, err
	}
	headers, err := Headers(request.Event, request.ID, at, body, request.Secrets...)
	if err != nil {
		return nil, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	post.Header = headers
	post.Header.Set("User-Agent", userAgent)
	return post, nil
}

// exchange sends the request and reads the response. The client's timeout spans both.
func (s *Sender) exchange(post *http.Request) Result {
	var inHandshake atomic.Bool
	traced := httptrace.WithClientTrace(post.Context(), &httptrace.ClientTrace{
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) { inHandshake.Store(err != nil) },
	})
	broken := func(err error) Failure {
		return failureOfExchange(post.Context(), err, inHandshake.Load(), s.client.Timeout)
	}

	response, err := s.client.Do(post.WithContext(traced))
	if err != nil {
		return Result{Failure: broken(err)}
	}
	defer func() { _ = response.Body.Close() }()

	result := Result{StatusCode: response.StatusCode, Failure: failureOfStatus(response.StatusCode)}
	result.Response, err = readResponse(response)
	if !result.Delivered() {
		result.RetryAfter = parseRetryAfter(response.Header.Get("Retry-After"), s.now())
	} else if err != nil {
		// A response body that does not end in time, or breaks off, is a failure.
		result.Failure = broken(err)
	}
	return result
}

func hostAndPort(target *url.URL) string {
	return net.JoinHostPort(strings.ToLower(target.Hostname()), cmp.Or(target.Port(), "443"))
}
