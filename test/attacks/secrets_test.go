package attacks

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// signers are those of the secrets that signed an event: the current one first, then the previous
// ones.
func signers(event apptest.Received, secrets ...string) (found []string) {
	signatures := strings.Fields(event.Header.Get("X-Service-Signature") + " " + event.Header.Get("X-Service-Signature-Previous"))
	for _, signature := range signatures {
		for _, secret := range secrets {
			digest := sha256.Sum256([]byte(secret + "." + event.Header.Get("X-Service-Timestamp") + "." + string(event.Body)))
			if signature == "sha256="+hex.EncodeToString(digest[:]) {
				found = append(found, secret)
			}
		}
	}
	return found
}

// Rotating again does not take its day from the secret that a receiver still has; a secret that is
// known to somebody else is revoked at once, with all before it. Nobody makes requests grow without
// bound by rotating.
func TestSecrets_rotatedAgainAndRevoked(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		receiver := apptest.NewReceiver(t, nil)
		id, first := s.Register(t, tenant.Key, receiver, map[string]any{"events": []string{"order.created"}})
		rotate := func(body any) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/webhooks/" + id + "/rotate", Key: tenant.Key, Body: body})
		}
		arrived := 0
		next := func() apptest.Received {
			s.CreateOrder(t, tenant.Key)
			arrived++
			return receiver.WaitFor(t, arrived)[arrived-1]
		}
		second, third := rotate(nil).String("secret"), rotate(map[string]any{"revoke": false}).String("secret")
		require.Equal(t, []string{third, second, first}, signers(next(), first, second, third))

		revoking := rotate(map[string]any{"revoke": true})
		require.Equal(t, http.StatusOK, revoking.Status, revoking.Text)
		fourth := revoking.String("secret")
		event := next()
		require.Equal(t, []string{fourth}, signers(event, first, second, third, fourth))
		require.NotContains(t, event.Header, http.CanonicalHeaderKey("X-Service-Signature-Previous"))
		require.Len(t, strings.Fields(event.Header.Get("webhook-signature")), 1)

		require.Equal(t, []string{"revoke"}, rotate(map[string]any{"revoke": "ya"}).Fields)
		for range 5 {
			require.Equal(t, http.StatusOK, rotate(nil).Status)
		}
		refused := rotate(nil)
		require.Equal(t, http.StatusConflict, refused.Status, refused.Text)
		require.Equal(t, "too_many_secrets", refused.Code)
		require.Equal(t, http.StatusOK, rotate(map[string]any{"revoke": true}).Status)
		require.Equal(t, http.StatusOK, rotate(nil).Status)
	})
}
