package webhooks_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/internal/db"
	"despacho/internal/safehttp"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/safehttptest"
)

const (
	wordsClosed  = "El receptor cerró la conexión o dio una respuesta incompleta o ilegible."
	wordsTimeout = "El receptor no respondió por completo en 1 s."
	wordsRefused = "La dirección del receptor no está permitida: solo se envía a direcciones públicas."
)

// One order, sent to every kind of receiver at once: each delivery finishes, and the log has the
// message.
func TestOutcomes_everyReceiverInTheLog(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		elsewhere := safehttptest.NewTripwire(t, "127.0.0.1:0")
		var proto atomic.Value
		type outcome struct {
			status   string
			code     int
			words    string
			response string
		}
		failed := func(code int, words, response string) outcome { return outcome{"failed", code, words, response} }
		code := func(code int) string { return fmt.Sprintf("El receptor respondió con el código %d.", code) }
		receivers := map[string]struct {
			url  string
			want outcome
		}{
			"good":               {startReceiver(t, respondWith(204, ""), nil), outcome{status: "delivered", code: 204}},
			"good, on HTTP/2":    {startReceiver(t, recordProtocol(&proto), enableHTTP2), outcome{"delivered", 200, "", "recibido"}},
			"ten megabytes":      {startReceiver(t, tenMegabytes, nil), outcome{"delivered", 200, "", strings.Repeat("a", 1024)}},
			"nobody listens":     {closedAddress(t), failed(0, "El receptor rechazó la conexión.", "")},
			"another's name":     {startReceiver(t, respondWith(200, ""), listeningOn(t, "127.0.0.2:0")), failed(0, "El certificado TLS del receptor no corresponde a su nombre.", "")},
			"expired":            {startReceiver(t, respondWith(200, ""), certified(t, time.Now().Add(-time.Hour))), failed(0, "El certificado TLS del receptor está vencido o aún no es válido.", "")},
			"unknown authority":  {startReceiver(t, respondWith(200, ""), selfSigned(t)), failed(0, "El certificado TLS del receptor no viene de una autoridad conocida.", "")},
			"breaks off":         {startReceiver(t, truncatedResponse, nil), failed(200, wordsClosed, "reci")},
			"says nothing":       {startReceiver(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, nil), failed(0, wordsClosed, "")},
			"302 to loopback":    {startReceiver(t, respondWith(302, "", "Location", "https://"+elsewhere.Addr()), nil), failed(302, "El receptor respondió con una redirección (302), y no se siguen.", "")},
			"500":                {startReceiver(t, respondWith(500, "error interno"), nil), failed(500, code(500), "error interno")},
			"410":                {startReceiver(t, respondWith(410, ""), nil), failed(410, code(410), "")},
			"429 and come later": {startReceiver(t, respondWith(429, "", "Retry-After", "1"), nil), failed(429, code(429), "")},
		}
		webhookIDs := map[string]string{}
		for name, receiver := range receivers {
			webhookIDs[name], _ = s.register(t, s.Key, receiver.url, onlyCreated)
		}

		s.CreateOrder(t, s.Key)

		for name, receiver := range receivers {
			d := s.waitUntilFinished(t, webhookIDs[name], 1)[0]
			require.Len(t, d.Attempts, 1, name)
			a := d.Attempts[0]
			got := outcome{status: d.Status, code: valueOf(a.StatusCode), words: valueOf(a.Error), response: valueOf(a.Response)}
			require.Equal(t, receiver.want, got, name)
			require.NotNil(t, a.DurationMS, name)
			shown := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/deliveries/" + d.ID, Key: s.Key})
			body := shown.Data["attempts"].([]any)[0].(map[string]any)["body"]
			if receiver.want.code == 0 && receiver.want.words != wordsClosed {
				require.Nil(t, body, "%s: nothing was sent", name)
			} else {
				require.NotNil(t, body, name)
			}
		}
		require.Equal(t, "HTTP/2.0", proto.Load())
		elsewhere.RequireUntouched(t)
	})
}

// The contract gives a receiver five seconds. A redelivery request waits longer than that.
func TestOutcomes_aReceiverHasFiveSeconds(t *testing.T) {
	t.Parallel()
	timeouts := config.DefaultTimeouts()
	require.Equal(t, 5*time.Second, timeouts.Exchange)
	require.Greater(t, timeouts.Outcome, timeouts.Exchange)
}

