package maplink

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/test/poll"
)

const destination = "https://www.google.com/maps/place/X/@-12.09,-77.05,15z/data=!8m2!3d-12.131938!4d-77.030396"

var (
	destinationPoint = Point{-12.131938, -77.030396, SourcePin}
	peru             = countries["PE"]
)

// redirector answers each path with a redirect to its value, and counts what it was asked.
type redirector struct {
	*httptest.Server
	asked atomic.Int32
}

func newRedirector(t *testing.T, redirects map[string]string) *redirector {
	t.Helper()
	r := &redirector{}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.asked.Add(1)
		target, known := redirects[request.URL.Path]
		if !known {
			http.NotFound(w, request)
			return
		}
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusFound)
	}))
	t.Cleanup(r.Close)
	return r
}

// resolver makes one that takes the server for a host of short links.
func (r *redirector) resolver() *Resolver {
	return serverResolver(r.Server)
}

// serverResolver gives the server all the time of a test.
func serverResolver(server *httptest.Server) *Resolver {
	return NewResolver(server.Client(), poll.Deadline, server.URL)
}

// serve starts a server with one answer for everything.
func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	return server
}

func TestResolveFollowsAChain(t *testing.T) {
	t.Parallel()
	server := newRedirector(t, map[string]string{"/a": "/b?x=1", "/b": "c/d", "/c/d": destination})
	point, err := server.resolver().Resolve(t.Context(), "  "+server.URL+"/a  ", peru)
	require.NoError(t, err)
	require.Equal(t, destinationPoint, point)
	require.EqualValues(t, 3, server.asked.Load())
}

func TestResolveAsksOnlyShortLinkHosts(t *testing.T) {
	t.Parallel()
	asked := make(chan string, maxHops)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Host + r.URL.Path
		targets := map[string]string{
			"maps.app.goo.gl/first": "http://goo.gl/maps/second", // asked over https all the same
			"goo.gl/maps/second":    destination,
		}
		w.Header().Set("Location", targets[r.Host+r.URL.Path])
		w.WriteHeader(http.StatusMovedPermanently)
	})
	// Every name leads to the server, whose certificate is for example.com.
	client := server.Client()
	transport := client.Transport.(*http.Transport)
	transport.TLSClientConfig.ServerName = "example.com"
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
	point, err := NewResolver(client, poll.Deadline).Resolve(t.Context(), "http://maps.app.goo.gl/first?g_st=ic", peru)
	require.NoError(t, err)
	require.Equal(t, destinationPoint, point)
	require.Len(t, asked, 2)
	require.Equal(t, "maps.app.goo.gl/first", <-asked)
	require.Equal(t, "goo.gl/maps/second", <-asked)
}

func TestResolveNeedsNoNetworkForLongLinks(t *testing.T) {
	t.Parallel()
	offline := NewResolver(&http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		t.Errorf("asked %s", r.URL)
		return nil, io.EOF
	})}, poll.Deadline)
	for _, v := range readVectors(t) {
		if v.Error == "short" {
			continue
		}
		point, err := offline.Resolve(t.Context(), v.Link, Bounds{})
		wantPoint, wantErr := Parse(v.Link)
		require.Equal(t, wantPoint, point, v.Case)
		require.Equal(t, wantErr, err, v.Case)
		require.False(t, Temporary(err), v.Case)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestResolveStaysAmongMapHosts(t *testing.T) {
	t.Parallel()
	private := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a private host was asked for %s", r.URL)
	}))
	t.Cleanup(private.Close)

	targets := map[string]string{
		"loopback":                     private.URL + "/secret",
		"loopback with a map's path":   private.URL + "/maps?q=-12.1,-77.0",
		"loopback under a map's name":  "http://www.google.com@" + private.Listener.Addr().String() + "/",
		"metadata":                     "http://169.254.169.254/latest/meta-data/",
		"another site":                 "https://example.com/maps/@-12.1,-77.0,15z",
		"a look-alike":                 "https://www.google.com.evil.tld/maps?q=-12.1,-77.0",
		"a file":                       "file:///etc/passwd",
		"a script":                     "javascript:alert(1)",
		"an application":               "intent://maps.app.goo.gl/x#Intent;scheme=https;end",
		"a shortener that is no map's": "https://goo.gl/abc",
	}
	for name, target := range targets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newRedirector(t, map[string]string{"/a": "/b", "/b": target})
			point, err := server.resolver().Resolve(t.Context(), server.URL+"/a", peru)
			require.ErrorIs(t, err, ErrLeftMapHosts)
			require.False(t, Temporary(err))
			require.Zero(t, point)
			require.EqualValues(t, 2, server.asked.Load())
		})
	}
}

