package attacks

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/cash"
	"despacho/internal/db"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/dbtest"
	"despacho/test/poll"
)

// victim is an operator with one row of every kind, under unique names.
type victim struct {
	*apptest.Tenant
	s *apptest.Service
	// ids are everything that is the operator's; ofStoreA those that belong to its store A.
	ids, ofStoreA map[string]string
	// markers are texts that no other tenant may be shown.
	markers []string
}

func newVictim(t *testing.T, s *apptest.Service) *victim {
	t.Helper()
	tenant := s.NewTenant(t, func(o *models.Operator) { o.Name = "Operador secreto" })
	tenant.ActivatePhone(t, tenant.Riders[0].ID)
	v := &victim{Tenant: tenant, s: s, markers: []string{"Operador secreto", "Destinataria Secreta", "Calle Secreta 123", "+51911222333"}}
	token := tenant.SignInAs(t, &models.User{Admin: true})
	tenant.Change(t, &models.StorePrice{ID: uuid.New(), OperatorID: tenant.Operator.ID, StoreID: tenant.StoreA.ID, Price: 700,
		FromDay: "2026-01-01", CreatedAt: tenant.Operator.CreatedAt})
	receiver := apptest.NewReceiver(t, nil)
	webhook, secret := s.Register(t, tenant.KeyA, receiver)
	order := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.KeyA, Body: apptest.Order(map[string]any{
		"recipient_name": "Destinataria Secreta", "delivery_address": "Calle Secreta 123", "recipient_phone": "911222333",
	})})
	require.Equal(t, http.StatusCreated, order.Status, order.Text)
	poll.Until(t, func() error { // a later change would look like an attacker's
		answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/panel/api/deliveries", Token: token})
		if deliveries, _ := answer.Data["deliveries"].([]any); len(deliveries) != 1 || deliveries[0].(map[string]any)["status"] != "delivered" {
			return errors.New("the event of the creation is still on its way")
		}
		if s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/events", Key: tenant.KeyA}).String("cursor") == "" {
			return errors.New("the event of the creation is not published yet")
		}
		return nil
	})
	first := func(path string) string {
		answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/panel/api" + path, Token: token})
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		list := answer.List
		if list == nil {
			list, _ = answer.Data["deliveries"].([]any)
		}
		require.NotEmpty(t, list, path)
		return list[0].(map[string]any)["id"].(string)
	}
	settlement := settleWithStoreA(t, s, tenant)
	v.markers = append(v.markers, secret, order.String("guide_code"), settlement)
	v.ofStoreA = map[string]string{
		"order": order.String("id"), "webhook": webhook, "delivery": first("/deliveries"), "settlement": settlement,
	}
	v.ids = map[string]string{
		"store": tenant.StoreA.ID.String(), "rider": tenant.Riders[0].ID.String(), "branch": tenant.Main.ID.String(),
		"size": first("/sizes"), "coverage": first("/coverage"), "risk zone": first("/risk-zones"), "store price": first("/store-prices"),
		"key": first("/keys"), "user": first("/users"),
	}
	for kind, id := range v.ofStoreA {
		v.ids[kind] = id
	}
	return v
}

// settleWithStoreA settles an amount and deliveries with a tenant's store A, and returns the
// settlement's id.
func settleWithStoreA(t *testing.T, s *apptest.Service, tenant *apptest.Tenant, deliveries ...models.Order) string {
	t.Helper()
	tenant.InsertRows(t, deliveries)
	service, caller := cash.New(s.App.DB, s.App.Clock()), cash.Caller{Operator: &tenant.Operator, UserID: uuid.New()}
	amount := &cash.Adjustment{Kind: cash.AdjustStore, OwnerID: tenant.StoreA.ID, Amount: 1234, Reason: "Acuerdo"}
	require.NoError(t, service.Adjust(t.Context(), caller, amount))
	today := s.App.Clock().Now().In(tenant.Operator.TimeZone()).Format(time.DateOnly)
	draft, err := service.Draft(t.Context(), caller.Operator, &tenant.StoreA.ID, today)
	require.NoError(t, err)
	settled, err := service.Issue(t.Context(), caller, &tenant.StoreA.ID, today, draft.Net())
	require.NoError(t, err)
	return settled.ID.String()
}

