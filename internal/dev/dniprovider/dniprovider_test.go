package dniprovider_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/dev/dniprovider"
	"despacho/internal/identity"
	"despacho/test/poll"
)

func TestProvider_answersTheVerifier(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(dniprovider.Provider{SlowAnswer: time.Millisecond})
	t.Cleanup(server.Close)
	verifier, err := identity.New([]identity.Config{{Provider: identity.DevProvider, URL: server.URL}},
		identity.Options{Timeout: poll.Deadline})
	require.NoError(t, err)
	for dni, want := range map[string]identity.Answer{
		dniprovider.DNIRosa:          {Outcome: identity.Found, Name: "DIAZ QUISPE ROSA MARIA"},
		dniprovider.DNIJose:          {Outcome: identity.Found, Name: "ÑAUPARI DE LA CRUZ JOSE"},
		dniprovider.DNILuz:           {Outcome: identity.Found, Name: "HUAMAN FLORES LUZ MARINA"},
		dniprovider.DNISlow:          {Outcome: identity.Found, Name: "ROJAS SALAS PEDRO PABLO"},
		dniprovider.DNIFails:         {Outcome: identity.Unavailable},
		dniprovider.DNIWithoutCredit: {Outcome: identity.QuotaOrCredentials},
		"40217865":                   {Outcome: identity.NotFound},
	} {
		want.Provider = identity.DevProvider
		answer, err := verifier.Verify(t.Context(), dni)
		require.NoError(t, err)
		require.Equal(t, want, answer, dni)
	}
}

func TestProvider_answersTheSlowDNIAfterSlowAnswer(t *testing.T) {
	t.Parallel()
	for given, want := range map[time.Duration]time.Duration{0: dniprovider.SlowAnswer, time.Hour: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			began, answer := time.Now(), httptest.NewRecorder()
			request := httptest.NewRequest(http.MethodGet, "/?numero="+dniprovider.DNISlow, nil)
			dniprovider.Provider{SlowAnswer: given}.ServeHTTP(answer, request)
			require.Equal(t, http.StatusOK, answer.Code)
			require.Equal(t, want, time.Since(began), "by the fake clock")
		})
	}
}
