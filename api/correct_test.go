package api_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/api"
	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
	"despacho/workflows"
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
		require.Equal(t, "El costo de envío cambió de 9.00 a 14.50.", answer.Message)
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

// The JSON API does not ask: it says what is odd about a point.
func TestCorrect_warnsAboutAnOddPoint(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		d, id := desk{t, s, tenant.SignIn(t, nil)}, s.CreateOrder(t, tenant.KeyA)
		warning := func(lat, lng float64) string {
			answer := d.patch("/orders/"+id+"/point", fields{"lat": lat, "lng": lng})
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
			require.EqualValues(t, lat, answer.Data["delivery_lat"])
			return answer.Warning
		}
		require.Empty(t, warning(-12.12, -77.03))
		require.Contains(t, warning(-77.03, -12.12), "al revés")
		require.Regexp(t, `a unos 5\d\d km de Miraflores`, warning(-13.53, -71.97))
		kept := correct(t, s, tenant.KeyA, id, fields{"location_id": apptest.Surco})
		require.Regexp(t, `a unos 5\d\d km de Santiago de Surco`, kept.Warning, "the point stays, far from the new destination")
		require.EqualValues(t, -13.53, kept.Data["delivery_lat"])
		require.Empty(t, correct(t, s, tenant.KeyA, id, fields{"notes": "Timbre 3"}).Warning, "neither the point nor the destination changes")
		linked := correct(t, s, tenant.KeyA, id, fields{"delivery_maps_url": "https://www.google.com/maps?q=-12.125,-77.029"})
		require.EqualValues(t, -12.125, linked.Data["delivery_lat"], "a new link has a new point")
		require.Empty(t, linked.Warning)
		unread := correct(t, s, tenant.KeyA, id, fields{"delivery_maps_url": "https://www.google.com/maps?q=Larcomar"})
		require.Nil(t, unread.Data["delivery_lat"], "the old point is that of another place")
		require.Contains(t, unread.Warning, "no dio un punto")
		require.Nil(t, correct(t, s, tenant.KeyA, id, fields{"delivery_maps_url": nil}).Data["delivery_maps_url"])
		set, err := s.App.DB.SetLinkPoint(t.Context(), uuid.MustParse(id), "https://maps.app.goo.gl/antes", -1, -1, "pin", time.Now())
		require.NoError(t, err)
		require.False(t, set, "a link that was replaced while it was followed gives no point")
	})
}

// Null removes the point, and with the map link the point that came from it.
func TestCorrect_removesThePoint(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		link, none := "https://www.google.com/maps?q=-12.125,-77.029", fields{"delivery_lat": nil, "delivery_lng": nil}
		ask := func(id string, body fields) *apptest.Answer {
			answer := correct(t, s, tenant.Key, id, body)
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
			require.Empty(t, answer.Warning)
			require.Equal(t, answer.Data, get(t, s, tenant.Key, "/v1/orders/"+id).Data)
			return answer
		}
		given := s.CreateOrder(t, tenant.KeyA, fields{"delivery_lat": -12.12, "delivery_lng": -77.03, "delivery_maps_url": link})
		require.EqualValues(t, -12.12, ask(given, fields{"delivery_maps_url": nil}).Data["delivery_lat"], "the store gave it apart from the link")
		gone := ask(given, none)
		require.Nil(t, gone.Data["delivery_lat"])
		require.Nil(t, gone.Data["delivery_lng"])
		require.Nil(t, ask(given, none).Data["delivery_lat"], "again: nothing changes")

		linked := s.CreateOrder(t, tenant.KeyA, fields{"delivery_maps_url": link})
		require.Nil(t, ask(linked, fields{"delivery_maps_url": nil}).Data["delivery_lat"])
		require.EqualValues(t, -12.125, ask(linked, fields{"delivery_lat": nil, "delivery_lng": nil, "delivery_maps_url": link}).Data["delivery_lat"], "the point of a new link")
		require.EqualValues(t, -77.03, ask(linked, fields{"delivery_maps_url": nil, "delivery_lat": -12.12, "delivery_lng": -77.03}).Data["delivery_lng"])
		requireWrongFields(t, correct(t, s, tenant.Key, linked, fields{"delivery_lat": nil, "delivery_lng": -77}), "delivery_lat")

		d := desk{t, s, tenant.SignIn(t, nil)}
		timeline := objects(t, d.send(http.MethodGet, "/orders/"+given, nil).Data["timeline"].([]any))
		require.Equal(t, []any{"created", "corrected", "corrected"}, column(timeline, "type"))
		require.Equal(t, []any{map[string]any{"field": "delivery_point", "old": "-12.12,-77.03", "new": nil}}, timeline[2]["changes"])
	})
}

