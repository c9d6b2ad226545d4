package api_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/models"
	"despacho/test/apptest"
)

// auditLog reads the newest entries of the audit log.
func (d desk) auditLog(query string) []map[string]any {
	d.t.Helper()
	answer := d.send(http.MethodGet, "/audit?limit=200&"+query, nil)
	require.Equal(d.t, http.StatusOK, answer.Status, answer.Text)
	var entries []map[string]any
	for _, entry := range answer.Data["entries"].([]any) {
		entries = append(entries, entry.(map[string]any))
	}
	return entries
}

func actions(entries []map[string]any) []string {
	var names []string
	for _, entry := range entries {
		names = append(names, entry["action"].(string))
	}
	slices.Reverse(names)
	return names
}

// Everything that people change is recorded once, with who did it, from where and on what.
func TestPanelAudit_recordsWhatPeopleChange(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		d, tenant, admin := adminDesk(t, s)
		key := d.post("/keys", fields{"name": "Caja", "scopes": []string{"manage:webhooks"}})
		require.Equal(t, http.StatusCreated, key.Status, key.Text)
		hook := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/webhooks", Key: key.String("key"), Body: fields{"url": "https://example.com/h", "events": []string{"order.created"}}})
		require.Equal(t, http.StatusCreated, hook.Status, hook.Text)
		require.Equal(t, http.StatusOK, d.post("/webhooks/"+hook.String("id")+"/rotate", nil).Status)
		require.Equal(t, http.StatusOK, d.delete("/webhooks/"+hook.String("id")).Status)
		require.Equal(t, http.StatusOK, d.delete("/keys/"+key.String("id")).Status)
		user := d.post("/users", fields{"email": uniqueEmail(), "name": "Luz Ramos", "role": "operator"})
		d.change("/users/"+user.String("id"), fields{"name": "Luz Ramos Gil", "admin": true})
		require.Equal(t, http.StatusOK, d.post("/users/"+user.String("id")+"/password", fields{}).Status)
		rider := d.make("/riders", fields{"name": "Eva Luna", "phone": "912345678"})
		d.change("/riders/"+rider, fields{"phone": "912345679", "active": false})
		d.change("/riders/"+rider, fields{"active": false}) // nothing changes, nothing is recorded
		d.change("/stores/"+d.make("/stores", fields{"name": "Otra"}), fields{"active": false})
		d.change("/branches/"+d.make("/branches", fields{"name": "Sur"}), fields{"name": "Norte"})
		d.change("/sizes/"+d.make("/sizes", fields{"code": "XL", "name": "Enorme"}), fields{"surcharge": 2})
		zone := d.make("/risk-zones", fields{"name": "Cerro", "words": []string{"cerro"}})
		d.change("/risk-zones/"+zone, fields{"active": false})
		covered := d.make("/coverage", fields{"location_id": apptest.Surco, "price": 7})
		d.change("/coverage/"+covered, fields{"price": 8})
		require.Equal(t, http.StatusOK, d.delete("/coverage/"+covered).Status)
		agreed := d.make("/store-prices", fields{"store_id": tenant.StoreA.ID, "price": 7, "from_day": "2026-01-01"})
		d.change("/store-prices/"+agreed, fields{"price": 8})
		require.Equal(t, http.StatusOK, d.delete("/store-prices/"+agreed).Status)
		d.change("/settings", fields{"name": tenant.OwnName("Rayo")})
		require.Equal(t, http.StatusOK, d.post("/session/password", fields{"current": apptest.Password, "new": "otra contraseña larga"}).Status)
		require.Equal(t, http.StatusUnauthorized, signIn(t, s, admin.Email, "equivocada").Status)
		order := s.CreateOrder(t, tenant.Key)
		require.Equal(t, http.StatusOK, d.patch("/orders/"+order+"/point", fields{"lat": -12.1, "lng": -77}).Status)

		entries := d.auditLog("")
		require.ElementsMatch(t, []string{
			"session.created", "key.created", "webhook.created", "webhook.rotated", "webhook.removed", "key.revoked",
			"user.created", "user.changed", "user.password_reset", "rider.created", "rider.changed", "store.created", "store.changed",
			"branch.created", "branch.changed", "size.created", "size.changed", "risk_zone.created", "risk_zone.changed",
			"coverage.created", "coverage.changed", "coverage.removed",
			"store_price.created", "store_price.changed", "store_price.removed", "settings.changed", "password.changed", "session.failed", "order.point_set",
		}, actions(entries), "the order's creation is in its timeline")
		for _, entry := range entries {
			action := entry["action"].(string)
			require.Equal(t, "127.0.0.1", entry["address"], action)
			switch action {
			case "webhook.created":
				require.Nil(t, entry["user"])
				require.Equal(t, map[string]any{"id": key.String("id"), "name": "Caja"}, entry["key"])
				require.Equal(t, map[string]any{"id": hook.String("id"), "name": "https://example.com/h"}, entry["subject"])
			case "session.failed":
				require.Nil(t, entry["user"], "nobody has signed in")
				require.Equal(t, admin.Email, entry["subject"].(map[string]any)["name"])
			default:
				require.Equal(t, map[string]any{"id": admin.ID.String(), "name": admin.Name}, entry["user"], action)
				require.Nil(t, entry["key"], action)
			}
			switch action {
			case "rider.changed":
				require.Equal(t, "phone, active", entry["detail"], "names of fields, no values")
				require.Equal(t, map[string]any{"id": rider, "name": "Eva Luna"}, entry["subject"])
			case "settings.changed":
				require.Equal(t, "name", entry["detail"])
			case "order.point_set":
				require.Equal(t, order, entry["subject"].(map[string]any)["id"])
			}
		}
		require.Equal(t, []string{"webhook.created"}, actions(d.auditLog("key_id="+key.String("id"))))
		require.Equal(t, []string{"rider.changed"}, actions(d.auditLog("action=rider.changed&user_id="+admin.ID.String())))
		require.Empty(t, d.auditLog("user_id="+uuid.NewString()))
		require.Empty(t, d.auditLog("to_date=2026-03-09"))
		require.Len(t, d.auditLog("from_date=2026-03-10&to_date=2026-03-10"), len(entries))
		require.Equal(t, []string{"user_id", "action"}, d.send(http.MethodGet, "/audit?action=x&user_id=7", nil).Fields)
	})
}

