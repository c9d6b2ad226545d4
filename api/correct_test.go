package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/api"
	"despacho/models"
	"despacho/test/apptest"
)

func correct(t *testing.T, s *apptest.Service, key, id string, body any) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id, Key: key, Body: body})
}

// insertedRow is an order that no workflow moves.
func insertedRow(t *testing.T, tenant *apptest.Tenant, changes ...func(*models.Order)) string {
	t.Helper()
	row := tenant.Row(time.Now(), changes...)
	tenant.InsertRows(t, []models.Order{row})
	return row.ID.String()
}

// Whoever sends another value of a field that cannot be corrected is told so, field by field. The
// value that the order has is accepted: a system may send back what it has read.
func TestCorrect_refusesOtherFieldsOfTheOrder(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		order := created(t, s, tenant.Key, fields{"store_id": tenant.StoreA.ID, "external_id": "20391", "recipient_doc_type": "ce", "recipient_doc_number": "001234567"})
		id := order.String("id")
		others := fields{
			"recipient_name": "Otra Persona", "product": "Otra cosa", "recipient_doc_type": "passport", "recipient_doc_number": "7", "delivery_type": "agency",
			"store_id": tenant.StoreB.ID, "branch_id": uuid.New(), "external_id": nil, "status": "cancelled",
		}
		require.ElementsMatch(t, append(fixedByTheDocument(t), "status"), slices.Collect(maps.Keys(others)))
		for name, value := range others {
			refused := correct(t, s, tenant.Key, id, fields{name: value, "notes": "Timbre 3", "operator": "planned", "guide_code": "X"})
			requireRefused(t, refused, http.StatusBadRequest, "invalid_fields", name)
		}
		require.Equal(t, order.Data, get(t, s, tenant.Key, "/v1/orders/"+id).Data, "nothing was changed")

		sent := maps.Clone(order.Data)
		sent["notes"], sent["recipient_name"], sent["store_id"] = "Timbre 3", " Rosa Díaz ", strings.ToUpper(order.String("store_id"))
		whole := correct(t, s, tenant.Key, id, sent)
		require.Equal(t, http.StatusOK, whole.Status, whole.Text)
		require.Equal(t, "Timbre 3", whole.String("notes"))
		bound := correct(t, s, tenant.KeyA, id, fields{"store_id": tenant.StoreB.ID, "notes": nil})
		require.Equal(t, http.StatusOK, bound.Status, "with a key of a store, store_id is ignored: %s", bound.Text)
	})
}

// fixedByTheDocument are the fields that openapi.yaml has for a creation, and not for a correction.
func fixedByTheDocument(t *testing.T) (names []string) {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	require.NoError(t, err)
	corrected := document.Components.Schemas["OrderCorrection"].Value.Properties
	for name := range document.Components.Schemas["OrderInput"].Value.Properties {
		if corrected[name] == nil {
			names = append(names, name)
		}
	}
	return names
}

// A store's system corrects what it sent, and reads it back.
func TestCorrect_byTheStore(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		order := created(t, s, tenant.KeyA, fields{"delivery_reference": "Portón", "notes": "Tocar", "amount_to_collect": 50})
		id := order.String("id")
		answer := correct(t, s, tenant.KeyA, id, fields{
			"recipient_phone": "987 111 222", "delivery_address": "Calle Porta 20", "delivery_reference": nil, "notes": "Timbre 3", "amount_to_collect": 79.9,
			"size": "L", "delivery_lat": -12.12, "delivery_lng": -77.03,
		})
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		require.Equal(t, "La tarifa cambió de 9.00 a 14.50.", answer.Message)
		require.Empty(t, answer.Warning)
		require.Equal(t, "+51987111222", answer.String("recipient_phone"))
		require.Equal(t, "Calle Porta 20", answer.String("delivery_address"))
		require.Nil(t, answer.Data["delivery_reference"])
		require.Equal(t, "Timbre 3", answer.String("notes"))
		require.EqualValues(t, 79.9, answer.Data["amount_to_collect"])
		require.EqualValues(t, 14.5, answer.Data["shipping_cost"])
		require.Equal(t, "L", answer.String("size"))
		require.EqualValues(t, -77.03, answer.Data["delivery_lng"])
		read := get(t, s, tenant.KeyA, "/v1/orders/"+id)
		require.Equal(t, answer.Data, read.Data)

		same := correct(t, s, tenant.KeyA, id, fields{"recipient_phone": "+51987111222", "size": "L"})
		require.Equal(t, answer.Data, same.Data)
		require.Empty(t, same.Message)
		require.Equal(t, answer.Data, correct(t, s, tenant.KeyA, id, fields{}).Data)

		// The amount decides the payment type in one direction only, as in a creation.
		free := correct(t, s, tenant.KeyA, id, fields{"amount_to_collect": 0})
		require.Equal(t, "cash_on_delivery", free.String("payment_type"))
		require.Equal(t, "delivery_only", correct(t, s, tenant.KeyA, id, fields{"payment_type": "delivery_only"}).String("payment_type"))
		require.Equal(t, "cash_on_delivery", correct(t, s, tenant.KeyA, id, fields{"amount_to_collect": 3, "payment_type": "delivery_only"}).String("payment_type"))

		moved := correct(t, s, tenant.KeyA, id, fields{"location_id": apptest.SanJuan, "delivery_address": "Paradero 10"})
		require.EqualValues(t, 17.5, moved.Data["shipping_cost"])
		require.Contains(t, moved.Warning, "zona de riesgo")
		require.Contains(t, moved.Message, "de 14.50 a 17.50")
		requireRefused(t, correct(t, s, tenant.KeyA, id, fields{"location_id": apptest.Cusco}), 422, "not_covered")
		requireRefused(t, correct(t, s, tenant.KeyA, id, fields{"location_id": apptest.Lima}), 422, "not_covered")
	})
}

