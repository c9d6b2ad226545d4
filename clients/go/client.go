// Package despacho is a client of Despacho's API for a store's or an operator's own system. It
// creates orders exactly once, retries what may be retried, and checks the signatures of webhooks.
//
// types.gen.go is generated from api/openapi.yaml by `make generate`.
package despacho

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Client asks one service with one API key. Its fields are not changed once it is in use; it can be
// used by several goroutines.
type Client struct {
	// BaseURL is the service's address, for example https://despacho.example.
	BaseURL string
	// Key is the API key. The catalog and the tracking need none.
	Key string

	// HTTP sends the requests. Nil is a client that gives up a request after 15 seconds.
	HTTP *http.Client
	// Attempts is how often a request is sent at most; 0 is 6.
	Attempts int
	// Wait is the pause before the second attempt; each further pause is twice as long, up to MaxWait.
	// 0 is a second.
	Wait time.Duration
	// MaxWait is the longest pause: if the service asks for a longer one, its refusal is returned.
	// 0 is two minutes.
	MaxWait time.Duration
	// Sleep replaces the pause between attempts, for tests.
	Sleep func(context.Context, time.Duration) error
}

const (
	defaultAttempts = 6
	defaultWait     = time.Second
	defaultMaxWait  = 2 * time.Minute
	requestTimeout  = 15 * time.Second
	maxResponse     = 16 << 20
)

// Ptr returns a pointer to a value, for the optional fields of what is sent.
func Ptr[T any](value T) *T { return &value }

// call is a request to the service.
type call struct {
	method, path string
	query        url.Values
	header       http.Header
	body         any
	// repeatable: sent twice, it does no more than once. It is sent again when there was no answer
	// and after a server error too, where otherwise it could have been carried out already.
	repeatable bool
	// longer is how much more time than others it has: what it asks the service to wait.
	longer time.Duration
}

func read(path string, query url.Values) call {
	return call{method: http.MethodGet, path: path, query: query, repeatable: true}
}

// do sends a request until it is answered, refused or out of attempts, and decodes the answer.
func (c *Client) do(ctx context.Context, request call, into any) (http.Header, error) {
	var body []byte
	if request.body != nil {
		var err error
		if body, err = json.Marshal(request.body); err != nil {
			return nil, fmt.Errorf("despacho: JSON cannot carry the request: %w", err)
		}
	}
	for attempt := 1; ; attempt++ {
		header, err := c.send(ctx, request, body, into)
		if err == nil || ctx.Err() != nil || attempt >= orDefault(c.Attempts, defaultAttempts) || !request.retryable(err) {
			return header, err
		}
		pause := c.pause(attempt, err)
		if pause > c.maxWait() {
			return nil, err
		}
		if ended := c.sleep(ctx, pause); ended != nil {
			return nil, fmt.Errorf("%w; no other attempt: %w", err, ended)
		}
	}
}

// retryable says whether it can help, and does no harm, to send the request again.
func (r call) retryable(err error) bool {
	var refused *APIError
	if !errors.As(err, &refused) {
		var unanswered *NoAnswerError
		return r.repeatable && errors.As(err, &unanswered)
	}
	if refused.Status == http.StatusTooManyRequests || refused.Code == "overloaded" {
		return true // the service has not looked at it
	}
	return r.repeatable && (refused.Status >= 500 || refused.Code == "idempotency_in_progress")
}

// pause is how long to wait after an attempt: longer each time up to the longest pause, a little
// more or less than others that failed at the same moment, and never less than the service asked
// for.
func (c *Client) pause(attempt int, err error) time.Duration {
	growing := math.Ldexp(float64(orDefault(c.Wait, defaultWait)), attempt-1) * (0.8 + 0.4*rand.Float64())
	pause := time.Duration(min(growing, float64(c.maxWait())))
	var refused *APIError
	if errors.As(err, &refused) {
		return max(refused.RetryAfter, pause)
	}
	return pause
}

func (c *Client) maxWait() time.Duration { return orDefault(c.MaxWait, defaultMaxWait) }

func (c *Client) sleep(ctx context.Context, pause time.Duration) error {
	if c.Sleep != nil {
		return c.Sleep(ctx, pause)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send makes one attempt.
func (c *Client) send(ctx context.Context, r call, body []byte, into any) (http.Header, error) {
	address := strings.TrimRight(c.BaseURL, "/") + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, r.method, address, content)
	if err != nil {
		return nil, err
	}
	if request.URL.Scheme != "http" && request.URL.Scheme != "https" {
		return nil, errors.New("despacho: the address of the service begins with https://")
	}
	for name, values := range r.header {
		request.Header[name] = values
	}
	if c.Key != "" {
		request.Header.Set("X-API-Key", c.Key)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, values := range request.Header {
		if slices.ContainsFunc(values, func(text string) bool { return strings.ContainsFunc(text, notInHeader) }) {
			return nil, fmt.Errorf("despacho: %s has a character that a header cannot carry", name)
		}
	}
	response, err := c.http(r.longer).Do(request)
	if err != nil {
		return nil, &NoAnswerError{err}
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return nil, &NoAnswerError{err}
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, newAPIError(response, answer)
	}
	if err := r.decode(answer, into); err != nil {
		return nil, &NoAnswerError{fmt.Errorf("the answer is not the service's: %w", err)}
	}
	return response.Header, nil
}

// decode decodes an answer. One without the member that every answer to such a request has comes
// from somebody else, such as a proxy.
func (r call) decode(answer []byte, into any) error {
	member := "data"
	if r.method == http.MethodDelete {
		member = "message"
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(answer, &members); err != nil {
		return err
	}
	if value := members[member]; value == nil || string(value) == "null" {
		return errors.New("it has no " + member)
	}
	return json.Unmarshal(answer, into)
}

// notInHeader says that a header cannot carry a character. A request that has one is not sent.
func notInHeader(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// http returns the client that sends a request which has longer than others. It follows no
// redirect: that would hand the key to another server.
func (c *Client) http(longer time.Duration) *http.Client {
	sender := http.Client{Timeout: requestTimeout}
	if c.HTTP != nil {
		sender = *c.HTTP
	}
	if sender.Timeout > 0 {
		sender.Timeout += longer
	}
	sender.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &sender
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