func TestResolveStopsAtLoops(t *testing.T) {
	t.Parallel()
	for name, redirects := range map[string]map[string]string{
		"to itself":      {"/a": "/a"},
		"of two":         {"/a": "/b", "/b": "/a"},
		"behind a hop":   {"/a": "/b", "/b": "/c", "/c": "/b"},
		"but for a mark": {"/a": "/a#again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newRedirector(t, redirects)
			_, err := server.resolver().Resolve(t.Context(), server.URL+"/a", peru)
			require.ErrorIs(t, err, ErrTooManyHops)
			require.False(t, Temporary(err))
			require.EqualValues(t, maxHops, server.asked.Load())
		})
	}
}

func TestResolveTakesFiveHopsAndNoMore(t *testing.T) {
	t.Parallel()
	redirects := map[string]string{"/1": "/2", "/2": "/3", "/3": "/4", "/4": "/5", "/5": "/6", "/6": destination}
	server := newRedirector(t, redirects)
	point, err := server.resolver().Resolve(t.Context(), server.URL+"/2", peru)
	require.NoError(t, err)
	require.Equal(t, destinationPoint, point)

	server = newRedirector(t, redirects)
	_, err = server.resolver().Resolve(t.Context(), server.URL+"/1", peru)
	require.ErrorIs(t, err, ErrTooManyHops)
	require.False(t, Temporary(err))
	require.EqualValues(t, maxHops, server.asked.Load())
}

func TestResolveLandings(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		target string
		want   Point
		err    error
	}{
		"an address":               {"https://maps.google.com/?q=Av.+Larco+1301&ftid=0x1:0x2", Point{}, ErrNoPoint},
		"a list":                   {"https://www.google.com/maps/placelists/list/abc", Point{}, ErrList},
		"a consent page":           {"https://consent.google.com/m?continue=https%3A%2F%2Fmaps.google.com%2F%3Fq%3D-12.1%2C-77.0", Point{-12.1, -77.0, SourceQuery}, nil},
		"a swapped point":          {"https://maps.google.com/?q=-77.0,-12.1", Point{-12.1, -77.0, SourceQuery}, nil},
		"a point abroad":           {"https://maps.google.com/?q=40.4168,-3.7038", Point{}, ErrOutsideCountry},
		"a point nowhere on Earth": {"https://maps.google.com/?q=240.4,-3.7", Point{}, ErrOutOfRange},
		"a map of another service": {"https://waze.com/ul?ll=-12.1,-77.0", Point{-12.1, -77.0, SourceQuery}, nil},
		"nowhere":                  {"", Point{}, ErrNoPoint},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newRedirector(t, map[string]string{"/a": c.target})
			point, err := server.resolver().Resolve(t.Context(), server.URL+"/a", peru)
			require.ErrorIs(t, err, c.err)
			require.False(t, Temporary(err))
			require.Equal(t, c.want, point)
		})
	}
}

func TestResolveTellsTroubleThatMayPass(t *testing.T) {
	t.Parallel()
	for status, temporary := range map[int]bool{
		http.StatusInternalServerError: true,
		http.StatusBadGateway:          true,
		http.StatusServiceUnavailable:  true,
		http.StatusTooManyRequests:     true,
		http.StatusRequestTimeout:      true,
		http.StatusNotFound:            false,
		http.StatusGone:                false,
		http.StatusForbidden:           false,
		http.StatusBadRequest:          false,
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", destination) // a failure leads nowhere, whatever it says
				w.WriteHeader(status)
			})
			point, err := serverResolver(server).Resolve(t.Context(), server.URL+"/a", peru)
			require.Error(t, err)
			require.Zero(t, point)
			require.Equal(t, temporary, Temporary(err))
			if !temporary {
				require.ErrorIs(t, err, ErrDeadLink)
			}
		})
	}
}

func TestResolveCancelledIsNotTroubleOfTheNetwork(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
		panic(http.ErrAbortHandler) // returning would be a 200, which may still arrive
	})
	_, err := serverResolver(server).Resolve(ctx, server.URL+"/a", peru)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, Temporary(err))
}

