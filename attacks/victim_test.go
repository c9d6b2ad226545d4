package attacks

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/apptest"
	"despacho/internal/testenv"
	"despacho/models"
)

// victim is an operator with one of everything, under names that nobody else has.
type victim struct {
	*apptest.Tenant
	s *apptest.Service
	// ids are everything that is the operator's; ofStoreA those that belong to its store A.
	ids, ofStoreA map[string]string
	// marks are texts that nobody else may ever be shown.
	marks []string
}

func newVictim(t *testing.T, s *apptest.Service) *victim {
	t.Helper()
	tenant := s.NewTenant(t, func(o *models.Operator) { o.Name = "Operador secreto" })
	v := &victim{Tenant: tenant, s: s, marks: []string{"Operador secreto", "Destinataria Secreta", "Calle Secreta 123", "+51911222333"}}
	token := tenant.SignInAs(t, &models.User{Admin: true})
	receiver := apptest.NewReceiver(t, nil)
	webhook, secret := s.Register(t, tenant.KeyA, receiver)
	order := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.KeyA, Body: apptest.Order(map[string]any{
		"recipient_name": "Destinataria Secreta", "delivery_address": "Calle Secreta 123", "recipient_phone": "911222333",
	})})
	require.Equal(t, http.StatusCreated, order.Status, order.Text)
	testenv.Until(t, func() error { // what comes later would look like the work of an intruder
		answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/panel/api/deliveries", Token: token})
		if deliveries, _ := answer.Data["deliveries"].([]any); len(deliveries) != 1 || deliveries[0].(map[string]any)["status"] != "delivered" {
			return errors.New("the event of the creation is still on its way")
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
	v.marks = append(v.marks, secret, order.String("guide_code"))
	v.ofStoreA = map[string]string{"order": order.String("id"), "webhook": webhook, "delivery": first("/deliveries")}
	v.ids = map[string]string{
		"store": tenant.StoreA.ID.String(), "rider": tenant.Riders[0].ID.String(), "branch": tenant.Main.ID.String(),
		"size": first("/sizes"), "coverage": first("/coverage"), "risk zone": first("/risk-zones"), "key": first("/keys"), "user": first("/users"),
	}
	for kind, id := range v.ofStoreA {
		v.ids[kind] = id
	}
	return v
}

// tables are everything that an attack could change.
var tables = []string{
	"operators", "stores", "branches", "riders", "sizes", "coverage", "risk_zones", "users", "api_keys", "webhooks", "orders", "order_events", "deliveries",
}

// state is all that the database holds of the victim's.
func (v *victim) state(t *testing.T) map[string][]string {
	t.Helper()
	state := map[string][]string{}
	for _, table := range tables {
		state[table] = v.rows(t, table)
	}
	return state
}

func (v *victim) rows(t *testing.T, table string) []string {
	t.Helper()
	condition := "operator_id = '" + v.Operator.ID.String() + "'"
	switch table {
	case "operators":
		condition = "id = '" + v.Operator.ID.String() + "'"
	case "order_events":
		condition = "order_id = '" + v.ids["order"] + "'"
	}
	rows, err := v.s.App.DB.SQL().QueryContext(t.Context(), "SELECT * FROM "+table+" WHERE "+condition+" ORDER BY id")
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
			if columns[i] == "workflow_started_at" || columns[i] == "updated_at" {
				continue // written behind a request, whoever made it
			}
			text += columns[i] + "=" + textOf(value) + " "
		}
		texts = append(texts, text)
	}
	require.NoError(t, rows.Err())
	return texts
}

// bodyNaming is as good as a body can be, and names the tenant's things wherever a request can name one.
func bodyNaming(tenant *apptest.Tenant) map[string]any {
	return map[string]any{
		"store_id": tenant.StoreA.ID.String(), "branch_id": tenant.Main.ID.String(), "rider_id": tenant.Riders[0].ID.String(), "location_id": apptest.Miraflores.String(),
		"name": "Nombre", "phone": "987654321", "active": false, "code": "X" + uuid.NewString()[:4], "surcharge": 1, "price": 1, "words": []string{"palabra"},
		"reason": "motivo", "note": "nota", "lat": -12.1, "lng": -77.0, "actual_amount_collected": 1, "scopes": []string{"read:orders"},
		"url": "https://receptor.example/hook", "events": []string{"order.created"}, "from": "2026-01-01T00:00:00Z", "to": "2027-01-01T00:00:00Z",
		"email": uuid.NewString() + "@prueba.example", "role": "store", "password": "una contraseña larga", "main": true, "default": true,
		"recipient_name": "Persona", "recipient_phone": "987654321", "delivery_address": "Av. Larco 1", "product": "Zapatillas",
	}
}
