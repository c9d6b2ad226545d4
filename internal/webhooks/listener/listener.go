// Package listener forwards the events of an API key to a program on the developer's machine, as
// webhooks would be sent to it.
package listener

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"despacho/internal/safehttp"
	"despacho/internal/webhooks/sender"
)

const (
	// minRetryDelay is the time until a failed request for events is repeated; it doubles up to
	// maxRetryDelay.
	minRetryDelay, maxRetryDelay = 500 * time.Millisecond, 30 * time.Second
	// forwardTimeout is what the contract gives a receiver.
	forwardTimeout = safehttp.DefaultTimeout
)

// Options say what is forwarded where.
type Options struct {
	// URL is the address of the service, Key an API key with the scope read:orders.
	URL, Key string
	// Forward is the address that events are posted to; it may be a private one.
	Forward string
	// Secret signs them.
	Secret string
	// Out is told of every event.
	Out io.Writer
}

// Run forwards the events that happen from now on until ctx ends. What happens while the service
// cannot be reached is forwarded when it is back. It returns an error if the service refuses the
// key.
func Run(ctx context.Context, options Options) error {
	l := &listener{Options: options, feed: newFeed(options.URL, options.Key), local: &http.Client{
		Timeout:       forwardTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	cursor, wait := latest, time.Duration(0)
	for {
		page, err := l.fetch(ctx, cursor, wait)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if wait == 0 {
			_, err := fmt.Fprintf(l.Out, "Listening for events of %s. They go to %s, signed with %s\nCtrl-C ends it.\n",
				options.URL, options.Forward, options.Secret)
			if err != nil {
				return err // nobody knows the secret
			}
			wait = longestWait
		}
		for i := range page.Events {
			l.forward(ctx, &page.Events[i])
			if ctx.Err() != nil {
				return nil
			}
		}
		cursor = page.Cursor
	}
}

type listener struct {
	Options
	feed  *feed
	local *http.Client
}

func (l *listener) printf(format string, values ...any) { _, _ = fmt.Fprintf(l.Out, format, values...) }

// fetch asks for events until the service responds, or refuses for good.
func (l *listener) fetch(ctx context.Context, cursor string, wait time.Duration) (*page, error) {
	for delay, failed := minRetryDelay, false; ; delay = min(2*delay, maxRetryDelay) {
		found, err := l.feed.after(ctx, cursor, wait)
		if err == nil {
			if failed {
				l.printf("%s  connected again\n", now())
			}
			return found, nil
		}
		if err.code == cursorUnknown {
			l.printf("%s  events were missed: the last one that was forwarded is not kept any more\n", now())
			cursor = ""
			continue
		}
		if err.final || ctx.Err() != nil {
			return nil, err
		}
		pause := max(delay, err.retryAfter)
		failed = true
		l.printf("%s  %s; trying again in %s\n", now(), err, pause)
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause):
		}
	}
}

// forward posts an event as a webhook request, and prints how that went. The timestamp is that of
// the request, as in every attempt to send a webhook.
func (l *listener) forward(ctx context.Context, event *event) {
	began := time.Now()
	outcome := l.post(ctx, event, began)
	l.printf("%s  %-15s  %-12s  %s (%d ms)\n", began.Format(time.TimeOnly), event.Body.Event, event.guideCode(), outcome,
		time.Since(began).Milliseconds())
}

func (l *listener) post(ctx context.Context, event *event, at time.Time) (outcome string) {
	body, err := sender.Body(sender.Request{Event: event.Body.Event, TenantID: event.Body.TenantID, Test: event.Body.Test,
		Data: event.Body.Data}, at)
	if err != nil {
		return err.Error()
	}
	headers, err := sender.Headers(event.Body.Event, event.ID, at, body, l.Secret)
	if err != nil {
		return err.Error()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.Forward, bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	request.Header = headers
	response, err := l.local.Do(request)
	if err != nil {
		return "no response: " + cause(err)
	}
	defer func() { _ = response.Body.Close() }()
	return response.Status
}

// cause is an error without the request that the user knows already.
func cause(err error) string {
	text := err.Error()
	if _, after, found := strings.Cut(text, `": `); found {
		return after
	}
	return text
}

func now() string { return time.Now().Format(time.TimeOnly) }