func TestResolveNeverReadsPages(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("https://www.google.com/maps?q=-12.1,-77.0 ", 1<<10)
	for name, c := range map[string]struct {
		status int
		want   Point
		err    error
	}{
		"a page":     {http.StatusOK, Point{}, ErrNoPoint},
		"a redirect": {http.StatusFound, destinationPoint, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hungUp := make(chan struct{})
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				defer close(hungUp)
				if c.err == nil {
					w.Header().Set("Location", destination)
				}
				w.WriteHeader(c.status)
				for { // a page without end
					if _, err := io.WriteString(w, page); err != nil {
						return
					}
				}
			})
			point, err := serverResolver(server).Resolve(t.Context(), server.URL+"/a", peru)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.want, point)
			require.False(t, Temporary(err))
			select {
			case <-hungUp:
			case <-time.After(poll.Deadline):
				t.Fatal("the page is still being read")
			}
		})
	}
}

func TestResolveDoesNotWaitForSlowBodies(t *testing.T) {
	t.Parallel()
	drip := func(write func() error) {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if write() != nil {
				return
			}
		}
	}
	t.Run("in the head", func(t *testing.T) {
		t.Parallel()
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer connection.Close()
			_, _ = io.WriteString(connection, "HTTP/1.1 302 Found\r\nX-Drip: ")
			drip(func() error { _, err := io.WriteString(connection, "x"); return err })
		})
		ctx, cancel := context.WithTimeout(t.Context(), poll.Deadline)
		defer cancel()
		_, err := NewResolver(server.Client(), 100*time.Millisecond, server.URL).Resolve(ctx, server.URL+"/a", peru)
		require.True(t, Temporary(err), "%v", err)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, ctx.Err(), "it is the resolver that gives up")
	})
	t.Run("in the body", func(t *testing.T) {
		t.Parallel()
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", destination)
			w.WriteHeader(http.StatusFound)
			drip(func() error {
				if _, err := io.WriteString(w, "x"); err != nil {
					return err
				}
				return http.NewResponseController(w).Flush()
			})
		})
		point, err := serverResolver(server).Resolve(t.Context(), server.URL+"/a", peru)
		require.NoError(t, err)
		require.Equal(t, destinationPoint, point)
	})
	t.Run("over several hops, all in the same time", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			const host = "https://short.test"
			hops := 0
			client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				select {
				case <-time.After(5 * time.Second / (maxHops - 1)):
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
				hops++
				answer := httptest.NewRecorder()
				http.Redirect(answer, r, r.URL.String()+"x", http.StatusFound)
				return answer.Result(), nil
			})}
			_, err := NewResolver(client, 5*time.Second, host).Resolve(t.Context(), host+"/a", peru)
			require.True(t, Temporary(err), "%v", err)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Less(t, hops, maxHops)
		})
	})
}

func TestShortHostsOfOnesOwn(t *testing.T) {
	t.Parallel()
	resolver := NewResolver(http.DefaultClient, poll.Deadline, "127.0.0.1:4430", "http://127.0.0.1:8080/")
	for link, follow := range map[string]string{
		"https://127.0.0.1:4430/abc?x=1":  "https://127.0.0.1:4430/abc?x=1",
		"<https://127.0.0.1:4430/abc>.":   "https://127.0.0.1:4430/abc",
		"http://127.0.0.1:8080/abc#there": "http://127.0.0.1:8080/abc",
		"https://maps.app.goo.gl/abc":     "https://maps.app.goo.gl/abc",
	} {
		_, err := resolver.Parse(link, peru)
		var short *ShortLink
		require.ErrorAs(t, err, &short, link)
		require.Equal(t, follow, short.URL)
	}
	for _, link := range []string{
		"http://127.0.0.1:4430/abc",  // given without a scheme: https only
		"https://127.0.0.1:8080/abc", // given as http
		"http://127.0.0.1:8081/abc",
		"http://u:p@127.0.0.1:8080/abc",
	} {
		_, err := resolver.Parse(link, peru)
		require.ErrorIs(t, err, ErrNotMapLink, link)
	}
	point, err := resolver.Parse("geo:-77.0,-12.1", peru)
	require.NoError(t, err)
	require.Equal(t, Point{-12.1, -77.0, SourcePath}, point)
}
