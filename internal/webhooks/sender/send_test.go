package sender_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"despacho/internal/webhooks/sender"
	"despacho/test/poll"
	"despacho/test/safehttptest"
)

func TestSendSatisfiesAReceiverWrittenFromTheContract(t *testing.T) {
	t.Parallel()
	for protocol, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			seen := make(chan *http.Request, 1)
			contract := contractReceiver(currentSecret)
			url := startReceiver(t, testAuthority().certify(t, receiverName, time.Hour), http2,
				func(w http.ResponseWriter, r *http.Request) {
					seen <- r.Clone(context.Background())
					contract(w, r)
				})
			before := time.Now()

			result := send(t.Context(), sender.NewSender(senderOptions(t)), deliveredEvent(url))

			require.True(t, result.Delivered(), result.Message)
			require.Equal(t, http.StatusOK, result.StatusCode)
			require.Equal(t, "recibido", result.Response)
			require.Empty(t, result.Message)
			require.Positive(t, result.Duration)
			request := <-seen
			signed, err := strconv.ParseInt(request.Header.Get("webhook-timestamp"), 10, 64)
			require.NoError(t, err)
			require.WithinRange(t, time.Unix(signed, 0), before.Truncate(time.Second), time.Now())
			require.Equal(t, protocol, request.Proto)
			require.Equal(t, "Despacho-Webhooks/1", request.UserAgent())
			require.Equal(t, deliveryID, request.Header.Get("webhook-id"))
		})
	}
}

func TestSendSatisfiesStandardWebhooksReceiversDuringRotation(t *testing.T) {
	t.Parallel()
	for name, secret := range map[string]string{"current": currentSecret, "previous": previousSecret} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verifier, err := standardwebhooks.NewWebhook(secret)
			require.NoError(t, err)
			url := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if verifier.Verify(body, r.Header) != nil {
					w.WriteHeader(http.StatusUnauthorized)
				}
			})
			event := deliveredEvent(url)
			event.Secrets = []string{currentSecret, previousSecret}

			result := send(t.Context(), sender.NewSender(senderOptions(t)), event)

			require.True(t, result.Delivered(), result.Message)
		})
	}
}

// A receiver's URL may have characters that no request line carries, in its path and in its query.
func TestSendEscapesTheURL(t *testing.T) {
	t.Parallel()
	for protocol, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			asked := make(chan string, 1)
			url := startReceiver(t, testAuthority().certify(t, receiverName, time.Hour), http2,
				func(_ http.ResponseWriter, r *http.Request) { asked <- r.RequestURI })

			result := send(t.Context(), sender.NewSender(senderOptions(t)), deliveredEvent(url+`/mi tienda?sede=San Martín&x=%20+"<>`))

			require.True(t, result.Delivered(), "%s %d %s", result.Message, result.StatusCode, result.Response)
			require.Equal(t, "/hook/mi%20tienda?sede=San%20Mart%C3%ADn&x=%20+%22%3C%3E", <-asked)
		})
	}
}

// outcome is the expected result of a failed attempt.
type outcome struct {
	reason     sender.Reason
	words      string
	status     int
	response   string
	retryAfter time.Duration
}

func requireOutcome(t *testing.T, want outcome, result sender.Result) {
	t.Helper()
	require.Equal(t, want, outcome{result.Reason, result.Message, result.StatusCode, result.Response, result.RetryAfter})
	require.False(t, result.Delivered())
}

func respondWith(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestSendCountsEveryOtherAnswerAsFailure(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    outcome
	}{
		"500": {respondWith(500, "error interno"),
			outcome{sender.ReasonStatus, "El receptor respondió con el código 500.", 500, "error interno", 0}},
		"410": {respondWith(410, ""),
			outcome{sender.ReasonStatus, "El receptor respondió con el código 410.", 410, "", 0}},
		"429 with Retry-After in seconds": {respondWith(429, "", "Retry-After", "120"),
			outcome{sender.ReasonStatus, "El receptor respondió con el código 429.", 429, "", 2 * time.Minute}},
		"503 with Retry-After of a year": {respondWith(503, "", "Retry-After", "31536000"),
			outcome{sender.ReasonStatus, "El receptor respondió con el código 503.", 503, "", 24 * time.Hour}},
		"304": {respondWith(304, ""),
			outcome{sender.ReasonRedirect, "El receptor respondió con una redirección (304), y no se siguen.", 304, "", 0}},
		"500 that breaks off": {truncatedResponse(500),
			outcome{sender.ReasonStatus, "El receptor respondió con el código 500.", 500, "reci", 0}},
		"200 that breaks off": {truncatedResponse(200),
			outcome{sender.ReasonClosed, "El receptor cerró la conexión o dio una respuesta incompleta o ilegible.", 200, "reci", 0}},
		"closes without an answer": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			outcome{sender.ReasonClosed, "El receptor cerró la conexión o dio una respuesta incompleta o ilegible.", 0, "", 0}},
		"headers too large": {respondWith(200, "", "X-Long", strings.Repeat("a", 1<<20)),
			outcome{sender.ReasonClosed, "El receptor cerró la conexión o dio una respuesta incompleta o ilegible.", 0, "", 0}},
	} {
		for protocol, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
			t.Run(name+" on "+protocol, func(t *testing.T) {
				t.Parallel()
				url := startReceiver(t, testAuthority().certify(t, receiverName, time.Hour), http2, test.handler)

				result := send(t.Context(), sender.NewSender(senderOptions(t)), deliveredEvent(url))

				requireOutcome(t, test.want, result)
				require.Equal(t, test.want.status == http.StatusGone, result.Gone())
			})
		}
	}
}

