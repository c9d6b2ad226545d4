package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/credentials"
	"despacho/internal/jsonbody"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// once posts a body, as it is, under an Idempotency-Key.
func once(t *testing.T, s *apptest.Service, apiKey, key, raw string) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: apiKey, Raw: []byte(raw), Header: map[string]string{"Idempotency-Key": key}})
}

// orderBody is a creation request with a risk zone's warning in its answer.
func orderBody(product string) string {
	return fmt.Sprintf(`{"recipient_name":"Rosa Díaz","recipient_phone":"987654321","delivery_address":"Jr. Huáscar 1","location_id":"%s","product":"%s","amount_to_collect":50,"extra":{"a":[1,2],"b":null}}`,
		apptest.SanJuan, product)
}

// sameOrderBody is orderBody's JSON value with its members in another order, other spacing, other
// escapes and another way to write the number.
func sameOrderBody(product string) string {
	return fmt.Sprintf(` {
		"extra" : { "b" : null, "a" : [ 1, 2 ] }, "amount_to_collect": 5.0e1, "product": "%s", "location_id":"%s",
		"delivery_address":"Jr. Hu\u00e1scar 1", "recipient_phone":"\u00398765432\u0031", "recipient_name":"Rosa Díaz" } `,
		product, apptest.SanJuan)
}

// requireReplay demands the identical response to the first, byte for byte.
func requireReplay(t *testing.T, first, again *apptest.Answer) {
	t.Helper()
	require.Equal(t, first.Status, again.Status, again.Text)
	require.Equal(t, first.Text, again.Text)
	require.Equal(t, first.Header.Get("Location"), again.Header.Get("Location"))
	require.Equal(t, first.Header.Get("Content-Type"), again.Header.Get("Content-Type"))
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Empty(t, first.Header.Get("Idempotent-Replayed"))
}

// First use: 201. Same key and body again: nothing is created, the response is the first one byte
// for byte.
func TestContract_4_7_sameKeySameBody(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		first := once(t, s, tenant.Key, "venta-1", orderBody("Zapatillas"))
		require.Equal(t, http.StatusCreated, first.Status, first.Text)
		require.NotEmpty(t, first.Warning)
		requireReplay(t, first, once(t, s, tenant.Key, "venta-1", orderBody("Zapatillas")))
		requireReplay(t, first, once(t, s, tenant.Key, "venta-1", sameOrderBody("Zapatillas")))
		require.Equal(t, 1, countOrders(t, s, tenant))
	})
}

// The replay is the first response, also after the order has changed.
func TestContract_4_7_replayIsTheFirstResponse(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		first := once(t, s, tenant.Key, "venta-1", orderBody("Zapatillas"))
		require.Equal(t, http.StatusOK, cancelOrder(t, s, tenant.Key, first.String("id"), nil).Status)
		requireReplay(t, first, once(t, s, tenant.Key, "venta-1", orderBody("Zapatillas")))
		require.Equal(t, "cancelled", get(t, s, tenant.Key, "/v1/orders/"+first.String("id")).String("status"))
	})
}

// A response that an earlier release stored is replayed with its bytes, here with the members of
// the order in another order than today's.
func TestContract_4_7_replayOfAnEarlierRelease(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		first := once(t, s, tenant.Key, "venta-1", orderBody("Zapatillas"))
		data, err := json.Marshal(first.Data)
		require.NoError(t, err)
		stored := fmt.Sprintf(`{"data":%s,"warning":"%s"}`, data, first.Warning)
		require.NotEqual(t, first.Text, stored)
		record := insertKey(t, s, tenant.Key, "venta-2", orderBody("Zapatillas"))
		require.NoError(t, s.App.DB.Query(t.Context()).Model(record).Where("key = ?", record.Key).UpdateColumn("response", []byte(stored)).Error)
		first.Text = stored
		requireReplay(t, first, once(t, s, tenant.Key, "venta-2", orderBody("Zapatillas")))
		require.Equal(t, 1, countOrders(t, s, tenant))
	})
}

// Same key, different body: 422; the first response is still replayed.
func TestContract_4_7_sameKeyDifferentBody(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		first := once(t, s, tenant.Key, "venta-1", orderBody("Zapatillas"))
		for _, different := range []string{
			orderBody("Botas"), `{}`, strings.Replace(orderBody("Zapatillas"), "[1,2]", "[2,1]", 1), strings.Replace(orderBody("Zapatillas"), ":50,", `:"50",`, 1),
			strings.Replace(orderBody("Zapatillas"), `"b":null`, `"c":null`, 1),
		} {
			requireRefused(t, once(t, s, tenant.Key, "venta-1", different), http.StatusUnprocessableEntity, "idempotency_key_reused")
		}
		requireReplay(t, first, once(t, s, tenant.Key, "venta-1", orderBody("Zapatillas")))
		require.Equal(t, 1, countOrders(t, s, tenant))
	})
}

