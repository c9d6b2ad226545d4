package sender_test

import (
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/webhooks/sender"
	"despacho/test/closedport"
	"despacho/test/safehttptest"
)

func TestSendVerifiesTheReceiversCertificate(t *testing.T) {
	t.Parallel()
	accept := respondWith(200, "")
	plain := httptest.NewServer(accept)
	t.Cleanup(plain.Close)
	trusted := testAuthority().certify(t, receiverName, time.Hour)

	for name, test := range map[string]struct {
		url   string
		roots *x509.CertPool
		words string
	}{
		"another name": {startReceiver(t, testAuthority().certify(t, "otra.test", time.Hour), false, accept), testAuthority().roots,
			"El certificado TLS del receptor no corresponde a su nombre."},
		"expired": {startReceiver(t, testAuthority().certify(t, receiverName, -time.Hour), false, accept), testAuthority().roots,
			"El certificado TLS del receptor está vencido o aún no es válido."},
		"unknown authority": {startReceiver(t, trusted, false, accept), x509.NewCertPool(),
			"El certificado TLS del receptor no viene de una autoridad conocida."},
		"no TLS at all": {urlAt(plain.Listener.Addr()), testAuthority().roots,
			"No se pudo establecer una conexión segura (TLS) con el receptor."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := senderOptions(t)
			options.HTTP.RootCAs = test.roots

			result := send(t.Context(), sender.NewSender(options), deliveredEvent(test.url))

			requireOutcome(t, outcome{reason: sender.ReasonTLS, words: test.words}, result)
		})
	}
}

func TestSendSaysThatNobodyListens(t *testing.T) {
	t.Parallel()
	closed, err := net.ResolveTCPAddr("tcp", closedport.Address(t))
	require.NoError(t, err)

	result := send(t.Context(), sender.NewSender(senderOptions(t)), deliveredEvent(urlAt(closed)))

	requireOutcome(t, outcome{
		reason: sender.ReasonConnectionRefused, words: "El receptor rechazó la conexión.",
	}, result)
}

func TestSendSaysThatANameDoesNotExist(t *testing.T) {
	t.Parallel()
	result := send(t.Context(), sender.NewSender(senderOptions(t)), deliveredEvent("https://nadie.test/hook"))
	requireOutcome(t, outcome{
		reason: sender.ReasonDNS, words: "El nombre del receptor no se pudo resolver.",
	}, result)
}

var refusedAddress = outcome{
	reason: sender.ReasonRefusedAddress,
	words:  "La dirección del receptor no está permitida: solo se envía a direcciones públicas.",
}

func TestSendNeverConnectsToARefusedAddress(t *testing.T) {
	t.Parallel()
	tripwire := safehttptest.NewTripwire(t, "127.0.0.2:0")
	_, port, err := net.SplitHostPort(tripwire.Addr())
	require.NoError(t, err)
	options := senderOptions(t)
	options.HTTP.Resolver = safehttptest.Resolver(t, safehttptest.Names{receiverName: {"127.0.0.2"}})
	s := sender.NewSender(options)

	for _, host := range []string{receiverName, "127.0.0.2", "[::ffff:127.0.0.2]"} {
		result := send(t.Context(), s, deliveredEvent("https://"+host+":"+port+"/hook"))
		requireOutcome(t, refusedAddress, result)
	}
	tripwire.RequireUntouched(t)
}

func TestSendRefusesANameThatMovesToARefusedAddress(t *testing.T) {
	t.Parallel()
	url := newReceiver(t, contractReceiver(currentSecret))
	tripwire := safehttptest.NewTripwire(t, "127.0.0.2:"+portOf(t, url))
	options := senderOptions(t)
	options.HTTP.Resolver = safehttptest.Resolver(t, safehttptest.Names{receiverName: {"127.0.0.1", "127.0.0.2"}})
	s := sender.NewSender(options)

	first := send(t.Context(), s, deliveredEvent(url))
	require.True(t, first.Delivered(), first.Message)

	requireOutcome(t, refusedAddress, send(t.Context(), s, deliveredEvent(url)))
	tripwire.RequireUntouched(t)
}

func TestSendRefusesWhatItCannotSignOrCall(t *testing.T) {
	t.Parallel()
	tripwire := safehttptest.NewTripwire(t, "127.0.0.1:0")
	url := "https://" + tripwire.Addr()
	const unsignable = "El evento no se pudo firmar: el secreto o los datos del webhook no son válidos."
	for name, test := range map[string]struct {
		change func(*sender.Request)
		words  string
	}{
		"no secret":      {func(r *sender.Request) { r.Secrets = nil }, unsignable},
		"data not JSON":  {func(r *sender.Request) { r.Data = json.RawMessage("nada") }, unsignable},
		"URL not HTTPS":  {func(r *sender.Request) { r.URL = "http://" + tripwire.Addr() }, "La URL debe empezar con https://."},
		"URL with users": {func(r *sender.Request) { r.URL = "https://a:b@" + tripwire.Addr() }, "La URL no puede llevar usuario ni contraseña."},
	} {
		event := deliveredEvent(url)
		test.change(&event)
		result := send(t.Context(), sender.NewSender(senderOptions(t)), event)
		requireOutcome(t, outcome{reason: sender.ReasonInvalid, words: test.words}, result)
		require.Zero(t, result.Duration, name)
	}
	tripwire.RequireUntouched(t)
}