// Attempts beyond the limit are recorded once a minute; those to an unknown address not at all.
func TestPanelAudit_signIns(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		d, tenant, _ := adminDesk(t, s)
		clerk := &models.User{}
		token := tenant.SignInAs(t, clerk)
		for range 13 {
			signIn(t, s, clerk.Email, "equivocada")
		}
		signIn(t, s, uniqueEmail(), "equivocada")
		require.Equal(t, http.StatusOK, desk{t, s, token}.delete("/session").Status)
		var want []string
		want = append(want, "session.created", "session.created")
		for range 9 {
			want = append(want, "session.failed")
		}
		require.ElementsMatch(t, append(want, "session.blocked", "session.ended"), actions(d.auditLog("")))
	})
}

// Only administrators read the log, and only their own operator's.
func TestPanelAudit_isForAdministrators(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		d, tenant, _ := adminDesk(t, s)
		d.make("/stores", fields{"name": "Otra"})
		for _, token := range []string{tenant.SignIn(t, nil), tenant.SignIn(t, &tenant.StoreA)} {
			require.Equal(t, http.StatusForbidden, desk{t, s, token}.send(http.MethodGet, "/audit", nil).Status)
		}
		other, _, _ := adminDesk(t, s)
		require.Equal(t, []string{"session.created"}, actions(other.auditLog("")))
	})
}

