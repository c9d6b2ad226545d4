package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

func registerWebhook(t *testing.T, s *apptest.Service, key string, body any) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/webhooks", Key: key, Body: body})
}

func deactivateWebhook(t *testing.T, s *apptest.Service, key, id string) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: http.MethodDelete, Path: "/v1/webhooks/" + id, Key: key})
}

// Registration answers 201 with the secret, which is never shown again (also section 2.5).
func TestContract_4_4_registerAndList(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		hook := registerWebhook(t, s, tenant.Key, map[string]any{
			"url": "https://erp.tienda.example:8443/avisos?token=1", "events": []string{"order.delivered", "order.cancelled", "order.delivered"}, "retry": true,
		})
		require.Equal(t, http.StatusCreated, hook.Status, hook.Text)
		require.Equal(t, "/v1/webhooks/"+hook.String("id"), hook.Header.Get("Location"))
		secret := hook.String("secret")
		random, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		require.NoError(t, err)
		require.Len(t, random, 32)
		require.True(t, strings.HasPrefix(secret, "whsec_"))

		shown := map[string]any{
			"id": hook.Data["id"], "url": "https://erp.tienda.example:8443/avisos?token=1", "events": []any{"order.delivered", "order.cancelled"},
			"store_id": nil, "owner": "operator", "retry": true, "active": true, "paused_at": nil, "created_at": apptest.FrozenAt.Format(time.RFC3339),
			"circuit":       map[string]any{"state": "closed", "failures": 0.0, "opened_at": nil, "next_probe_at": nil},
			"failing_since": nil, "deactivated_at": nil, "deactivated_reason": nil,
		}
		list := get(t, s, tenant.Key, "/v1/webhooks")
		require.Equal(t, []map[string]any{shown}, listed(t, list), "duplicates folded, no secret")
		require.Equal(t, shown, get(t, s, tenant.Key, hook.Header.Get("Location")).Data, "Location leads to the same object")
		shown["secret"] = secret
		require.Equal(t, shown, hook.Data)

		second := registerWebhook(t, s, tenant.Key, map[string]any{"url": "https://erp.tienda.example/otro", "events": []string{"order.created", "order.assigned"}})
		require.Equal(t, false, second.Data["retry"], "the default is a single attempt")
		require.NotEqual(t, secret, second.String("secret"))
	})
}

// HTTPS is required, to a server on the public internet; the refusal names the field.
func TestContract_4_4_url(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for _, wrong := range []any{
			nil, "", 5, []string{"https://tienda.example"}, "tienda.example/hook", "http://tienda.example/hook", "ftp://tienda.example", "//tienda.example", "https://", "https:///hook",
			"https://usuario:clave@tienda.example/", "https://usuario@tienda.example/", "https://tienda.example/#ancla", "https://tienda.example/hook#",
			"https://tienda.example:0/", "https://tienda.example:99999/", "https://tienda.example:/", "https://tienda .example/", "https://tienda.example/\x00",
			"https://127.0.0.1/hook", "https://localhost/hook", "https://api.localhost/", "https://[::1]/", "https://10.0.0.1/", "https://172.16.5.4/", "https://192.168.1.1/",
			"https://169.254.169.254/latest/meta-data/", "https://100.64.0.1/", "https://0.0.0.0/", "https://[fd00::1]/", "https://[fe80::1]/", "https://[::ffff:10.0.0.1]/",
			"https://[64:ff9b::a00:1]/", "https://[2002:a00:1::]/", "https://224.0.0.1/", "https://2130706433/", "https://0x7f.1/", "https://127.1/",
			"https://tienda.example/" + strings.Repeat("a", 2048),
		} {
			t.Run(fmt.Sprint(wrong), func(t *testing.T) {
				body := map[string]any{"url": wrong, "events": []string{"order.created"}}
				requireWrongFields(t, registerWebhook(t, s, tenant.Key, body), "url")
			})
		}
		require.Empty(t, listed(t, get(t, s, tenant.Key, "/v1/webhooks")))
	})
}

// events: at least one known event.
func TestContract_4_4_events(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for _, wrong := range []string{"null", "[]", `"order.created"`, `{}`, `5`, `["order.received"]`, `["order.created","order.exploded"]`, `["ORDER.CREATED"]`, `[""]`, `[null]`, `[5]`, `[["order.created"]]`, `["order.created\u0000"]`} {
			body := map[string]any{"url": "https://tienda.example/", "events": json.RawMessage(wrong)}
			requireWrongFields(t, registerWebhook(t, s, tenant.Key, body), "events")
		}
		requireWrongFields(t, registerWebhook(t, s, tenant.Key, map[string]any{}), "url", "events")
		requireWrongFields(t, registerWebhook(t, s, tenant.Key, map[string]any{"url": 1, "events": 1, "store_id": 1, "retry": "sí"}), "url", "events", "store_id", "retry")
		require.Empty(t, listed(t, get(t, s, tenant.Key, "/v1/webhooks")))
	})
}

// store_id narrows an unbound key's webhook to one of the operator's active stores.
func TestContract_4_4_storeID(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant, stranger := s.NewTenant(t), s.NewTenant(t)
		for _, wrong := range []any{uuid.New(), stranger.StoreA.ID, "tienda", 5} {
			body := map[string]any{"url": "https://tienda.example/", "events": []string{"order.created"}, "store_id": wrong}
			requireWrongFields(t, registerWebhook(t, s, tenant.Key, body), "store_id")
		}
	})
}

// At most 20 are active for each operator and for each of its stores; the next is 409, however many
// come at once.
func TestContract_4_4_atMostTwenty(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		body := map[string]any{"url": "https://tienda.example/hook", "events": []string{"order.created"}}
		require.Equal(t, map[int]int{http.StatusCreated: 20, http.StatusConflict: 10}, inParallel(t, 30, func(int) apptest.Request {
			return apptest.Request{Method: "POST", Path: "/v1/webhooks", Key: tenant.Key, Body: body}
		}, s))
		requireRefused(t, registerWebhook(t, s, tenant.Key, body), http.StatusConflict, "too_many_webhooks")
		active := listed(t, get(t, s, tenant.Key, "/v1/webhooks"))
		require.Len(t, active, 20)

		require.Equal(t, http.StatusCreated, registerWebhook(t, s, tenant.KeyA, body).Status, "a store counts for itself")
		require.Equal(t, http.StatusOK, deactivateWebhook(t, s, tenant.Key, active[0]["id"].(string)).Status)
		require.Equal(t, http.StatusCreated, registerWebhook(t, s, tenant.Key, body).Status, "a deactivated one counts no longer")
	})
}

// DELETE deactivates: 200 with a message, 404 the second time and for what is not there.
func TestContract_4_4_deactivate(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		hook := registerWebhook(t, s, tenant.Key, map[string]any{"url": "https://tienda.example/hook", "events": []string{"order.created"}})
		answer := deactivateWebhook(t, s, tenant.Key, hook.String("id"))
		require.Equal(t, http.StatusOK, answer.Status)
		require.NotEmpty(t, answer.Message)
		require.Empty(t, listed(t, get(t, s, tenant.Key, "/v1/webhooks")), "the list has the active ones")
		require.Equal(t, false, get(t, s, tenant.Key, hook.Header.Get("Location")).Data["active"])
		for _, gone := range []string{hook.String("id"), uuid.NewString(), "no-es-un-id"} {
			requireRefused(t, deactivateWebhook(t, s, tenant.Key, gone), http.StatusNotFound, "webhook_not_found")
		}
	})
}