// slowLink is a service with a short map link, whose host does something before it answers: after a
// correction with the link was read, and before the order's row is locked.
type slowLink struct {
	*apptest.Service
	host      string
	meanwhile atomic.Value
}

func eachSlowLink(t *testing.T, run func(t *testing.T, s *slowLink)) {
	t.Helper()
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := &slowLink{}
		host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if act, ok := s.meanwhile.Swap(func() {}).(func()); ok {
				act()
			}
			http.Redirect(w, r, "https://www.google.com/maps?q=-12.125,-77.029", http.StatusFound)
		}))
		t.Cleanup(host.Close)
		s.host = host.URL
		s.Service = apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, ShortLinkHosts: []string{host.URL}})
		run(t, s)
	})
}

// correctAfter corrects an order that another request has changed since the correction was read.
func (s *slowLink) correctAfter(t *testing.T, key, id string, body fields, meanwhile func()) *apptest.Answer {
	t.Helper()
	body["delivery_maps_url"] = s.host + "/" + uuid.NewString()
	s.meanwhile.Store(meanwhile)
	return correct(t, s.Service, key, id, body)
}

// While a short link is followed, its request holds no slot: the hosts of map links may take
// seconds, and nobody else is kept waiting for them.
func TestCorrect_followsALinkWithoutASlot(t *testing.T) {
	t.Parallel()
	var s *apptest.Service
	var other *apptest.Tenant
	var meanwhile []int
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := s.Try(apptest.Request{Method: http.MethodGet, Path: "/v1/orders", Key: other.Key})
		if err != nil {
			t.Error(err)
			return
		}
		meanwhile = append(meanwhile, answer.Status)
		http.Redirect(w, r, "https://www.google.com/maps?q=-12.125,-77.029", http.StatusFound)
	}))
	t.Cleanup(host.Close)
	s = apptest.Boot(t, testenv.Postgres(t), apptest.Options{NoWorker: true, ShortLinkHosts: []string{host.URL}, Configure: func(c *config.Config) {
		c.MaxRequests, c.Timeouts.Queue = 1, 100*time.Millisecond
	}})
	tenant := s.NewTenant(t)
	other = s.NewTenant(t)
	id := insertedRow(t, tenant)
	corrected := correct(t, s, tenant.Key, id, fields{"delivery_maps_url": host.URL + "/corregido"})
	require.EqualValues(t, -12.125, corrected.Data["delivery_lat"], corrected.Text)
	pasted := s.Do(t, apptest.Request{
		Method: http.MethodPost, Path: "/panel/pedidos/" + id + "/punto", Token: tenant.SignIn(t, nil),
		Raw: []byte("delivery_point=" + url.QueryEscape(host.URL+"/pegado")), Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"},
	})
	require.Less(t, pasted.Status, http.StatusBadRequest, pasted.Text)
	require.Equal(t, []int{http.StatusOK, http.StatusOK}, meanwhile, "another operator's request has the only slot")
}