// A receiver that exceeds the timeout fails, with or without a partial response, and the log keeps
// the partial response.
func TestOutcomes_receiversThatTakeTooLong(t *testing.T) {
	options := apptest.Options{Configure: func(c *config.Config) { c.Timeouts.Exchange = time.Second }}
	eachOwn(t, options, func(t *testing.T, s *harness) {
		slow := newSlowReceiver()
		defer slow.release()
		hangs, _ := s.register(t, s.Key, startReceiver(t, slow.hang, nil), onlyCreated)
		drips, _ := s.register(t, s.Key, startReceiver(t, slow.drip, nil), onlyCreated)
		dripsOnHTTP2, _ := s.register(t, s.Key, startReceiver(t, slow.drip, enableHTTP2), onlyCreated)
		s.CreateOrder(t, s.Key)

		silent := s.waitUntilFinished(t, hangs, 1)[0]
		require.Equal(t, "failed", silent.Status)
		require.Len(t, silent.Attempts, 1)
		require.Equal(t, wordsTimeout, *silent.Attempts[0].Error)
		require.Nil(t, silent.Attempts[0].StatusCode)
		for _, webhookID := range []string{drips, dripsOnHTTP2} {
			d := s.waitUntilFinished(t, webhookID, 1)[0]
			poll.Until(t, func() error {
				last := d.Attempts[len(d.Attempts)-1]
				require.Equal(t, "failed", d.Status)
				require.Equal(t, wordsTimeout, valueOf(last.Error))
				if last.StatusCode == nil || last.Response == nil { // a slow machine may time out before the first byte
					d = s.redeliver(t, d.ID)
					return errors.New("no byte of the response was recorded")
				}
				require.Equal(t, 200, *last.StatusCode)
				require.Regexp(t, "^a+$", *last.Response)
				return nil
			})
		}
	})
}

func recordProtocol(proto *atomic.Value) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		proto.Store(r.Proto)
		fmt.Fprint(w, "recibido")
	}
}

// valueOf dereferences a pointer; nil is the zero value.
func valueOf[T any](pointer *T) (value T) {
	if pointer != nil {
		value = *pointer
	}
	return value
}

// insertWebhook creates a webhook with a URL that registration would refuse, as if its name had
// resolved to a public address then.
func (s *harness) insertWebhook(t *testing.T, address string) (webhookID string) {
	t.Helper()
	webhookID, _ = s.register(t, s.Key, "https://example.com/hook", onlyCreated)
	require.NoError(t, s.App.DB.ChangeSettings(t.Context(), s.Operator.ID, func(tx *db.DB) error {
		return tx.Query(t.Context()).Model(&models.Webhook{}).Where("id = ?", webhookID).Update("url", address).Error
	}))
	return webhookID
}

// Outside development no loopback or private address is ever connected to.
func TestOutcomes_refusedAddresses(t *testing.T) {
	options := apptest.Options{Configure: func(c *config.Config) { c.WebhookAllowNets = nil }}
	eachOwn(t, options, func(t *testing.T, s *harness) {
		tripwire := safehttptest.NewTripwire(t, "127.0.0.1:0")
		port := netip.MustParseAddrPort(tripwire.Addr()).Port()
		var webhookIDs []string
		for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "localhost", "tienda.localhost", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "0.0.0.0"} {
			webhookIDs = append(webhookIDs, s.insertWebhook(t, fmt.Sprintf("https://%s:%d/hook", host, port)))
		}
		s.CreateOrder(t, s.Key)
		for _, webhookID := range webhookIDs {
			d := s.waitUntilFinished(t, webhookID, 1)[0]
			require.Equal(t, "failed", d.Status)
			require.Len(t, d.Attempts, 1)
			require.Equal(t, wordsRefused, *d.Attempts[0].Error, s.webhookRow(t, webhookID).URL)
			require.Nil(t, d.Attempts[0].StatusCode)
		}
		tripwire.RequireUntouched(t)
	})
}

// A name is checked by the address it resolves to at each call: one that always resolves to a
// refused address, and one that changes to it.
func TestOutcomes_namesResolvingToRefusedAddresses(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		url := startReceiver(t, respondWith(200, ""), nil)
		port := netip.MustParseAddrPort(strings.TrimSuffix(strings.TrimPrefix(url, "https://"), "/hook")).Port()
		tripwire := safehttptest.NewTripwire(t, fmt.Sprintf("127.0.0.2:%d", port))
		s.service = s.harness.newSendService(t, s.now, func(o *safehttp.Options) {
			o.AllowNets = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
			o.Resolver = safehttptest.Resolver(t, safehttptest.Names{"example.com": {"127.0.0.1", "127.0.0.2"}, "privado.test": {"127.0.0.2"}})
		})
		moving := s.insertWebhook(t, fmt.Sprintf("https://example.com:%d/hook", port))
		private := s.insertWebhook(t, fmt.Sprintf("https://privado.test:%d/hook", port))
		unknown := s.insertWebhook(t, "https://nadie.test/hook")
		for range 2 {
			s.CreateOrder(t, s.Key)
			s.now.Advance(time.Second)
		}
		for webhookID, words := range map[string][2]string{
			moving:  {"", wordsRefused},
			private: {wordsRefused, wordsRefused},
			unknown: {"El nombre del receptor no se pudo resolver.", "El nombre del receptor no se pudo resolver."},
		} {
			for i, d := range s.logOf(t, webhookID) {
				s.send(t, uuid.MustParse(d.ID), models.CauseAuto)
				_, attempts := s.deliveryRow(t, d.ID)
				require.Equal(t, words[i], valueOf(attempts[0].Error))
			}
		}
		tripwire.RequireUntouched(t)
	})
}