// truncatedResponse announces a longer body than it sends.
func truncatedResponse(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "reci")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

func TestSendReadsARetryAfterDateAgainstItsClock(t *testing.T) {
	t.Parallel()
	options := senderOptions(t)
	options.Now = func() time.Time { return signedAt }
	url := newReceiver(t, respondWith(429, "", "Retry-After", "Thu, 01 Jan 2026 00:00:30 GMT"))

	result := send(t.Context(), sender.NewSender(options), deliveredEvent(url))

	require.InDelta(t, 30, result.RetryAfter.Seconds(), 1)
}

func TestSendFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	tripwire := safehttptest.NewTripwire(t, "127.0.0.1:0")
	for _, location := range []string{"https://" + tripwire.Addr(), "", "/hook", "https://[::1", "https://tienda.test:puerto/%zz"} {
		url := newReceiver(t, respondWith(302, "mudado", "Location", location))

		result := send(t.Context(), sender.NewSender(senderOptions(t)), deliveredEvent(url))

		requireOutcome(t, outcome{
			reason: sender.ReasonRedirect, words: "El receptor respondió con una redirección (302), y no se siguen.", status: 302, response: "mudado",
		}, result)
	}
	tripwire.RequireUntouched(t)
}

func TestSendGivesUpInTime(t *testing.T) {
	t.Parallel()
	drip := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		every := time.NewTicker(100 * time.Millisecond)
		defer every.Stop()
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "a")
			_ = http.NewResponseController(w).Flush()
			<-every.C
		}
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		status  int
	}{
		"hangs before headers": {hang, 0},
		"drips its answer":     {drip, 200},
	} {
		for protocol, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
			t.Run(name+" on "+protocol, func(t *testing.T) {
				t.Parallel()
				url := startReceiver(t, testAuthority().certify(t, receiverName, time.Hour), http2, test.handler)
				options := senderOptions(t)
				var result sender.Result
				// A busy machine gets more time to receive the first byte of a slow response.
				for limit := time.Second; limit < poll.Deadline; limit *= 2 {
					options.HTTP.Timeout = limit

					result = send(t.Context(), sender.NewSender(options), deliveredEvent(url))

					require.Equal(t, sender.ReasonTimeout, result.Reason)
					require.Equal(t, fmt.Sprintf("El receptor no respondió por completo en %d s.", limit/time.Second), result.Message)
					require.GreaterOrEqual(t, result.Duration, limit)
					if result.StatusCode == test.status {
						break
					}
				}
				require.Equal(t, test.status, result.StatusCode)
			})
		}
	}
}

func TestSendGivesUpOnAHandshakeThatNeverComes(t *testing.T) {
	t.Parallel()
	// A tripwire never accepts: the kernel connects, and the TLS handshake gets no reply.
	silent := safehttptest.NewTripwire(t, "127.0.0.1:0")
	options := senderOptions(t)
	options.HTTP.Timeout = 200 * time.Millisecond

	result := send(t.Context(), sender.NewSender(options), deliveredEvent("https://"+silent.Addr()))

	require.Equal(t, sender.ReasonTimeout, result.Reason)
}

func TestSendDoesNotWaitForAnUpgradeItNeverAskedFor(t *testing.T) {
	t.Parallel()
	url := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
	})
	result := send(t.Context(), sender.NewSender(senderOptions(t)), deliveredEvent(url))

	requireOutcome(t, outcome{
		reason: sender.ReasonStatus, words: "El receptor respondió con el código 101.", status: 101,
	}, result)
}

func TestSendDoesNotReadAnAnswerOfTenMegabytes(t *testing.T) {
	t.Parallel()
	for protocol, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			url := startReceiver(t, testAuthority().certify(t, receiverName, time.Hour), http2,
				respondWith(200, strings.Repeat("a", 10<<20)))

			result := send(t.Context(), sender.NewSender(senderOptions(t)), deliveredEvent(url))

			require.True(t, result.Delivered(), result.Message)
			require.Equal(t, strings.Repeat("a", 1024), result.Response)
		})
	}
}