// Without the header each request creates a new order.
func TestContract_4_7_withoutKey(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		require.NotEqual(t, s.CreateOrder(t, tenant.Key), s.CreateOrder(t, tenant.Key))
		require.Equal(t, 2, countOrders(t, s, tenant))
	})
}

// The key is scoped to the API key: another key using the same text does not collide.
func TestContract_4_7_scopedToTheAPIKey(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant, stranger := s.NewTenant(t), s.NewTenant(t)
		ids := map[string]bool{}
		for i, key := range []string{tenant.Key, tenant.KeyA, tenant.KeyB, stranger.Key} {
			answer := once(t, s, key, "venta-1", orderBody(fmt.Sprint("Producto ", i)))
			require.Equal(t, http.StatusCreated, answer.Status, answer.Text)
			require.Empty(t, answer.Header.Get("Idempotent-Replayed"))
			ids[answer.String("id")] = true
		}
		require.Len(t, ids, 4)
	})
}

// Only successful creations are recorded: after a failure the key stays free and a corrected retry
// proceeds normally.
func TestContract_4_7_failureFreesTheKey(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for name, c := range map[string]struct {
			body   string
			status int
		}{
			"wrong field":      {strings.Replace(orderBody("x"), "987654321", "hola", 1), http.StatusBadRequest},
			"missing fields":   {`{}`, http.StatusBadRequest},
			"unparseable JSON": {`{"product":`, http.StatusBadRequest},
			"not covered":      {strings.Replace(orderBody("x"), apptest.SanJuan.String(), apptest.Cusco.String(), 1), http.StatusUnprocessableEntity},
			"unknown store":    {strings.Replace(orderBody("x"), `"extra"`, `"store_id":"`+uuid.NewString()+`","extra"`, 1), http.StatusBadRequest},
		} {
			for range 2 {
				failed := once(t, s, tenant.Key, name, c.body)
				require.Equal(t, c.status, failed.Status, "%s: %s", name, failed.Text)
				require.Empty(t, failed.Header.Get("Idempotent-Replayed"), "a failure is never replayed")
			}
			corrected := once(t, s, tenant.Key, name, orderBody("Zapatillas"))
			require.Equal(t, http.StatusCreated, corrected.Status, "%s: %s", name, corrected.Text)
			requireReplay(t, corrected, once(t, s, tenant.Key, name, orderBody("Zapatillas")))
		}
		require.Equal(t, 5, countOrders(t, s, tenant))
	})
}

// Any text up to 255 characters; bare and quoted forms are the same key; empty or longer is 400.
func TestContract_4_7_keyForms(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for _, key := range []string{"venta-1", "con espacios, comas; y más", "ñandú 🚚", `"`, `a"b`, strings.Repeat("x", 255), strings.Repeat("ñ", 255)} {
			first := once(t, s, tenant.Key, key, orderBody("Zapatillas"))
			require.Equal(t, http.StatusCreated, first.Status, first.Text)
			requireReplay(t, first, once(t, s, tenant.Key, key, orderBody("Zapatillas")))
			requireReplay(t, first, once(t, s, tenant.Key, `"`+key+`"`, orderBody("Zapatillas")))
			requireReplay(t, first, once(t, s, tenant.Key, "  "+key+" ", orderBody("Zapatillas")))
		}
		before := countOrders(t, s, tenant)
		require.Equal(t, 7, before, "one for each key")
		for _, wrong := range []string{"", "   ", `""`, strings.Repeat("x", 256), strings.Repeat("ñ", 256), `"` + strings.Repeat("x", 256) + `"`, "\xff\xfe"} {
			requireRefused(t, once(t, s, tenant.Key, wrong, orderBody("Zapatillas")), http.StatusBadRequest, "invalid_idempotency_key", "Idempotency-Key")
		}
		require.Equal(t, before, countOrders(t, s, tenant))
	})
}

