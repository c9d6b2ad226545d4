package webhooks_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/internal/encryption"
	"despacho/internal/webhooks"
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
		require.Equal(t, 3, changed, "the secret, the previous one and the list of those before")
		changed, err = both.App.ReencryptSecrets(t.Context())
		require.NoError(t, err)
		require.Zero(t, changed, "it is done")
		both.StopWorker()

		last := apptest.Boot(t, databaseURL, apptest.Options{Configure: func(c *config.Config) { c.SecretKey = newKey }})
		last.CreateOrder(t, tenant.Key)
		requireSignedWith(t, receiver.WaitFor(t, 2)[1], secrets)
	})
}

// Older secrets that are no list, as a damaged row has them, keep nobody from anything: the webhook
// gets its events, another secret and the redelivery of an event, and the secrets of the others are
// encrypted with the new key.
func TestReencrypt_damagedOlderSecrets(t *testing.T) {
	eachOwn(t, apptest.Options{}, func(t *testing.T, s *harness) {
		receiver := apptest.NewReceiver(t, nil)
		id, secret := s.Register(t, s.Key, receiver, onlyCreated)
		next, _ := s.Register(t, s.Key, apptest.NewReceiver(t, nil), onlyCreated)
		hook := s.webhookRow(t, id)
		hook.OlderSecrets = []byte("damaged")
		require.NoError(t, webhooks.SaveSecrets(t.Context(), s.App.DB, hook))
		s.CreateOrder(t, s.Key)
		requireSigned(t, receiver.WaitFor(t, 1)[0], secret, "")
		sent := s.waitUntilFinished(t, id, 1)[0]
		require.Equal(t, "delivered", s.redeliver(t, sent.ID).Status)

		both := apptest.Boot(t, s.Config.DatabaseURL, apptest.Options{NoWorker: true, Configure: func(c *config.Config) {
			c.SecretKey, c.SecretKeyOld = "otra-clave-otra-clave-otra-clave-", []string{s.Config.SecretKey}
		}})
		before := s.webhookRow(t, next).Secret
		changed, err := both.App.ReencryptSecrets(t.Context())
		require.ErrorIs(t, err, encryption.ErrOpen, "it is reported")
		require.ErrorContains(t, err, id)
		require.Equal(t, 2, changed)
		require.NotEqual(t, before, s.webhookRow(t, next).Secret)
		require.Equal(t, []byte("damaged"), s.webhookRow(t, id).OlderSecrets, "left as it is")
		s.rotate(t, id)
		require.Empty(t, s.webhookRow(t, id).OlderSecrets)
	})
}