// An order keeps its size, and the price of that, although the operator does not offer it any more.
func TestCorrect_pricesASizeThatIsNotOffered(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		d, tenant, _ := adminDesk(t, s)
		id := s.CreateOrder(t, tenant.KeyA, fields{"size": "L"})
		for _, size := range objects(t, d.send(http.MethodGet, "/sizes", nil).List) {
			if size["code"] == "L" {
				require.Equal(t, http.StatusOK, d.patch("/sizes/"+size["id"].(string), fields{"active": false}).Status)
			}
		}
		require.Equal(t, "M", created(t, s, tenant.KeyA, fields{"size": "L"}).String("size"), "no new order gets it")
		moved := correct(t, s, tenant.KeyA, id, fields{"location_id": apptest.Surco, "size": "L"})
		require.Equal(t, "L", moved.String("size"), moved.Text)
		require.EqualValues(t, 17.5, moved.Data["shipping_cost"])
		other := correct(t, s, tenant.KeyA, id, fields{"size": "S"})
		require.EqualValues(t, 12, other.Data["shipping_cost"])
		require.Equal(t, "M", correct(t, s, tenant.KeyA, id, fields{"size": "L"}).String("size"), "it is not to be had again")
	})
}

// What a creation refuses, a correction refuses with the same fields and words.
func TestCorrect_hasTheFieldErrorsOfACreation(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		for _, wrong := range []fields{
			{"recipient_phone": "12"}, {"recipient_phone": 7}, {"delivery_address": strings.Repeat("a", 501)}, {"delivery_address": " "},
			{"delivery_reference": strings.Repeat("a", 501)}, {"notes": "a\u0000"}, {"amount_to_collect": -1}, {"amount_to_collect": 1.234}, {"amount_to_collect": "5"},
			{"payment_type": "card"}, {"size": 4}, {"location_id": "x"}, {"delivery_lat": 91, "delivery_lng": 0}, {"delivery_lat": 1}, {"delivery_maps_url": strings.Repeat("a", 2049)},
		} {
			refused, creation := correct(t, s, tenant.KeyA, id, wrong), postOrder(t, s, tenant.KeyA, wrong)
			require.Equal(t, http.StatusBadRequest, refused.Status, "%v: %s", wrong, refused.Text)
			require.Equal(t, creation.Text, refused.Text)
		}
		requireWrongFields(t, correct(t, s, tenant.KeyA, id, fields{"recipient_phone": nil, "delivery_address": nil, "location_id": nil}),
			"recipient_phone", "delivery_address", "location_id")
		require.Equal(t, http.StatusBadRequest, correct(t, s, tenant.KeyA, id, nil).Status, "no body")
		readOnly := tenant.NewKey(t, models.APIKey{StoreID: &tenant.StoreA.ID}, models.ScopeReadOrders)
		requireRefused(t, correct(t, s, readOnly, id, fields{"notes": "x"}), http.StatusForbidden, "missing_scope")
		require.Equal(t, http.StatusNotFound, correct(t, s, tenant.KeyB, id, fields{"notes": "x"}).Status)
		require.Equal(t, http.StatusNotFound, correct(t, s, s.NewTenant(t).Key, id, fields{"notes": "x"}).Status)
	})
}

