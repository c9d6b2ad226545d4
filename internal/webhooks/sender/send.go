package sender

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"

	"despacho/internal/safehttp"
)

const userAgent = "Despacho-Webhooks/1"

// Options configures a Sender; the zero value sends to public addresses with the contract's limits.
type Options struct {
	// HTTP configures the client. Its Timeout bounds the whole exchange (zero means 5 seconds).
	// Connections are not bounded by host: receivers share hosts, and whoever calls Send bounds the
	// exchanges.
	HTTP safehttp.Options
	// Now is the clock for Retry-After dates; nil means time.Now.
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
	// Test marks the event of a test order.
	Test bool
	// Data is the event's data as of when it happened.
	Data json.RawMessage
	// Secrets sign the request, the current one first.
	Secrets []string
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
	now    func() time.Time
}

// NewSender returns a sender with its own HTTP client.
func NewSender(options Options) *Sender {
	now := options.Now
	if now == nil {
		now = time.Now
	}
	client := safehttp.NewClient(options.HTTP)
	client.Transport = withoutLocation{client.Transport}
	return &Sender{client: client, allow: options.HTTP.AllowNets, now: now}
}

// withoutLocation drops the address of a redirect, which is not followed. http.Client parses it all
// the same, and would return an error instead of the response where it is not a URL.
type withoutLocation struct{ http.RoundTripper }

// RoundTrip makes one request.
func (t withoutLocation) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Header.Del("Location")
	}
	return response, err
}

// Send makes one attempt, signed with the given time.
func (s *Sender) Send(ctx context.Context, request Request, at time.Time) Result {
	target, err := safehttp.CheckURL(request.URL, s.allow)
	if err != nil {
		return Result{Failure: failureOfURL(err)}
	}
	post, err := newPost(ctx, target, request, at)
	if err != nil {
		return Result{Failure: failureOf(ReasonInvalid)}
	}
	began := time.Now()
	result := s.exchange(post)
	result.Duration = time.Since(began)
	if timeout := s.client.Timeout; result.Duration >= timeout && (result.Delivered() || result.Reason == ReasonClosed) {
		// The response ended or broke off just as the timeout cancelled it: it counts as a timeout.
		result.Failure = failureOfTimeout(timeout)
	}
	return result
}

func newPost(ctx context.Context, target *url.URL, request Request, at time.Time) (*http.Request, error) {
	body, err := Body(request, at)
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