// An order that is delivered while its correction is being read is not corrected.
func TestCorrect_losesToAMove(t *testing.T) {
	eachSlowLink(t, func(t *testing.T, s *slowLink) {
		tenant := s.NewTenant(t)
		row := assignedRow(tenant)
		row.Seq = 3
		tenant.InsertRows(t, []models.Order{row})
		id := row.ID.String()
		followed := s.correctAfter(t, tenant.Key, id, fields{}, func() {})
		require.EqualValues(t, -12.125, followed.Data["delivery_lat"], "a short link is followed: %s", followed.Text)

		late := s.correctAfter(t, tenant.Key, id, fields{"notes": "tarde"}, func() {
			_, err := s.App.Orders.Apply(t.Context(), workflows.ApplyMoveInput{
				OrderID: row.ID, EntryID: uuid.New(), Seq: 4, Move: models.MoveDeliver, To: models.StatusDelivered, By: models.ByOperator, At: time.Now(), Delivered: &workflows.Delivered{},
			})
			if err != nil {
				t.Error(err)
			}
		})
		requireRefused(t, late, http.StatusConflict, "correction_not_allowed")
		require.Contains(t, late.Error, "su estado es Entregado")
		read := get(t, s.Service, tenant.Key, "/v1/orders/"+id)
		require.Equal(t, "delivered", read.String("status"))
		require.Nil(t, read.Data["notes"])
	})
}

// A correction follows from what another one has left that came while it was being read: the price,
// the risk zone, the doubt about the point and the destination itself.
func TestCorrect_followsFromTheOneBefore(t *testing.T) {
	eachSlowLink(t, func(t *testing.T, s *slowLink) {
		tenant := s.NewTenant(t)
		name := func(order *apptest.Answer) any { return order.Data["location"].(map[string]any)["name"] }
		sendTo := func(id string, place uuid.UUID) func() {
			return func() {
				if answer, err := s.Try(apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id, Key: tenant.KeyA, Body: fields{"location_id": place}}); err != nil || answer.Status != http.StatusOK {
					t.Error(answer, err)
				}
			}
		}
		id := insertedRow(t, tenant)
		larger := s.correctAfter(t, tenant.KeyA, id, fields{"size": "L"}, sendTo(id, apptest.Surco))
		require.Equal(t, http.StatusOK, larger.Status, larger.Text)
		require.Equal(t, "Santiago de Surco", name(larger))
		require.EqualValues(t, 17.5, larger.Data["shipping_cost"], "size L to Surco")
		require.Contains(t, larger.Message, "de 12.00 a 17.50")

		id = insertedRow(t, tenant)
		back := s.correctAfter(t, tenant.KeyA, id, fields{"location_id": apptest.Miraflores}, sendTo(id, apptest.Surco))
		require.Equal(t, "Miraflores", name(back), "the place that the order had when the request came")
		require.EqualValues(t, 9, back.Data["shipping_cost"])
		require.Equal(t, back.Data, get(t, s.Service, tenant.KeyA, "/v1/orders/"+id).Data)

		id = insertedRow(t, tenant)
		risky := s.correctAfter(t, tenant.KeyA, id, fields{"delivery_address": "Paradero 10"}, sendTo(id, apptest.SanJuan))
		require.Contains(t, risky.Warning, "zona de riesgo")

		id = insertedRow(t, tenant)
		far := s.correctAfter(t, tenant.KeyA, id, fields{}, sendTo(id, apptest.Pucusana))
		require.Regexp(t, `a unos \d+ km de Pucusana`, far.Warning)
	})
}

// An order that becomes cash on delivery while its delivery waits for the workflow is not delivered
// without the amount that was collected.
func TestDeliver_needsTheAmountOfACorrection(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true}, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token, row := tenant.SignIn(t, nil), assignedRow(tenant)
		row.Seq = 3
		tenant.InsertRows(t, []models.Order{row})
		id := row.ID.String()
		answers := make(chan *apptest.Answer, 1)
		go func() {
			defer close(answers)
			answer, err := s.Try(apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/deliver", Token: token, Body: fields{}})
			if err != nil {
				t.Error(err)
				return
			}
			answers <- answer
		}()
		s.WaitForWorkflow(t, id) // the delivery has asked for its move, which no worker makes yet
		require.Equal(t, "cash_on_delivery", correct(t, s, tenant.Key, id, fields{"amount_to_collect": 30}).String("payment_type"))
		s.StartWorker(t)
		refused := <-answers
		require.NotNil(t, refused)
		require.Equal(t, http.StatusBadRequest, refused.Status, refused.Text)
		requireWrongFields(t, refused, "actual_amount_collected")
		require.Equal(t, "assigned", get(t, s, tenant.Key, "/v1/orders/"+id).String("status"))

		paid := panelMove(t, s, token, id, "deliver", fields{"actual_amount_collected": 30}, http.StatusOK)
		require.EqualValues(t, 30, paid.Data["actual_amount_collected"])
		requireRefused(t, correct(t, s, tenant.Key, id, fields{"amount_to_collect": 40}), http.StatusConflict, "correction_not_allowed")
	})
}

