package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// A new user has the least, an administrator chooses, and what was chosen is read again.
func TestPanelUsers_grants(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		admin, tenant, _ := adminDesk(t, s)
		add := func(members fields) *apptest.Answer {
			body := fields{"email": uniqueEmail(), "name": "Ana", "role": "operator"}
			for name, value := range members {
				body[name] = value
			}
			return admin.post("/users", body)
		}
		require.Equal(t, []any{"counter"}, add(nil).Data["grants"])
		require.Equal(t, []any{}, add(fields{"grants": []string{}}).Data["grants"], "only reads")
		clerk := add(fields{"grants": []string{"cash", "dispatch", "cash"}})
		require.Equal(t, []any{"cash", "dispatch"}, clerk.Data["grants"])
		require.Equal(t, []string{"grants"}, add(fields{"grants": []string{"everything"}}).Fields)

		seller := fields{"role": "store", "store_id": tenant.StoreA.ID}
		require.Equal(t, []any{}, add(seller).Data["grants"])
		seller["grants"] = []string{"cash"}
		require.Equal(t, []string{"grants"}, add(seller).Fields)

		path := "/users/" + clerk.String("id")
		change := func(members fields) *apptest.Answer { return admin.send(http.MethodPatch, path, members) }
		require.Equal(t, []any{"cash", "dispatch"}, change(fields{"name": "Ana Soto"}).Data["grants"], "what is not sent stays")
		require.Equal(t, []any{"settings"}, change(fields{"grants": []string{"settings"}}).Data["grants"])
		require.Equal(t, []any{}, change(fields{"role": "store", "store_id": tenant.StoreA.ID}).Data["grants"])
		require.Equal(t, []any{"counter"}, change(fields{"role": "operator", "store_id": nil}).Data["grants"], "as new")
	})
}

// Grants hold from the next request on, and the audit log says that they changed.
func TestPanelUsers_changedGrantsHoldAtOnce(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		admin, tenant, _ := adminDesk(t, s)
		user := &models.User{}
		clerk := desk{t, s, tenant.SignInAs(t, user)}
		require.Equal(t, http.StatusOK, clerk.send(http.MethodGet, "/keys", nil).Status)
		change := func(grants ...string) {
			answer := admin.send(http.MethodPatch, "/users/"+user.ID.String(), fields{"grants": grants})
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		}
		change("counter")
		refused := clerk.send(http.MethodGet, "/keys", nil)
		requireRefused(t, refused, http.StatusForbidden, "role_not_allowed")
		require.Equal(t, "Su usuario no tiene permiso de Configuración.", refused.Error)
		change("settings")
		require.Equal(t, http.StatusOK, clerk.send(http.MethodGet, "/keys", nil).Status)
		require.Equal(t, "Su usuario no tiene permiso de Recepción ni de Despacho.", clerk.post("/orders", nil).Error)
		require.Equal(t, "Su usuario no tiene permiso de Administración.", clerk.send(http.MethodGet, "/users", nil).Error)

		entries := admin.auditLog("action=user.changed")
		require.Len(t, entries, 2)
		for _, entry := range entries {
			require.Equal(t, "grants", entry["detail"])
			require.Equal(t, user.ID.String(), entry["subject"].(map[string]any)["id"])
		}
	})
}