// ownerConditions find the operator's rows in tables without an operator_id; $ stands for the
// operator's id.
var ownerConditions = map[string]string{
	"operators":           "id = $",
	"order_events":        "order_id IN (SELECT id FROM orders WHERE operator_id = $)",
	"delivery_attempts":   "delivery_id IN (SELECT id FROM deliveries WHERE operator_id = $)",
	"sessions":            "user_id IN (SELECT id FROM users WHERE operator_id = $)",
	"recovery_codes":      "user_id IN (SELECT id FROM users WHERE operator_id = $)",
	"password_resets":     "user_id IN (SELECT id FROM users WHERE operator_id = $)",
	"order_corrections":   "order_id IN (SELECT id FROM orders WHERE operator_id = $)",
	"idempotency_records": "scope_id IN (SELECT id FROM api_keys WHERE operator_id = $ UNION SELECT id FROM stores WHERE operator_id = $ UNION SELECT $)",
}

// sharedTables hold no operator's data.
var sharedTables = []string{
	"countries", "locations", "rate_windows", "erased_photos", "goose_db_version", "schema_compatibility",
	dbtest.LaterTable(dbtest.LaterVersion),
}

// derivedTables are kept from the orders, and folded together by the workers at any moment.
var derivedTables = []string{"order_totals", "order_total_changes", "current_order_totals"}

// state is all that the database holds of the victim's, in whichever table.
func (v *victim) state(t *testing.T) map[string][]string {
	t.Helper()
	state := map[string][]string{}
	for table, owned := range v.tables(t) {
		if slices.Contains(derivedTables, table) {
			continue
		}
		condition := ownerConditions[table]
		if owned {
			condition = "operator_id = $"
		}
		if slices.Contains(sharedTables, table) {
			require.Empty(t, condition, table)
			continue
		}
		require.NotEmpty(t, condition, "this test does not know whose the rows of %s are", table)
		state[table] = v.rows(t, table, condition)
	}
	for _, table := range []string{"operators", "orders", "users", "webhooks", "deliveries", "delivery_attempts", "sessions"} {
		require.NotEmpty(t, state[table], table)
	}
	return state
}

// tables are those of the database, with whether they say whose a row is.
func (v *victim) tables(t *testing.T) map[string]bool {
	t.Helper()
	query := "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"
	if v.s.App.DB.Dialect() == db.SQLite {
		query = "SELECT tables.name, columns.name FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns " +
			"WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite!_%' ESCAPE '!'"
	}
	columns, err := v.s.App.DB.SQL().QueryContext(t.Context(), query)
	require.NoError(t, err)
	defer columns.Close()
	owned := map[string]bool{}
	for columns.Next() {
		var table, column string
		require.NoError(t, columns.Scan(&table, &column))
		owned[table] = owned[table] || column == "operator_id"
	}
	require.NoError(t, columns.Err())
	return owned
}

func (v *victim) rows(t *testing.T, table, condition string) []string {
	t.Helper()
	condition = strings.ReplaceAll(condition, "$", "'"+v.Operator.ID.String()+"'")
	rows, err := v.s.App.DB.SQL().QueryContext(t.Context(), "SELECT * FROM "+table+" WHERE "+condition+" ORDER BY 1, 2")
	require.NoError(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(t, err)
	var texts []string
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		require.NoError(t, rows.Scan(into...))
		text := ""
		for i, value := range values {
			if slices.Contains([]string{"workflow_started_at", "updated_at", "last_used_at", "last_used_from", "last_seen_at", "position"}, columns[i]) {
				continue // written after a request, by any caller
			}
			text += columns[i] + "=" + textOf(value) + " "
		}
		texts = append(texts, text)
	}
	require.NoError(t, rows.Err())
	return texts
}

// bodyNaming is as good as a body can be, and names the tenant's things wherever a request can name
// one.
func bodyNaming(tenant *apptest.Tenant) map[string]any {
	return map[string]any{
		"store_id": tenant.StoreA.ID.String(), "branch_id": tenant.Main.ID.String(), "rider_id": tenant.Riders[0].ID.String(), "location_id": apptest.Miraflores.String(),
		"name": "Nombre", "phone": "987654321", "active": false, "code": "X" + uuid.NewString()[:4], "surcharge": 1, "price": 1, "from_day": "2026-01-01", "words": []string{"palabra"},
		"reason": "motivo", "note": "nota", "lat": -12.1, "lng": -77.0, "actual_amount_collected": 1, "scopes": []string{"read:orders"},
		"url": "https://receptor.example/hook", "events": []string{"order.created"}, "from": "2026-01-01T00:00:00Z", "to": "2027-01-01T00:00:00Z",
		"email": uuid.NewString() + "@prueba.example", "role": "store", "password": "una contraseña larga", "main": true, "default": true,
		"recipient_name": "Persona", "recipient_phone": "987654321", "delivery_address": "Av. Larco 1", "product": "Zapatillas",
	}
}
