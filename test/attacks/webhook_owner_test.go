package attacks

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// An operator's webhook that is limited to a store is the operator's: the store sees that its
// orders were told about, and can neither read nor change nor use the webhook.
func TestAccess_storeToTheOperatorsWebhook(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			_, _ = w.Write([]byte("respuesta secreta"))
		})
		hook, secret := s.Register(t, tenant.Key, receiver, map[string]any{"store_id": tenant.StoreA.ID})
		order := s.CreateOrder(t, tenant.KeyA)
		require.Equal(t, http.StatusOK, s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/webhooks/" + hook + "/test", Key: tenant.Key}).Status)
		var delivery string
		poll.Until(t, func() error {
			for _, d := range deliveriesOf(t, s, apptest.Request{Path: "/v1/deliveries?order_id=" + order, Key: tenant.Key}) {
				if d["status"] == "failed" {
					delivery = d["id"].(string)
					return nil
				}
			}
			return errors.New("the event of the creation is still on its way")
		})
		v := &victim{Tenant: tenant, s: s, markers: []string{secret, "respuesta secreta", strings.TrimPrefix(receiver.URL, "https://")}}
		const sentStatus = `\b418\b` // not a part of a port
		requireHidden := func(what, text string) {
			v.requireHidden(t, what, text)
			require.NotRegexp(t, sentStatus, text, what)
		}
		operator := attacker{key: tenant.Key, token: tenant.SignIn(t, nil), own: tenant}
		for _, path := range []string{"/v1/deliveries", "/panel/api/deliveries", "/panel/pedidos/" + order} {
			_, text := operator.call(t, s, http.MethodGet, path, nil)
			require.Regexp(t, sentStatus, text, "the operator sees it")
		}
		before := v.rows(t, "webhooks", "operator_id = $")
		store := attacker{key: tenant.KeyA, token: tenant.SignIn(t, &tenant.StoreA), own: tenant}

		tried := 0
		for _, route := range routes(t) {
			path := strings.ReplaceAll(route.Path, ":id", hook)
			if strings.Contains(route.Path, "/deliveries/:id") || strings.Contains(route.Path, "/envios/:id") {
				path = strings.ReplaceAll(route.Path, ":id", delivery)
			} else if !strings.Contains(route.Path, "/webhooks/:id") {
				continue
			}
			status, text := store.call(t, s, route.Method, path, bodyNaming(tenant))
			what := fmt.Sprintf("%s %s: %s", route.Method, route.Path, text)
			if strings.Contains(route.Path, "/envios/:id") {
				require.Contains(t, []int{http.StatusNotFound, http.StatusSeeOther}, status, what)
			} else {
				require.Equal(t, http.StatusNotFound, status, what)
			}
			requireHidden(what, text)
			tried++
		}
		require.Greater(t, tried, 10)
		for _, path := range []string{
			"/v1/webhooks", "/panel/api/webhooks", "/panel/webhooks", "/v1/deliveries", "/panel/api/deliveries", "/panel/pedidos/" + order,
			"/v1/deliveries?webhook_id=" + hook, "/v1/orders/" + order,
		} {
			status, text := store.call(t, s, http.MethodGet, path, nil)
			require.Equal(t, http.StatusOK, status, path)
			requireHidden(path, text)
		}
		require.Equal(t, before, v.rows(t, "webhooks", "operator_id = $"))
		require.Len(t, receiver.Events(), 2, "the store sent nothing")

		for _, request := range []apptest.Request{{Path: "/v1/deliveries", Key: store.key}, {Path: "/panel/api/deliveries", Token: store.token}} {
			seen := deliveriesOf(t, s, request)
			require.Len(t, seen, 1, "the event about its order, and not the operator's test")
			require.Equal(t, delivery, seen[0]["id"])
			require.Equal(t, "failed", seen[0]["status"])
			require.Equal(t, "operator", seen[0]["owner"])
			require.Empty(t, seen[0]["attempts"])
		}
		_, page := store.call(t, s, http.MethodGet, "/panel/pedidos/"+order, nil)
		require.Contains(t, page, "webhook del operador")
		require.Empty(t, deliveriesOf(t, s, apptest.Request{Path: "/v1/deliveries", Key: tenant.KeyB}), "another store sees nothing of it")
	})
}

// What a store registers is the store's, with a bound key or in the panel, and the operator sees
// it; neither uses up the other's number of webhooks.
func TestAccess_webhooksCountForTheirOwner(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		body := map[string]any{"url": "https://tienda.example/hook", "events": []models.Event{models.EventCreated}, "store_id": tenant.StoreA.ID}
		register := func(request apptest.Request) *apptest.Answer {
			request.Method, request.Body = http.MethodPost, body
			return s.Do(t, request)
		}
		operator, store := apptest.Request{Path: "/v1/webhooks", Key: tenant.Key}, apptest.Request{Path: "/v1/webhooks", Key: tenant.KeyA}
		for range 20 {
			require.Equal(t, "operator", register(operator).String("owner"))
		}
		require.Equal(t, http.StatusConflict, register(operator).Status)
		for _, request := range []apptest.Request{store, {Path: "/panel/api/webhooks", Token: tenant.SignIn(t, &tenant.StoreA)}} {
			own := register(request)
			require.Equal(t, http.StatusCreated, own.Status, own.Text)
			require.Equal(t, "store", own.String("owner"))
		}
		list := func(key string) int {
			return len(s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/webhooks", Key: key}).List)
		}
		require.Equal(t, 2, list(tenant.KeyA))
		require.Equal(t, 22, list(tenant.Key), "the operator answers for its stores and sees theirs")
		require.Equal(t, 0, list(tenant.KeyB))
	})
}

// A webhook of before owners were recorded is the operator's.
func TestAccess_webhooksWithoutARecordedOwner(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := uuid.New()
		_, err := s.App.DB.SQL().ExecContext(t.Context(), fmt.Sprintf(
			`INSERT INTO webhooks (id, operator_id, store_id, url, events, secret, retry, active, created_at)
			VALUES ('%s', '%s', '%s', 'https://antes.example/hook', 'order.created', '', false, true, CURRENT_TIMESTAMP)`,
			id, tenant.Operator.ID, tenant.StoreA.ID))
		require.NoError(t, err, "the statement of the previous release")
		deactivate := func(key string) int {
			return s.Do(t, apptest.Request{Method: http.MethodDelete, Path: "/v1/webhooks/" + id.String(), Key: key}).Status
		}
		require.Equal(t, http.StatusNotFound, deactivate(tenant.KeyA))
		require.Equal(t, http.StatusOK, deactivate(tenant.Key))
	})
}

// deliveriesOf reads the delivery log as the request's caller.
func deliveriesOf(t *testing.T, s *apptest.Service, request apptest.Request) []map[string]any {
	t.Helper()
	request.Method = http.MethodGet
	answer := s.Do(t, request)
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	var seen []map[string]any
	for _, entry := range answer.Data["deliveries"].([]any) {
		seen = append(seen, entry.(map[string]any))
	}
	return seen
}
