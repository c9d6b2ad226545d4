package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// Of two dispatchers who decided on the same state of an order one succeeds; the other is told that
// it has changed, and overwrites nothing.
func TestPanelAssign_expectedVersion(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		d := desk{t, s, tenant.SignIn(t, nil)}
		id := s.CreateOrder(t, tenant.Key)
		panelMove(t, s, d.token, id, "receive", fields{}, 200)
		seen := d.send(http.MethodGet, "/orders/"+id, nil).Data["version"]
		assign := func(rider int, version any, status int) *apptest.Answer {
			t.Helper()
			return panelMove(t, s, d.token, id, "assign", fields{"rider_id": tenant.Riders[rider].ID, "expected_version": version}, status)
		}
		require.Equal(t, []string{"expected_version"}, assign(0, 0, http.StatusBadRequest).Fields)
		require.Equal(t, []string{"expected_version"}, assign(0, "dos", http.StatusBadRequest).Fields)
		assign(0, seen, http.StatusOK)
		require.Equal(t, "order_changed", assign(1, seen, http.StatusConflict).Code)
		read := d.send(http.MethodGet, "/orders/"+id, nil)
		require.Equal(t, tenant.Riders[0].Name, read.Data["rider"].(map[string]any)["name"])
		assign(0, seen, http.StatusOK) // repeated: the order is as it was asked to be
		assign(1, read.Data["version"], http.StatusOK)
		assign(0, nil, http.StatusOK)
	})
}

// Cancelling is final, and a delivery says which rider has the money: neither is done to an order
// that somebody has moved since its sender saw it.
func TestPanelCancelAndDeliver_expectedVersion(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		request := func(move string) func(*testing.T, string, any) apptest.Request {
			return func(_ *testing.T, id string, version any) apptest.Request {
				return apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/" + move, Token: token, Body: fields{"expected_version": version}}
			}
		}
		for name, requestFor := range map[string]func(*testing.T, string, any) apptest.Request{
			"cancel": request("cancel"), "deliver": request("deliver"),
			"deliver with a photo": func(t *testing.T, id string, version any) apptest.Request {
				return deliveryWithPhoto(t, id, token, map[string]string{"expected_version": fmt.Sprint(version)})
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d, id := desk{t, s, token}, s.CreateOrder(t, tenant.Key)
				send := func(version any) *apptest.Answer { return s.Do(t, requestFor(t, id, version)) }
				panelMove(t, s, token, id, "receive", fields{}, http.StatusOK)
				panelMove(t, s, token, id, "assign", fields{"rider_id": tenant.Riders[0].ID}, http.StatusOK)
				seen := d.send(http.MethodGet, "/orders/"+id, nil).Data["version"]
				panelMove(t, s, token, id, "assign", fields{"rider_id": tenant.Riders[1].ID}, http.StatusOK)
				for _, wrong := range []any{0, "dos"} {
					require.Equal(t, []string{"expected_version"}, send(wrong).Fields)
				}
				answer := send(seen)
				require.Equal(t, http.StatusConflict, answer.Status, answer.Text)
				require.Equal(t, "order_changed", answer.Code)
				read := d.send(http.MethodGet, "/orders/"+id, nil)
				require.Equal(t, "assigned", read.Data["status"])
				require.Equal(t, http.StatusOK, send(read.Data["version"]).Status)
			})
		}
	})
}
