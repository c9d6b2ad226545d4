package webhooks_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// SECRET_KEY is replaced in three steps: both keys, re-encryption, the new key alone. At each of
// them events are signed with the secret that the receiver has.
func TestReencrypt_rotatesSecretKey(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		const newKey = "otra-clave-otra-clave-otra-clave-"
		var oldKey string
		first := apptest.Boot(t, databaseURL, apptest.Options{Configure: func(c *config.Config) { oldKey = c.SecretKey }})
		tenant := first.NewTenant(t)
		receiver := apptest.NewReceiver(t, nil)
		id, secret := first.Register(t, tenant.Key, receiver)
		secrets := []string{secret}
		for range 2 { // earlier secrets still sign
			rotated := first.Do(t, apptest.Request{Method: "POST", Path: "/v1/webhooks/" + id + "/rotate", Key: tenant.Key})
			require.Equal(t, http.StatusOK, rotated.Status, rotated.Text)
			secrets = append([]string{rotated.String("secret")}, secrets...)
		}
		first.StopWorker()

		both := apptest.Boot(t, databaseURL, apptest.Options{Configure: func(c *config.Config) {
			c.SecretKey, c.SecretKeyOld = newKey, []string{oldKey}
		}})
		both.CreateOrder(t, tenant.Key)
		requireSignedWith(t, receiver.WaitFor(t, 1)[0], secrets)
		changed, err := both.App.ReencryptSecrets(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, changed)
		changed, err = both.App.ReencryptSecrets(t.Context())
		require.NoError(t, err)
		require.Zero(t, changed, "it is done")
		both.StopWorker()

		last := apptest.Boot(t, databaseURL, apptest.Options{Configure: func(c *config.Config) { c.SecretKey = newKey }})
		last.CreateOrder(t, tenant.Key)
		requireSignedWith(t, receiver.WaitFor(t, 2)[1], secrets)
	})
}