// A store corrects while the order is registered, the operator until it ends.
func TestCorrect_dependsOnTheStatus(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		operator, clerk := desk{t, s, tenant.SignIn(t, nil)}, desk{t, s, tenant.SignIn(t, &tenant.StoreA)}
		for status, id := range map[string]string{
			"registered": insertedRow(t, tenant), "received": insertedRow(t, tenant, apptest.ReceivedAfter(time.Hour)),
			"assigned":  insertedRow(t, tenant, func(o *models.Order) { *o = assignedRow(tenant) }),
			"delivered": insertedRow(t, tenant, apptest.ReceivedAfter(time.Hour), apptest.DeliveredAfter(tenant.Riders[0], time.Hour)),
			"cancelled": insertedRow(t, tenant, apptest.CancelledBy(models.ByStore, "")), "auto_cancelled": insertedRow(t, tenant, apptest.CancelledBy(models.ByAuto, "")),
		} {
			forStore, forOperator := http.StatusConflict, http.StatusOK
			switch status {
			case "registered":
				forStore = http.StatusOK
			case "delivered", "cancelled", "auto_cancelled":
				forOperator = http.StatusConflict
			}
			for _, refused := range []*apptest.Answer{correct(t, s, tenant.KeyA, id, fields{"notes": "de la tienda"}), clerk.patch("/orders/"+id, fields{"notes": "de su gente"})} {
				require.Equal(t, forStore, refused.Status, "%s: %s", status, refused.Text)
				require.Equal(t, forStore == http.StatusConflict, refused.Code == "correction_not_allowed")
			}
			for _, answer := range []*apptest.Answer{
				correct(t, s, tenant.Key, id, fields{"notes": "del operador"}), operator.patch("/orders/"+id, fields{"notes": "de su gente"}),
				operator.patch("/orders/"+id+"/point", fields{"lat": -12.1, "lng": -77.03}),
			} {
				require.Equal(t, forOperator, answer.Status, "%s: %s", status, answer.Text)
			}
		}
	})
}

// Who corrected which field is in the timeline and in the audit log. Only the operator sees the
// values, and the public nothing.
func TestCorrect_isRecorded(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		d, tenant, admin := adminDesk(t, s)
		order := created(t, s, tenant.KeyA)
		id := order.String("id")
		require.Equal(t, http.StatusOK, correct(t, s, tenant.KeyA, id, fields{"recipient_phone": "987111222", "notes": "Piso 4"}).Status)
		require.Equal(t, http.StatusOK, d.patch("/orders/"+id, fields{"size": "L"}).Status)
		require.Equal(t, http.StatusOK, d.patch("/orders/"+id+"/point", fields{"lat": -12.1, "lng": -77.03}).Status)
		require.Equal(t, http.StatusOK, d.patch("/orders/"+id+"/point", fields{"lat": -12.1, "lng": -77.03}).Status, "again: nothing changes")

		timeline := objects(t, d.send(http.MethodGet, "/orders/"+id, nil).Data["timeline"].([]any))
		require.Equal(t, []any{"created", "corrected", "corrected", "point_completed"}, column(timeline, "type"))
		require.Equal(t, "recipient_phone, notes", timeline[1]["detail"])
		require.Equal(t, "store", timeline[1]["by"])
		require.NotNil(t, timeline[1]["key"])
		require.Equal(t, []any{
			map[string]any{"field": "recipient_phone", "old": "+51987654321", "new": "+51987111222"}, map[string]any{"field": "notes", "old": nil, "new": "Piso 4"},
		}, timeline[1]["changes"])
		require.Equal(t, "operator", timeline[2]["by"])
		require.Equal(t, admin.ID.String(), timeline[2]["user"].(map[string]any)["id"])
		require.Equal(t, []any{
			map[string]any{"field": "size", "old": "M", "new": "L"}, map[string]any{"field": "shipping_cost", "old": "9.00", "new": "14.50"},
		}, timeline[2]["changes"])
		require.Equal(t, []any{map[string]any{"field": "delivery_point", "old": nil, "new": "-12.1,-77.03"}}, timeline[3]["changes"])

		seen := desk{t, s, tenant.SignIn(t, &tenant.StoreA)}.send(http.MethodGet, "/orders/"+id, nil)
		entries := objects(t, seen.Data["timeline"].([]any))
		require.Equal(t, []any{"created", "corrected", "corrected"}, column(entries, "type"))
		require.NotContains(t, entries[1], "changes")
		require.Nil(t, entries[1]["key"])
		tracked := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/track/" + order.String("guide_code")})
		require.Len(t, tracked.Data["events"], 1)
		require.NotContains(t, tracked.Text, "987111222")

		log := d.auditLog("")
		require.Equal(t, []string{"session.created", "order.corrected", "order.corrected", "order.point_set"}, actions(log)[:4])
		byKey := d.auditLog("action=order.corrected")
		require.Len(t, byKey, 2)
		for _, entry := range byKey {
			require.Equal(t, id, entry["subject"].(map[string]any)["id"])
			require.NotContains(t, entry["detail"], "987111222")
		}
		details := []any{byKey[0]["detail"], byKey[1]["detail"]}
		require.ElementsMatch(t, []any{"recipient_phone, notes", "size, shipping_cost"}, details)
	})
}
