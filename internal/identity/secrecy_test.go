package identity

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/test/closedport"
)

// Providers and net/http like to quote what they were asked; whatever goes wrong, the DNI and the
// token stay here.
func TestNoDNIInAnyLog(t *testing.T) {
	t.Parallel()
	quoting := `{"success":false,"message":"Token ` + someToken + `: error interno con el DNI ` + someDNI + `"}`
	for how, handler := range map[string]http.HandlerFunc{
		"a refusal that quotes":         respondsWith(http.StatusUnauthorized, quoting),
		"a failure that quotes":         respondsWith(http.StatusInternalServerError, quoting),
		"a success that is none":        respondsWith(http.StatusOK, quoting),
		"a body that is not JSON":       respondsWith(http.StatusOK, someDNI+someToken),
		"another status":                respondsWith(http.StatusTeapot, quoting),
		"a redirect that quotes":        redirectTo("/" + someDNI + "?" + someToken),
		"a redirect that cannot be had": redirectTo("http://[" + someDNI + someToken),
		"a head that quotes":            hijacked(t, func(c io.Writer) { _, _ = io.WriteString(c, "HTTP/1.1 "+someDNI+" "+someToken+"\r\n\r\n") }),
		"an answer that is not HTTP":    hijacked(t, func(c io.Writer) { _, _ = io.WriteString(c, someDNI+" "+someToken+"\r\n") }),
		"a connection that breaks":      hijacked(t, func(io.Writer) {}),
		"silence":                       hasNoResponse,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			for provider := range providerSpecs {
				var log transcript
				verifier := verifierOf(t, Options{
					Timeout: 100 * time.Millisecond, Logger: log.logger(),
					Cache: newFakeCache(clock.System()), CacheSecret: "secret",
				}, named(provider, serve(t, handler)))
				require.False(t, verify(t, verifier, someDNI).Outcome.isConclusive())
				require.Contains(t, log.String(), "provider="+provider)
				require.NotContains(t, log.String(), someDNI)
				require.NotContains(t, log.String(), someToken)
			}
		})
	}
	t.Run("nobody at the address", func(t *testing.T) {
		t.Parallel()
		var log transcript
		config := Config{Provider: "decolecta", URL: "http://" + closedport.Address(t) + "/dni?key=" + someToken}
		verify(t, verifierOf(t, Options{Logger: log.logger()}, config), someDNI)
		require.Contains(t, log.String(), "refused")
		require.NotContains(t, log.String(), someDNI)
		require.NotContains(t, log.String(), someToken, "an address may carry a secret of its own")
	})
}

func redirectTo(location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusFound)
	}
}

func TestNoDNIInAnyError(t *testing.T) {
	t.Parallel()
	for provider := range providerSpecs {
		verifier := verifierOf(t, Options{}, named(provider, serve(t, hasNoResponse)))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := verifier.Verify(ctx, someDNI)
		cancel()
		require.Error(t, err)
		require.NotContains(t, err.Error(), someDNI)
	}
}
