package maplink

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const maxHops = 5

// Resolver finds the point of any map link, following redirects of short links between known map
// hosts. It only reads the redirect's URL, never the page: coordinates in a page may be the
// server's own location.
type Resolver struct {
	client     *http.Client
	timeout    time.Duration
	shortHosts map[string]bool // scheme://host[:port] added to the known ones
}

// NewResolver makes a Resolver that uses the client. The client decides which addresses may be
// dialled; its redirect policy is replaced. The timeout bounds one Resolve with all its hops. Short
// hosts are added to the known ones, as host[:port] for https or as scheme://host[:port].
func NewResolver(client *http.Client, timeout time.Duration, shortHosts ...string) *Resolver {
	oneHop := *client
	oneHop.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r := &Resolver{client: &oneHop, timeout: timeout, shortHosts: map[string]bool{}}
	for _, host := range shortHosts {
		if !strings.Contains(host, "://") {
			host = "https://" + host
		}
		r.shortHosts[strings.ToLower(strings.TrimSuffix(host, "/"))] = true
	}
	return r
}

// Parse is ParseIn with the resolver's short-link hosts. It never uses the network.
func (r *Resolver) Parse(raw string, country Bounds) (Point, error) {
	if u, err := url.Parse(clean(raw)); err == nil && u.User == nil && r.shortHosts[strings.ToLower(u.Scheme+"://"+u.Host)] {
		u.Fragment = ""
		return Point{}, &ShortLink{URL: u.String()}
	}
	return ParseIn(raw, country)
}

// Resolve returns the point of a link, using the network only for short links: at most 5 hops in
// the timeout. Temporary reports whether an error may pass on retry.
func (r *Resolver) Resolve(ctx context.Context, raw string, country Bounds) (Point, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()

	point, err := r.Parse(raw, country)
	for range maxHops {
		var short *ShortLink
		if !errors.As(err, &short) {
			return point, err
		}
		next, failure := r.hop(ctx, short.URL)
		if failure != nil {
			return Point{}, failure
		}
		if point, err = r.Parse(next, country); errors.Is(err, ErrNotMapLink) {
			return Point{}, ErrLeftMapHosts
		}
	}
	if errors.Is(err, ErrShortLink) {
		return Point{}, ErrTooManyHops
	}
	return point, err
}

// hop requests a short link and returns the URL that it redirects to.
func (r *Resolver) hop(ctx context.Context, address string) (next string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrDeadLink, err)
	}
	request.Header.Set("User-Agent", "Despacho/1.0 (map links)")
	response, err := r.client.Do(request)
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return "", ctx.Err()
		}
		return "", &temporaryError{fmt.Errorf("asking the short link's host: %w", err)}
	}
	// The body is closed unread, so that a long or slow one costs nothing.
	defer response.Body.Close()

	switch status := response.StatusCode; {
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return "", &temporaryError{fmt.Errorf("the short link's host answered %d", status)}
	case status >= 400:
		return "", fmt.Errorf("%w: its host answered %d", ErrDeadLink, status)
	case status < 300 || response.Header.Get("Location") == "":
		return "", fmt.Errorf("%w: the short link leads to a page", ErrNoPoint)
	}
	location, err := response.Location()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrDeadLink, err)
	}
	return location.String(), nil
}

// temporaryError is an error that may pass on retry.
type temporaryError struct{ err error }

func (e *temporaryError) Error() string { return e.err.Error() }
func (e *temporaryError) Unwrap() error { return e.err }

// Temporary reports whether a failed Resolve may succeed later: the network or the link's host
// failed.
func Temporary(err error) bool {
	var temporary *temporaryError
	return errors.As(err, &temporary)
}
