package api_test

import (
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