// Two corrections of the same order at once are both made, one after the other.
func TestCorrect_concurrentCorrectionsBothCount(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := insertedRow(t, tenant)
		answers := make(chan error, 2)
		for _, body := range []fields{{"notes": "uno"}, {"delivery_reference": "dos"}} {
			go func() {
				_, err := s.Try(apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id, Key: tenant.Key, Body: body})
				answers <- err
			}()
		}
		require.NoError(t, <-answers)
		require.NoError(t, <-answers)
		read := get(t, s, tenant.Key, "/v1/orders/"+id)
		require.Equal(t, "uno", read.String("notes"))
		require.Equal(t, "dos", read.String("delivery_reference"))
	})
}

// deliveryCorrection is a form with a reason and, if it has a size, a photo.
func deliveryCorrection(t *testing.T, orderID, token string, values map[string]string, size int) apptest.Request {
	t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	for name, value := range values {
		require.NoError(t, writer.WriteField(name, value))
	}
	if size > 0 {
		part, err := writer.CreateFormFile("photo", "otra.png")
		require.NoError(t, err)
		require.NoError(t, png.Encode(part, image.NewGray(image.Rect(0, 0, size, size))))
	}
	require.NoError(t, writer.Close())
	return apptest.Request{
		Method: http.MethodPost, Path: "/panel/api/orders/" + orderID + "/delivery-correction", Token: token,
		Raw: form.Bytes(), Header: map[string]string{"Content-Type": writer.FormDataContentType()},
	}
}

// deliveredRow is a delivered order for which 40 were collected.
func deliveredRow(t *testing.T, tenant *apptest.Tenant) string {
	t.Helper()
	return insertedRow(t, tenant, apptest.ReceivedAfter(time.Hour), apptest.DeliveredAfter(tenant.Riders[0], time.Hour), func(o *models.Order) {
		collected := o.AmountToCollect + 4000
		o.AmountToCollect, o.ActualAmountCollected, o.PaymentType = 4500, &collected, models.CashOnDelivery
	})
}

// The operator corrects what was recorded at a delivery. The first amount is in the audit log.
func TestCorrectDelivery_amount(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		d, tenant, _ := adminDesk(t, s)
		id := deliveredRow(t, tenant)
		path := "/orders/" + id + "/delivery-correction"
		requireWrongFields(t, d.post(path, fields{}), "reason", "actual_amount_collected")
		requireWrongFields(t, d.post(path, fields{"reason": "Mal escrito", "actual_amount_collected": -1}), "actual_amount_collected")
		require.Equal(t, http.StatusForbidden, desk{t, s, tenant.SignIn(t, &tenant.StoreA)}.post(path, fields{"reason": "x", "actual_amount_collected": 1}).Status)
		open := insertedRow(t, tenant)
		requireRefused(t, d.post("/orders/"+open+"/delivery-correction", fields{"reason": "x", "actual_amount_collected": 1}), http.StatusConflict, "correction_not_allowed")

		corrected := d.post(path, fields{"reason": "El motorizado escribió mal", "actual_amount_collected": 45})
		require.Equal(t, http.StatusOK, corrected.Status, corrected.Text)
		require.EqualValues(t, 45, corrected.Data["actual_amount_collected"])
		require.EqualValues(t, 45, get(t, s, tenant.KeyA, "/v1/orders/"+id).Data["actual_amount_collected"])
		require.Equal(t, http.StatusOK, d.post(path, fields{"reason": "Otra vez", "actual_amount_collected": 45}).Status, "nothing changes")

		entries := d.auditLog("action=order.delivery_corrected")
		require.Len(t, entries, 1)
		require.Equal(t, "actual_amount_collected: 40.00 -> 45.00", entries[0]["detail"])
		timeline := objects(t, d.send(http.MethodGet, "/orders/"+id, nil).Data["timeline"].([]any))
		last := timeline[len(timeline)-1]
		require.Equal(t, "delivery_corrected", last["type"])
		require.Equal(t, "El motorizado escribió mal", last["detail"])
		require.Equal(t, []any{map[string]any{"field": "actual_amount_collected", "old": "40.00", "new": "45.00"}}, last["changes"])
	})
}

