package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/internal/encryption"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// withDocument creates an order with a document number under an Idempotency-Key.
func withDocument(t *testing.T, s *apptest.Service, key, number, idempotencyKey string) *apptest.Answer {
	t.Helper()
	created := s.Do(t, apptest.Request{
		Method: http.MethodPost, Path: "/v1/orders", Key: key, Header: map[string]string{"Idempotency-Key": idempotencyKey},
		Body: apptest.Order(map[string]any{"recipient_doc_type": "passport", "recipient_doc_number": number, "notes": `"recipient_doc_number":null`}),
	})
	require.Equal(t, http.StatusCreated, created.Status, created.Text)
	return created
}

// shownDocument is the document number of an order as the API shows it.
func shownDocument(t *testing.T, s *apptest.Service, key, id string) any {
	t.Helper()
	read := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + id, Key: key})
	require.Equal(t, http.StatusOK, read.Status, read.Text)
	return read.Data["recipient_doc_number"]
}

func execute(t *testing.T, s *apptest.Service, statement string) {
	t.Helper()
	result, err := s.App.DB.SQL().ExecContext(t.Context(), statement)
	require.NoError(t, err)
	changed, err := result.RowsAffected()
	require.NoError(t, err)
	require.EqualValues(t, 1, changed, statement)
}

// The database holds no document number in clear, and every answer has it.
func TestDocuments_areEncryptedAtRest(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{}, func(t *testing.T, s *apptest.Service) {
		// Its digits are so many that no identifier has them by chance.
		const number = `P<00720072"31&`
		quoted, err := json.Marshal(number)
		require.NoError(t, err)
		tenant := s.NewTenant(t)
		s.Register(t, tenant.Key, apptest.NewReceiver(t, nil))
		key := uuid.NewString()
		created := withDocument(t, s, tenant.Key, number, key)
		require.Equal(t, number, created.Data["recipient_doc_number"])
		requireNotStored(t, s, number, string(quoted), "P<00720072", "00720072")

		require.Equal(t, number, shownDocument(t, s, tenant.Key, created.String("id")))
		list := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders", Key: tenant.Key})
		require.Equal(t, number, list.Data["orders"].([]any)[0].(map[string]any)["recipient_doc_number"])
		again := withDocument(t, s, tenant.Key, number, key)
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.Equal(t, created.Text, again.Text)

		other := withDocument(t, s, tenant.Key, "otro", uuid.NewString())
		execute(t, s, "UPDATE orders SET recipient_doc_encrypted = (SELECT recipient_doc_encrypted FROM orders WHERE id = '"+created.String("id")+
			"') WHERE id = '"+other.String("id")+"'")
		require.Nil(t, shownDocument(t, s, tenant.Key, other.String("id")), "it is bound to its order")
	})
}

// After `despacho secrets rotate` the new SECRET_KEY alone reads every document.
func TestDocuments_rotation(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		const newKey = "otra-clave-otra-clave-otra-clave-"
		var oldKey string
		first := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Configure: func(c *config.Config) { oldKey = c.SecretKey }})
		tenant, key := first.NewTenant(t), uuid.NewString()
		created := withDocument(t, first, tenant.Key, "XK553311", key)
		second := withDocument(t, first, tenant.Key, "XK774422", uuid.NewString()).String("id")

		told := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.SecretKeyOld = []string{newKey} }})
		both := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Configure: func(c *config.Config) {
			c.SecretKey, c.SecretKeyOld = newKey, []string{oldKey}
		}})
		require.Equal(t, "XK553311", shownDocument(t, both, tenant.Key, created.String("id")))
		next := withDocument(t, both, tenant.Key, "XK995533", uuid.NewString()).String("id")
		require.Equal(t, "XK995533", shownDocument(t, told, tenant.Key, next), "a process that was told of the new key reads what it encrypts")
		require.Nil(t, shownDocument(t, first, tenant.Key, next))
		changed, err := both.App.ReencryptSecrets(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, changed)
		changed, err = both.App.ReencryptSecrets(t.Context())
		require.NoError(t, err)
		require.Zero(t, changed, "it is done")

		last := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.SecretKey = newKey }})
		require.Equal(t, "XK774422", shownDocument(t, last, tenant.Key, second))
		require.Equal(t, created.Text, withDocument(t, last, tenant.Key, "XK553311", key).Text)
	})
}

// A value that no key opens, such as one of a SECRET_KEY that was lost, does not keep `despacho
// secrets rotate` from the others.
func TestSecretsRotate_goesOnAfterAValueThatNoKeyOpens(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		const newKey = "otra-clave-otra-clave-otra-clave-"
		var oldKey string
		first := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Configure: func(c *config.Config) { oldKey = c.SecretKey }})
		tenant := first.NewTenant(t)
		var hooks, orders []string
		for range 2 {
			hook, _ := first.Register(t, tenant.Key, apptest.NewReceiver(t, nil))
			hooks = append(hooks, hook)
			orders = append(orders, withDocument(t, first, tenant.Key, "XK553311", uuid.NewString()).String("id"))
		}
		slices.Sort(hooks)
		slices.Sort(orders)
		// A value is bound to its row: in another one no key opens it.
		copyValue := func(table, from, to, fromID, toID string) {
			execute(t, first, "UPDATE "+table+" SET "+to+" = (SELECT "+from+" FROM "+table+" WHERE id = '"+fromID+"') WHERE id = '"+toID+"'")
		}
		copyValue("webhooks", "secret", "previous_secret", hooks[0], hooks[1])
		copyValue("webhooks", "secret", "secret", hooks[1], hooks[0])
		copyValue("orders", "recipient_doc_encrypted", "recipient_doc_encrypted", orders[1], orders[0])

		both := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Configure: func(c *config.Config) {
			c.SecretKey, c.SecretKeyOld = newKey, []string{oldKey}
		}})
		changed, err := both.App.ReencryptSecrets(t.Context())
		require.ErrorIs(t, err, encryption.ErrOpen)
		require.ErrorContains(t, err, hooks[0])
		require.ErrorContains(t, err, orders[0])
		require.Equal(t, 2, changed, "the current secret of the other webhook, and the other order")

		last := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.SecretKey = newKey }})
		require.Equal(t, "XK553311", shownDocument(t, last, tenant.Key, orders[1]))
		require.Nil(t, shownDocument(t, last, tenant.Key, orders[0]))
	})
}
