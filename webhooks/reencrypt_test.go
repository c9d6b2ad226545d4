package webhooks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/testenv"
	"despacho/webhooks/sender"
)

// SECRET_KEY is replaced in three steps: both keys, re-encryption, the new key alone. At each of them
// events are signed with the secret that the receiver has.
func TestReencrypt_rotatesSecretKey(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		const newKey = "otra-clave-otra-clave-otra-clave-"
		var oldKey string
		first := apptest.Boot(t, databaseURL, apptest.Options{Configure: func(c *config.Config) { oldKey = c.SecretKey }})
		tenant := first.NewTenant(t)
		receiver := apptest.NewReceiver(t, nil)
		_, secret := first.Register(t, tenant.Key, receiver)
		first.StopWorker()

		both := apptest.Boot(t, databaseURL, apptest.Options{Configure: func(c *config.Config) {
			c.SecretKey, c.SecretKeyOld = newKey, []string{oldKey}
		}})
		both.CreateOrder(t, tenant.Key)
		requireVerified(t, receiver.WaitFor(t, 1)[0], secret)
		changed, err := both.App.ReencryptSecrets(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, changed)
		changed, err = both.App.ReencryptSecrets(t.Context())
		require.NoError(t, err)
		require.Zero(t, changed, "it is done")
		both.StopWorker()

		last := apptest.Boot(t, databaseURL, apptest.Options{Configure: func(c *config.Config) { c.SecretKey = newKey }})
		last.CreateOrder(t, tenant.Key)
		requireVerified(t, receiver.WaitFor(t, 2)[1], secret)
	})
}

func requireVerified(t *testing.T, event apptest.Received, secret string) {
	t.Helper()
	require.NoError(t, sender.Verify(event.Header, event.Body, time.Now(), secret))
}