// The photo that a correction replaces is kept with the order, and goes when its data is erased.
func TestCorrectDelivery_photo(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true}, func(t *testing.T, s *apptest.Service) {
		d, tenant, _ := adminDesk(t, s)
		id := deliveredRow(t, tenant)
		photoOf := func(answer *apptest.Answer) string {
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
			return answer.Data["delivery_proof"].(map[string]any)["photo_url"].(string)
		}
		first := photoOf(s.Do(t, deliveryCorrection(t, id, d.token, map[string]string{"reason": "Faltaba la foto"}, 8)))
		second := photoOf(s.Do(t, deliveryCorrection(t, id, d.token, map[string]string{"reason": "Era de otro pedido", "actual_amount_collected": "41.50"}, 9)))
		require.NotEqual(t, first, second)
		timeline := objects(t, d.send(http.MethodGet, "/orders/"+id, nil).Data["timeline"].([]any))
		changes := objects(t, timeline[len(timeline)-1]["changes"].([]any))
		require.Equal(t, []any{"actual_amount_collected", "delivery_proof"}, column(changes, "field"))
		kept := changes[1]["old"].(string)
		response, err := apptest.Client.Get(kept)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode, "the first photo can still be seen")

		files, err := os.ReadDir(s.Config.FilesDir)
		require.NoError(t, err)
		require.Len(t, files, 4, "two photos with their thumbnails")
		var names []string
		for _, file := range files {
			names = append(names, file.Name())
		}
		referenced, erased, err := s.App.DB.KnownPhotos(t.Context(), names)
		require.NoError(t, err)
		require.Len(t, referenced, 2, "the sweeper leaves both alone")
		require.Empty(t, erased)

		require.Equal(t, http.StatusOK, d.post("/orders/"+id+"/erase", nil).Status)
		files, err = os.ReadDir(s.Config.FilesDir)
		require.NoError(t, err)
		require.Empty(t, files)
		refused := s.Do(t, deliveryCorrection(t, id, d.token, map[string]string{"reason": "Otra foto"}, 8))
		requireRefused(t, refused, http.StatusConflict, "correction_not_allowed")

		corrected := d.post("/orders/"+id+"/delivery-correction", fields{"reason": "Melchora pagó 42", "actual_amount_collected": 42})
		require.Equal(t, http.StatusOK, corrected.Status, corrected.Text)
		require.EqualValues(t, 42, corrected.Data["actual_amount_collected"], "the cash has to agree")
		requireNotStored(t, s, "Melchora")
		timeline = objects(t, d.send(http.MethodGet, "/orders/"+id, nil).Data["timeline"].([]any))
		last := timeline[len(timeline)-1]
		require.Equal(t, []any{"delivery_corrected", nil}, []any{last["type"], last["detail"]})
		require.Equal(t, []any{map[string]any{"field": "actual_amount_collected", "old": "41.50", "new": "42.00"}}, last["changes"])
	})
}

