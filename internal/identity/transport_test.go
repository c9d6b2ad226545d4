package identity

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/test/closedport"
	"despacho/test/poll"
)

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		elsewhere := serve(t, knowsRosa)
		fake := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		for provider := range providerSpecs {
			require.Equal(t, Unavailable, verify(t, verifierOf(t, Options{}, named(provider, fake)), someDNI).Outcome)
		}
		require.Zero(t, elsewhere.asked.Load())
	}
}

func TestHugeAnswers(t *testing.T) {
	t.Parallel()
	name := `{"full_name":"ROSA DIAZ"}`
	largest := serve(t, respondsWith(http.StatusOK, name+strings.Repeat(" ", maxAnswerRead-len(name))))
	require.Equal(t, Found, verify(t, verifierOf(t, Options{}, named("decolecta", largest)), someDNI).Outcome)

	hungUp := make(chan struct{})
	endless := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(hungUp)
		_, err := io.WriteString(w, name)
		for err == nil {
			_, err = io.WriteString(w, strings.Repeat(" ", 4<<10))
		}
	})
	meter := &meteredTransport{}
	verifier := verifierOf(t, Options{Client: &http.Client{Transport: meter}}, named("decolecta", endless))
	require.Equal(t, Unavailable, verify(t, verifier, someDNI).Outcome)
	require.EqualValues(t, maxAnswerRead+1, meter.read.Load())
	select {
	case <-hungUp:
	case <-time.After(poll.Deadline):
		t.Fatal("the answer is still being read")
	}
}

// meteredTransport counts the bytes of answers that were read.
type meteredTransport struct {
	read atomic.Int64
}

func (m *meteredTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		response.Body = &meteredBody{response.Body, &m.read}
	}
	return response, err
}

type meteredBody struct {
	io.ReadCloser
	read *atomic.Int64
}

func (b *meteredBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.read.Add(int64(n))
	return n, err
}

// hijacked answers with what is written straight to the connection.
func hijacked(t *testing.T, answer func(connection io.Writer)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = connection.Close() }()
		answer(connection)
	}
}

func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	for how, handler := range map[string]http.HandlerFunc{
		"closed at once":     hijacked(t, func(io.Writer) {}),
		"closed in the head": hijacked(t, func(c io.Writer) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConte") }),
		"closed in the body": hijacked(t, func(c io.Writer) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"+`{"full_name":"ROSA DIAZ"}`)
		}),
		"not HTTP":     hijacked(t, func(c io.Writer) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n") }),
		"not the size": hijacked(t, func(c io.Writer) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n") }),
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			for provider := range providerSpecs {
				fake := serve(t, handler)
				require.Equal(t, Unavailable, verify(t, verifierOf(t, Options{}, named(provider, fake)), someDNI).Outcome)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		closed := Config{Provider: "migo", URL: "http://" + closedport.Address(t), Token: someToken}
		require.Equal(t, Unavailable, verify(t, verifierOf(t, Options{}, closed), someDNI).Outcome)
	})
}

func TestSlowResponsesTimeOut(t *testing.T) {
	t.Parallel()
	drip := func(write func(string) error) {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if write(" ") != nil {
				return
			}
		}
	}
	for how, handler := range map[string]http.HandlerFunc{
		"silence": hasNoResponse,
		"a head that drips": hijacked(t, func(c io.Writer) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nX-Drip: ")
			drip(func(s string) error { _, err := io.WriteString(c, s); return err })
		}),
		"a body that drips": func(w http.ResponseWriter, _ *http.Request) {
			drip(func(s string) error {
				if _, err := io.WriteString(w, s); err != nil {
					return err
				}
				return http.NewResponseController(w).Flush()
			})
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			for _, provider := range []string{"decolecta", "migo"} { // one asked by GET, one by POST
				fake := serve(t, handler)
				var log transcript
				options := Options{Timeout: 100 * time.Millisecond, Logger: log.logger()}
				require.Equal(t, Unavailable, verify(t, verifierOf(t, options, named(provider, fake)), someDNI).Outcome)
				require.Contains(t, log.String(), "deadline exceeded")
			}
		})
	}
}
