package attacks

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// What one key or user changes in a day is bounded, because every change stays in the audit log.
// What ends somebody's access is not, and others go on.
func TestRows_changesOfOneDay(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		admin := models.User{Admin: true}
		token := tenant.SignInAs(t, &admin)
		send := func(method, path string, body map[string]any) *apptest.Answer {
			request := apptest.Request{Method: method, Path: path, Body: body, Key: tenant.KeyA}
			if strings.HasPrefix(path, "/panel") {
				request.Key, request.Token = "", token
			}
			return s.Do(t, request)
		}
		webhook := map[string]any{"url": "https://tienda.example/avisos", "events": models.Events}
		registered := send("POST", "/v1/webhooks", webhook)
		require.Equal(t, http.StatusCreated, registered.Status, registered.Text)
		hook := registered.String("id")
		key := send("POST", "/panel/api/keys", map[string]any{"name": "Tienda", "scopes": []string{"read:orders"}})
		require.Equal(t, http.StatusCreated, key.Status, key.Text)
		rider, user := "/panel/api/riders/"+tenant.Riders[0].ID.String(), models.User{}
		tenant.SignInAs(t, &user)
		// The day's changes so far were as many as are allowed.
		made, err := s.App.DB.SQL().ExecContext(t.Context(), strings.ReplaceAll(`UPDATE rate_windows SET used = 1000 WHERE subject IN (
			SELECT 'changes:' || CAST(id AS TEXT) FROM users WHERE operator_id = $
			UNION SELECT 'changes:' || CAST(id AS TEXT) FROM api_keys WHERE operator_id = $)`, "$", "'"+tenant.Operator.ID.String()+"'"))
		require.NoError(t, err)
		count, err := made.RowsAffected()
		require.NoError(t, err)
		require.EqualValues(t, 2, count, "the key's and the user's")

		logged := auditEntries(t, s, tenant)
		for _, refused := range []*apptest.Answer{
			send("PATCH", "/v1/webhooks/"+hook, map[string]any{"retry": true}),
			send("POST", "/v1/webhooks/"+hook+"/rotate", map[string]any{}),
			send("POST", "/v1/webhooks", webhook),
			send("PATCH", rider, map[string]any{"name": "Otro nombre"}),
			send("POST", "/panel/api/stores", map[string]any{"name": "Otra tienda"}),
			send("POST", "/panel/api/keys", map[string]any{"name": "Otra", "scopes": []string{"read:orders"}}),
			send("PATCH", "/panel/api/settings", map[string]any{"base_price": 77}),
		} {
			require.Equal(t, http.StatusTooManyRequests, refused.Status, refused.Text)
			require.Equal(t, "too_many_requests", refused.Code)
			require.NotEmpty(t, refused.Header.Get("Retry-After"))
		}
		require.Equal(t, logged, auditEntries(t, s, tenant))

		for _, done := range []*apptest.Answer{
			send("DELETE", "/v1/webhooks/"+hook, nil),
			send("DELETE", "/panel/api/keys/"+key.String("id"), nil),
			send("PATCH", "/panel/api/users/"+user.ID.String(), map[string]any{"active": false}),
		} {
			require.Equal(t, http.StatusOK, done.Status, done.Text)
		}
		other := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/webhooks", Key: tenant.Key, Body: webhook})
		require.Equal(t, http.StatusCreated, other.Status, other.Text)
	})
}

// auditEntries counts the entries of a tenant's audit log.
func auditEntries(t *testing.T, s *apptest.Service, tenant *apptest.Tenant) (count int) {
	t.Helper()
	require.NoError(t, s.App.DB.SQL().QueryRowContext(t.Context(),
		fmt.Sprintf("SELECT count(*) FROM audit_log WHERE operator_id = '%s'", tenant.Operator.ID)).Scan(&count))
	return count
}

// A request that is refused adds nothing to the audit log: every route that writes, with a body
// that none accepts.
func TestRows_refusedRequestsAreNotAudited(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		who := attacker{key: tenant.Key, token: tenant.SignInAs(t, &models.User{Admin: true})}
		logged, tried := auditEntries(t, s, tenant), 0
		for _, route := range routes(t) {
			if route.Method == http.MethodGet || isSignInOrOut(route.Path) {
				continue
			}
			path := strings.ReplaceAll(route.Path, ":id", uuid.NewString())
			who.call(t, s, route.Method, path, map[string]any{"name": "", "url": "ftp://tienda.example", "events": "ninguno", "require_second_factor": "quizás"})
			require.Equal(t, logged, auditEntries(t, s, tenant), "%s %s", route.Method, route.Path)
			tried++
		}
		require.Greater(t, tried, 100)
	})
}

// An order is corrected a number of times: whoever opens it reads all of them. The store leaves
// some to the operator.
func TestRows_correctionsOfOneOrder(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		row := tenant.Row(apptest.FrozenAt)
		tenant.InsertRows(t, []models.Order{row})
		correct := func(key string, number int) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: "PATCH", Path: "/v1/orders/" + row.ID.String(), Key: key, Body: map[string]any{"notes": fmt.Sprint(number)}})
		}
		for i := range 100 {
			key := tenant.KeyA
			if i >= 50 {
				key = tenant.Key
				require.Equal(t, "correction_not_allowed", correct(tenant.KeyA, i).Code)
			}
			require.Equal(t, http.StatusOK, correct(key, i).Status)
		}
		refused := correct(tenant.Key, 100)
		require.Equal(t, http.StatusConflict, refused.Status, refused.Text)
	})
}

// The list of keys is bounded, and has those that can be used, however many were revoked since.
func TestRows_revokedKeys(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		revoked, later := make([]models.APIKey, 250), apptest.FrozenAt.Add(time.Hour)
		for i := range revoked {
			id := uuid.New()
			revoked[i] = models.APIKey{ID: id, OperatorID: tenant.Operator.ID, Name: "Anterior", Hash: id[:], Scopes: "read:orders", CreatedAt: later, RevokedAt: &later}
		}
		require.NoError(t, s.App.DB.Insert(t.Context(), revoked))
		list := s.Do(t, apptest.Request{Method: "GET", Path: "/panel/api/keys", Token: tenant.SignIn(t, nil)}).List
		require.Len(t, list, 200)
		var usable int
		for _, key := range list {
			if key.(map[string]any)["revoked_at"] == nil {
				usable++
			}
		}
		require.Len(t, tenant.KeyIDs(t), 250+usable)
	})
}