// The values that were corrected go with the rest of a recipient's data, also those of somebody
// whom the order is not for any more.
func TestCorrect_isErased(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true}, func(t *testing.T, s *apptest.Service) {
		d, tenant, _ := adminDesk(t, s)
		id := insertedRow(t, tenant, func(o *models.Order) { o.RecipientPhone = "+51911222333" })
		for _, change := range []fields{
			{"delivery_address": "Jr. Los Cedros 871", "delivery_reference": "Portón granate", "notes": "Preguntar por Melchora"},
			{"recipient_phone": "+51944555666", "delivery_address": "Av. Larco 1", "delivery_reference": nil, "notes": nil},
			{"recipient_phone": "+51977888999", "size": "L"},
		} {
			require.Equal(t, http.StatusOK, d.patch("/orders/"+id, change).Status)
		}
		requireStored := func(phone string) {
			t.Helper()
			var count int
			require.NoError(t, s.App.DB.SQL().QueryRowContext(t.Context(),
				"SELECT COUNT(*) FROM order_corrections WHERE old_value = '"+phone+"' OR new_value = '"+phone+"'").Scan(&count))
			require.Positive(t, count)
		}
		requireStored("+51944555666")
		require.Equal(t, http.StatusOK, d.post("/erasures", fields{"phone": "944 555 666"}).Status)
		requireNotStored(t, s, "+51944555666")
		requireStored("+51911222333")

		_, err := s.App.DB.SQL().ExecContext(t.Context(), "UPDATE orders SET status = 'cancelled', cancelled_by = 'operator', cancelled_at = created_at WHERE id = '"+id+"'")
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, d.post("/orders/"+id+"/erase", nil).Status)
		requireNotStored(t, s, "911222333", "977888999", "Cedros", "granate", "Melchora", "Larco")
		timeline := objects(t, d.send(http.MethodGet, "/orders/"+id, nil).Data["timeline"].([]any))
		changes := objects(t, timeline[len(timeline)-1]["changes"].([]any))
		require.Equal(t, []any{"recipient_phone", "size", "shipping_cost"}, column(changes, "field"), "that it was corrected stays known")
		require.Equal(t, []any{nil, "M", "9.00"}, column(changes, "old"))
	})
}

// A phone that was corrected is somebody else's: whoever asks to be forgotten is removed from
// everything that was stored until then, and the order stays with its recipient. What is being sent
// is left as it is, and found again.
func TestCorrect_earlierPhoneIsErased(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true}, func(t *testing.T, s *apptest.Service) {
		d, tenant, _ := adminDesk(t, s)
		s.Register(t, tenant.Key, apptest.NewReceiver(t, nil))
		const body = `{"recipient_name":"Rosa Díaz","recipient_phone":"944555666","delivery_address":"Av. Larco 1","product":"Botas","location_id":"%s"}`
		first := once(t, s, tenant.Key, "venta-1", fmt.Sprintf(body, apptest.Miraflores))
		require.Equal(t, http.StatusCreated, first.Status, first.Text)
		id := first.String("id")
		require.Equal(t, http.StatusOK, d.patch("/orders/"+id, fields{"recipient_phone": "+51977888999"}).Status)
		erase := func(erased, open float64) {
			t.Helper()
			require.Equal(t, map[string]any{"erased": erased, "open": open}, d.post("/erasures", fields{"phone": "944 555 666"}).Data)
		}
		erase(0, 1)

		var delivery uuid.UUID
		require.NoError(t, s.App.DB.SQL().QueryRowContext(t.Context(), "SELECT id FROM deliveries WHERE order_id = '"+id+"'").Scan(&delivery))
		_, err := s.App.DB.SQL().ExecContext(t.Context(), "UPDATE deliveries SET status = 'delivered', next_attempt_at = NULL, finished_at = created_at WHERE id = '"+delivery.String()+"'")
		require.NoError(t, err)
		response, now := "gracias, 944555666", time.Now()
		require.NoError(t, s.App.DB.StartAttempt(t.Context(), &models.WebhookAttempt{
			DeliveryID: delivery, Number: 1, Cause: models.CauseAuto, StartedAt: now, FinishedAt: &now, Response: &response,
		}))
		erase(1, 0)
		requireNotStored(t, s, "944555666")
		erase(0, 0)

		again := once(t, s, tenant.Key, "venta-1", fmt.Sprintf(body, apptest.Miraflores))
		require.Equal(t, strings.Replace(first.Text, "+51944555666", models.ErasedPhone, 1), again.Text, "only the phone")
		order := d.send(http.MethodGet, "/orders/"+id, nil)
		require.Equal(t, "+51977888999", order.String("recipient_phone"))
		require.Equal(t, "Rosa Díaz", order.String("recipient_name"))
	})
}