// The timeline tells the operator which person or key made a move and who the rider is; stores and
// customers are told neither.
func TestPanelOrder_timelineNamesPeople(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		clerk := &models.User{Name: "Ana Torres"}
		operator := desk{t, s, tenant.SignInAs(t, clerk)}
		id := s.CreateOrder(t, tenant.KeyA)
		panelMove(t, s, operator.token, id, "receive", fields{}, 200)
		panelMove(t, s, operator.token, id, "assign", fields{"rider_id": tenant.Riders[0].ID}, 200)
		// A person in the Temporal UI is not known, whatever the payload says.
		orderID := uuid.MustParse(id)
		require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), "order-"+id, "", "delivered", fields{"user_id": clerk.ID}))
		require.Eventually(t, func() bool {
			order, err := s.App.DB.OrderViewByID(t.Context(), orderID)
			return err == nil && order.Status == models.StatusDelivered
		}, time.Minute, 20*time.Millisecond)

		entries := timelineOf(t, operator, id)
		require.Len(t, entries, 4)
		person := map[string]any{"id": clerk.ID.String(), "name": "Ana Torres"}
		require.Equal(t, "prueba", entries[0]["key"].(map[string]any)["name"])
		require.Nil(t, entries[0]["user"])
		require.Equal(t, person, entries[1]["user"])
		require.Equal(t, person, entries[2]["user"])
		require.Equal(t, map[string]any{"id": tenant.Riders[0].ID.String(), "name": tenant.Riders[0].Name}, entries[2]["rider"])
		require.Nil(t, entries[3]["user"])
		for _, entry := range timelineOf(t, desk{t, s, tenant.SignIn(t, &tenant.StoreA)}, id) {
			require.Nil(t, entry["user"])
			require.Nil(t, entry["key"])
			require.Nil(t, entry["rider"])
		}
		order := operator.send(http.MethodGet, "/orders/"+id, nil)
		tracked := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/track/" + order.String("guide_code")})
		require.NotContains(t, tracked.Text, "Ana Torres")
		require.NotContains(t, tracked.Text, clerk.ID.String())
	})
}

func timelineOf(t *testing.T, d desk, id string) []map[string]any {
	t.Helper()
	order := d.send(http.MethodGet, "/orders/"+id, nil)
	require.Equal(t, http.StatusOK, order.Status, order.Text)
	var entries []map[string]any
	for _, entry := range order.Data["timeline"].([]any) {
		entries = append(entries, entry.(map[string]any))
	}
	return entries
}

// What happens to the ways into an account is recorded: by the user, or by whoever administers it.
func TestPanelAudit_secondFactorsAndResets(t *testing.T) {
	eachWithManualClock(t, func(t *testing.T, s *apptest.Service, clk *clock.Manual) {
		admin, tenant, self := adminDesk(t, s)
		user := &models.User{}
		token := tenant.SignInAs(t, user)
		app, _ := enrol(t, s, token, clk)
		requireRefused(t, signInWith(t, s, user.Email, apptest.Password, "000000"), http.StatusUnauthorized, "invalid_second_factor")
		remove := desk{t, s, token}.post("/session/second-factor/remove", fields{"password": apptest.Password, "code": app.code(1)})
		require.Equal(t, http.StatusOK, remove.Status, remove.Text)
		clk.Advance(time.Hour)
		enrol(t, s, token, clk)
		require.Equal(t, http.StatusOK, admin.delete("/users/"+user.ID.String()+"/second-factor").Status)
		reset := admin.post("/users/"+user.ID.String()+"/reset", nil).String("token")
		finished := s.Do(t, apptest.Request{Method: "POST", Path: "/panel/api/session/reset", Body: fields{"token": reset, "new": "otra contraseña"}})
		require.Equal(t, http.StatusOK, finished.Status, finished.Text)

		entries := admin.auditLog("")
		require.ElementsMatch(t, []string{
			"session.created", "session.created", "second_factor.added", "session.failed", "second_factor.removed", "second_factor.added",
			"user.second_factor_reset", "user.reset_started", "password.changed",
		}, actions(entries))
		for _, entry := range entries {
			switch action := entry["action"].(string); action {
			case "user.second_factor_reset", "user.reset_started":
				require.Equal(t, self.ID.String(), entry["user"].(map[string]any)["id"], action)
				require.Equal(t, user.ID.String(), entry["subject"].(map[string]any)["id"], action)
			case "second_factor.added", "second_factor.removed", "password.changed":
				require.Equal(t, user.ID.String(), entry["user"].(map[string]any)["id"], action)
			}
		}
	})
}
