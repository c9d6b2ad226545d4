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
	// DefaultPerHost is how many exchanges run at once with one receiver's host and port.
	DefaultPerHost = 8
)

// Options configures a Sender; the zero value sends to public addresses as the contract says.
type Options struct {
	// Guard is what the sender's connections may reach. Its Timeout bounds the whole exchange (zero
	// means 5 seconds); its MaxConnsPerHost is set by the sender.
	HTTP safehttp.Options
	// PerHost bounds the exchanges at once with one host and port; zero means DefaultPerHost.
	PerHost int
	// Now is the clock that timestamps are taken from; nil means time.Now.
	Now func() time.Time
}

// Request is one event for one webhook.
type Request struct {
	// URL is the receiver's, as registered.
	URL string
	// Event is the event's name.
	Event string
	// ID is the webhook-id, the same in every attempt at this event.
	ID string
	// TenantID identifies the operator.
	TenantID string
	// Data is the event's data, frozen when it happened.
	Data json.RawMessage
	// Secrets sign the request, the current one first.
	Secrets []string
	// Begin, if set, is called when the host's turn has come, with the timestamp of the attempt. An
	// error keeps the request from going out.
	Begin func(at time.Time) error
}

// Result is what came of one attempt.
type Result struct {
	Failure
	// At is when the attempt began: the timestamp that was signed.
	At time.Time
	// Waited is the time spent queueing for the host before the attempt.
	Waited time.Duration
	// Duration is the time from the dial to the last byte read.
	Duration time.Duration
	// StatusCode is what the receiver answered, 0 when it did not get to that.
	StatusCode int
	// Response is the beginning of the answer, at most 1 KiB of valid UTF-8.
	Response string
	// RetryAfter is the wait that a failing receiver asked for, 0 when it did not.
	RetryAfter time.Duration
}

// Delivered says that the receiver accepted the event.
func (r Result) Delivered() bool { return r.Reason == "" }

// Gone says that the receiver wants no more events.
func (r Result) Gone() bool { return r.StatusCode == http.StatusGone }

// Sender posts events to receivers; it is safe for concurrent use.
type Sender struct {
	client *http.Client
	allow  []netip.Prefix
	hosts  *safehttp.HostSlots
	now    func() time.Time
}

// NewSender makes a sender with its own guarded client.
func NewSender(options Options) *Sender {
	perHost := cmp.Or(options.PerHost, DefaultPerHost)
	// An exchange given up on may leave its handshake behind for a while.
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

// Send makes one attempt. Queueing for a host lasts as long as ctx allows and does not count
// against the receiver; the body is signed when its turn has come, so that the timestamp is never
// stale.
func (s *Sender) Send(ctx context.Context, request Request) Result {
	target, err := safehttp.CheckURL(request.URL, s.allow)
	if err != nil {
		return Result{At: s.now(), Failure: failureOfURL(err)}
	}
	queued := time.Now()
	release, err := s.hosts.Acquire(ctx, hostAndPort(target))
	if err != nil {
		return Result{At: s.now(), Waited: time.Since(queued), Failure: failureOf(ReasonInterrupted)}
	}
	defer release()
	waited := time.Since(queued)

	result := s.attempt(ctx, target, request)
	result.Waited = waited
	return result
}

func (s *Sender) attempt(ctx context.Context, target *url.URL, request Request) Result {
	at := s.now()
	if request.Begin != nil {
		if err := request.Begin(at); err != nil {
			return Result{At: at, Failure: failureOf(ReasonInterrupted)}
		}
	}
	post, err := newPost(ctx, target, request, at)
	if err != nil {
		return Result{At: at, Failure: failureOf(ReasonInvalid)}
	}
	began := time.Now()
	result := s.exchange(post)
	result.At = at
	result.Duration = time.Since(began)
	if result.Duration >= s.client.Timeout && (result.Delivered() || result.Reason == ReasonClosed) {
		// The answer ended, or broke off, in the very moment that the limit cut it off: too late
		// all the same.
		result.Failure = failureOfTimeout(s.client.Timeout)
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

// exchange sends a request and judges the answer. The client's own timeout spans all of it.
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
		// An answer that never ends, or breaks off, is not one that was given in time.
		result.Failure = broken(err)
	}
	return result
}

func hostAndPort(target *url.URL) string {
	return net.JoinHostPort(strings.ToLower(target.Hostname()), cmp.Or(target.Port(), "443"))
}