// 50 parallel requests with one key create exactly one order; each gets its response, or 409
// while the first is still processing.
func TestContract_4_7_fiftyInParallel(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		answers := allAtOnce(t, 50, func(int) (*apptest.Answer, error) {
			return s.Try(apptest.Request{
				Method: "POST", Path: "/v1/orders", Key: tenant.Key, Raw: []byte(orderBody("Zapatillas")), Header: map[string]string{"Idempotency-Key": "venta-1"},
			})
		})
		require.Equal(t, 1, countOrders(t, s, tenant))

		var first *apptest.Answer
		for _, answer := range answers {
			if answer.Status == http.StatusCreated && answer.Header.Get("Idempotent-Replayed") == "" {
				require.Nil(t, first, "two responses are not replays")
				first = answer
			}
		}
		require.NotNil(t, first)
		for _, answer := range answers {
			switch {
			case answer == first:
			case answer.Status == http.StatusConflict:
				requireRefused(t, answer, http.StatusConflict, "idempotency_in_progress")
			default:
				requireReplay(t, first, answer)
			}
		}
		requireReplay(t, first, once(t, s, tenant.Key, "venta-1", orderBody("Zapatillas")))
	})
}

// Same key after 24 hours: treated as new.
func TestContract_4_7_after24Hours(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		manual := clock.NewManual(apptest.FrozenAt)
		s := apptest.Boot(t, databaseURL, apptest.Options{Clock: manual, NoWorker: true})
		tenant := s.NewTenant(t)
		first := once(t, s, tenant.Key, "venta-1", orderBody("Zapatillas"))
		other := once(t, s, tenant.Key, "venta-2", orderBody("Zapatillas"))

		manual.Advance(24*time.Hour - time.Microsecond)
		requireReplay(t, first, once(t, s, tenant.Key, "venta-1", orderBody("Zapatillas")))
		requireRefused(t, once(t, s, tenant.Key, "venta-2", orderBody("Botas")), http.StatusUnprocessableEntity, "idempotency_key_reused")

		manual.Advance(time.Microsecond)
		second := once(t, s, tenant.Key, "venta-1", orderBody("Zapatillas"))
		require.Equal(t, http.StatusCreated, second.Status)
		require.Empty(t, second.Header.Get("Idempotent-Replayed"))
		require.NotEqual(t, first.String("id"), second.String("id"))
		requireReplay(t, second, once(t, s, tenant.Key, "venta-1", orderBody("Zapatillas")))
		changed := once(t, s, tenant.Key, "venta-2", orderBody("Botas"))
		require.Equal(t, http.StatusCreated, changed.Status, "also with another body")
		require.NotEqual(t, other.String("id"), changed.String("id"))
		require.Equal(t, 4, countOrders(t, s, tenant))
	})
}

// Same key while the first request is still processing: 409. A process that died with it blocks the
// key for 60 seconds and no longer.
func TestContract_4_7_stillProcessing(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		manual := clock.NewManual(apptest.FrozenAt)
		s := apptest.Boot(t, databaseURL, apptest.Options{Clock: manual, NoWorker: true})
		tenant := s.NewTenant(t)
		insertKey(t, s, tenant.Key, "venta-1", orderBody("Zapatillas"))
		inProgress := func(raw string) {
			requireRefused(t, once(t, s, tenant.Key, "venta-1", raw), http.StatusConflict, "idempotency_in_progress")
		}
		inProgress(orderBody("Zapatillas"))
		inProgress(orderBody("Botas"))
		require.Equal(t, http.StatusCreated, once(t, s, tenant.KeyA, "venta-1", orderBody("Zapatillas")).Status, "another API key is not blocked")
		manual.Advance(time.Minute - time.Microsecond)
		inProgress(orderBody("Zapatillas"))
		before := countOrders(t, s, tenant)

		manual.Advance(time.Microsecond)
		taken := once(t, s, tenant.Key, "venta-1", orderBody("Zapatillas"))
		require.Equal(t, http.StatusCreated, taken.Status, taken.Text)
		requireReplay(t, taken, once(t, s, tenant.Key, "venta-1", orderBody("Zapatillas")))
		require.Equal(t, before+1, countOrders(t, s, tenant))
	})
}

// insertKey is what a process leaves that dies between taking the key and creating the order.
func insertKey(t *testing.T, s *apptest.Service, apiKey, key, raw string) *models.IdempotencyRecord {
	t.Helper()
	holder, _, err := s.App.DB.Authenticate(t.Context(), credentials.Hash(apiKey), apptest.FrozenAt, uuid.Nil)
	require.NoError(t, err)
	sent, err := jsonbody.Parse([]byte(raw))
	require.NoError(t, err)
	record := &models.IdempotencyRecord{
		ScopeID: holder.Key.ID, Key: key, BodyHash: sent.Hash(), LeaseToken: uuid.New(), LeaseUntil: apptest.FrozenAt.Add(time.Minute),
		CreatedAt: apptest.FrozenAt, ExpiresAt: apptest.FrozenAt.Add(24 * time.Hour),
	}
	require.NoError(t, s.App.DB.Insert(t.Context(), record))
	return record
}
