package api_test

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// outing is an operator with an order that is out with a rider.
type outing struct {
	desk
	tenant *apptest.Tenant
	id     string
}

func newOuting(t *testing.T, s *apptest.Service, order ...map[string]any) outing {
	t.Helper()
	d, tenant := operatorDesk(t, s)
	return outWithRider(t, d, tenant, order...)
}

func outWithRider(t *testing.T, d desk, tenant *apptest.Tenant, order ...map[string]any) outing {
	t.Helper()
	o := outing{d, tenant, d.s.CreateOrder(t, tenant.KeyA, order...)}
	d.s.WaitForWorkflow(t, o.id)
	o.move("receive", nil)
	o.move("assign", fields{"rider_id": tenant.Riders[0].ID})
	return o
}

// move makes a move as the operator, which must succeed.
func (o outing) move(name string, body any) *apptest.Answer {
	o.t.Helper()
	return panelMove(o.t, o.s, o.token, o.id, name, body, http.StatusOK)
}

// decide decides with a key.
func (o outing) decide(key string, body any) *apptest.Answer {
	o.t.Helper()
	return o.s.Do(o.t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders/" + o.id + "/decision", Key: key, Body: body})
}

// read reads the order as the store.
func (o outing) read() *apptest.Answer {
	o.t.Helper()
	return get(o.t, o.s, o.tenant.KeyA, "/v1/orders/"+o.id)
}

// attempt is a failed attempt with a photo and where it was.
func (o outing) attempt(values map[string]string) *apptest.Answer {
	o.t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	for name, value := range values {
		require.NoError(o.t, writer.WriteField(name, value))
	}
	part, err := writer.CreateFormFile("photo", "puerta.png")
	require.NoError(o.t, err)
	require.NoError(o.t, png.Encode(part, image.NewGray(image.Rect(0, 0, 8, 8))))
	require.NoError(o.t, writer.Close())
	return o.s.Do(o.t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + o.id + "/attempt", Token: o.token,
		Raw: form.Bytes(), Header: map[string]string{"Content-Type": writer.FormDataContentType()}})
}

// nextDays are the operator's next days of deliveries by the real clock: Monday to Saturday.
func (o outing) nextDays(count int) []string {
	var days []string
	for _, day := range (models.Rules{}).NextDays(time.Now().In(o.tenant.Operator.TimeZone()), count) {
		days = append(days, day.Format(time.DateOnly))
	}
	return days
}

// A failed attempt leaves the order with its rider, and says why; the store decides what comes
// next, once.
func TestAttempt_theStoreDecidesOnce(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newOuting(t, s)
		requireRefused(t, o.decide(o.tenant.KeyA, fields{"decision": "retry"}), http.StatusConflict, "move_not_allowed")
		failed := o.move("attempt", fields{"reason": "absent", "note": "Se tocó dos veces"})
		require.Equal(t, "assigned", failed.String("status"))
		require.Equal(t, "attempt_failed", failed.String("substatus"))
		require.NotNil(t, failed.Data["decision_deadline"])
		attempts := objects(t, failed.Data["attempts"].([]any))
		require.Len(t, attempts, 1)
		require.EqualValues(t, 1, attempts[0]["number"])
		require.Equal(t, []any{"absent", "Se tocó dos veces", nil}, []any{attempts[0]["reason"], attempts[0]["note"], attempts[0]["photo_url"]})

		requireRefused(t, o.decide(o.tenant.KeyB, fields{"decision": "retry"}), http.StatusNotFound, "order_not_found")
		reader := o.tenant.NewKey(t, models.APIKey{StoreID: &o.tenant.StoreA.ID}, models.ScopeReadOrders)
		requireRefused(t, o.decide(reader, fields{"decision": "retry"}), http.StatusForbidden, "missing_scope")
		for _, wrong := range []struct {
			field string
			body  fields
		}{
			{"decision", fields{}}, {"decision", fields{"decision": "burn"}}, {"decision", fields{"decision": 5}},
			{"decision", fields{"decision": "change"}}, {"on", fields{"decision": "retry", "on": "mañana"}},
			{"on", fields{"decision": "retry", "on": "2020-01-01"}}, {"on", fields{"decision": "retry", "on": "2099-01-01"}},
			{"note", fields{"decision": "return", "note": strings.Repeat("ñ", 1001)}},
			{"recipient_phone", fields{"decision": "change", "recipient_phone": "12"}},
		} {
			requireWrongFields(t, o.decide(o.tenant.KeyA, wrong.body), wrong.field)
		}
		require.Equal(t, "attempt_failed", o.read().String("substatus"), "a refused decision is none")

		day := o.nextDays(2)[1]
		decided := o.decide(o.tenant.KeyA, fields{"decision": "retry", "on": day})
		require.Equal(t, http.StatusOK, decided.Status, decided.Text)
		require.Equal(t, []any{"assigned", "retry_planned", day, nil},
			[]any{decided.Data["status"], decided.Data["substatus"], decided.Data["next_attempt_on"], decided.Data["decision_deadline"]})
		requireRefused(t, o.decide(o.tenant.KeyA, fields{"decision": "return"}), http.StatusConflict, "move_not_allowed")
		require.Equal(t, "returning", o.move("decision", fields{"decision": "return"}).String("substatus"), "the operator may change it")
		require.Equal(t, o.nextDays(1)[0], o.move("decision", fields{"decision": "retry"}).String("next_attempt_on"), "the next day without a date")
	})
}

// With change the store corrects where the package goes, although it is with the operator.
func TestAttempt_theStoreChangesTheAddress(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newOuting(t, s)
		o.move("attempt", fields{"reason": "wrong_address"})
		requireRefused(t, correct(t, s, o.tenant.KeyA, o.id, fields{"delivery_address": "Av. Larco 435"}), http.StatusConflict, "correction_not_allowed")
		decided := o.decide(o.tenant.KeyA, fields{
			"decision": "change", "delivery_address": "Av. Larco 435", "delivery_reference": "Portón azul", "amount_to_collect": 1,
		})
		require.Equal(t, http.StatusOK, decided.Status, decided.Text)
		require.Equal(t, []any{"retry_planned", "Av. Larco 435", "Portón azul"},
			[]any{decided.Data["substatus"], decided.Data["delivery_address"], decided.Data["delivery_reference"]})
		require.EqualValues(t, 0, decided.Data["amount_to_collect"], "a decision changes where the package goes, not what it costs")
		requireRefused(t, o.decide(o.tenant.KeyA, fields{"decision": "change", "delivery_address": "Av. Larco 1"}), http.StatusConflict, "move_not_allowed")
		require.Equal(t, "Av. Larco 435", o.read().String("delivery_address"))
	})
}

// Of decisions that come at the same time one is taken, and the others hear that it was.
func TestAttempt_decisionsRace(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newOuting(t, s)
		o.move("attempt", fields{"reason": "absent"})
		answers := inParallel(t, 8, func(i int) apptest.Request {
			body := fields{"decision": []string{"retry", "return"}[i%2], "note": uuid.NewString()}
			return apptest.Request{Method: http.MethodPost, Path: "/v1/orders/" + o.id + "/decision", Key: o.tenant.KeyA, Body: body}
		}, s)
		require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusConflict: 7}, answers)
	})
}

// Once the deadline has passed the operator's rule holds: another attempt, and the way back after
// the last one.
func TestAttempt_nobodyDecidesInTime(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		_, tenant := operatorDesk(t, s)
		for count, want := range map[int]string{1: "retry_planned", 3: "returning"} {
			row := tenant.Row(time.Now().Add(-48*time.Hour), apptest.ReceivedAfter(time.Hour), func(o *models.Order) {
				substatus, due := models.SubstatusAttemptFailed, time.Now().Add(-time.Hour)
				o.Status, o.RiderID, o.AssignedAt, o.Substatus, o.DecisionDeadline = models.StatusAssigned, &tenant.Riders[0].ID, o.ReceivedAt, &substatus, &due
				o.WorkflowStartedAt = nil
				for i := range count {
					o.Attempts = append(o.Attempts, models.Attempt{Number: i + 1, Reason: models.FailedAbsent, OccurredAt: *o.ReceivedAt, RecordedAt: *o.ReceivedAt})
				}
			})
			tenant.InsertRows(t, []models.Order{row})
			require.NoError(t, s.App.Orders.Reconcile(t.Context(), row.ID))
			poll.Until(t, func() error {
				if order := get(t, s, tenant.KeyA, "/v1/orders/"+row.ID.String()); order.Data["substatus"] != want {
					return errors.New("nothing is decided yet")
				}
				return nil
			})
			order := get(t, s, tenant.KeyA, "/v1/orders/"+row.ID.String())
			require.Nil(t, order.Data["decision_deadline"])
			require.Equal(t, want == "retry_planned", order.Data["next_attempt_on"] != nil)
		}
	})
}

// Back at the counter, on its way to the store and handed over: then the order is cancelled, which
// order.cancelled and, to those who ask for it, order.returned tell once each.
func TestAttempt_returnedToItsStore(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		d, tenant := operatorDesk(t, s)
		usual, all := apptest.NewReceiver(t, nil), apptest.NewReceiver(t, nil)
		s.Register(t, tenant.KeyA, usual)
		s.Register(t, tenant.KeyA, all, fields{"events": column(eventNames(), "name")})
		o := outWithRider(t, d, tenant)
		requireRefused(t, panelMove(t, s, o.token, o.id, "hand-back", nil, http.StatusConflict), http.StatusConflict, "move_not_allowed")
		o.move("attempt", fields{"reason": "refused"})
		back := o.move("receive", nil)
		require.Equal(t, []any{"received", "awaiting_decision", nil}, []any{back.Data["status"], back.Data["substatus"], back.Data["rider"]})
		require.Equal(t, "returning", o.decide(tenant.KeyA, fields{"decision": "return"}).String("substatus"))
		requireRefused(t, panelMove(t, s, o.token, o.id, "cancel", nil, http.StatusConflict), http.StatusConflict, "move_not_allowed")
		requireRefused(t, panelMove(t, s, tenant.SignIn(t, &tenant.StoreA), o.id, "hand-back", nil, http.StatusForbidden), http.StatusForbidden, "role_not_allowed")
		over := o.move("hand-back", fields{"note": "Lo recogió Ana"})
		require.Equal(t, []any{"cancelled", "returned"}, []any{over.Data["status"], over.Data["substatus"]})
		require.Equal(t, map[string]any{"by": "operator", "reason": "returned", "note": "Lo recogió Ana"}, over.Data["cancellation"])
		requireRefused(t, panelMove(t, s, o.token, o.id, "hand-back", nil, http.StatusConflict), http.StatusConflict, "move_not_allowed")

		want := []string{"order.created", "order.assigned", "order.attempt_failed", "order.returning", "order.cancelled", "order.returned"}
		require.ElementsMatch(t, want, names(all.WaitFor(t, len(want))))
		contract := []string{"order.created", "order.assigned", "order.cancelled"}
		require.Equal(t, contract, names(usual.WaitFor(t, len(contract))))
		require.Equal(t, contract, feedNames(t, s, tenant.KeyA, "", len(contract)), "a reader who names nothing gets what the contract has")
		require.Equal(t, []string{"order.attempt_failed", "order.returned"}, feedNames(t, s, tenant.KeyA, "order.returned,order.attempt_failed", 2))
		requireWrongFields(t, get(t, s, tenant.KeyA, "/v1/events?events=order.burnt"), "events")
	})
}

func eventNames() (list []map[string]any) {
	for _, event := range models.OrderEvents {
		list = append(list, map[string]any{"name": string(event)})
	}
	return list
}

// feedNames are the names of the events that a key reads, once there are so many.
func feedNames(t *testing.T, s *apptest.Service, key, asked string, count int) (found []string) {
	t.Helper()
	path := "/v1/events?limit=200"
	if asked != "" {
		path += "&events=" + asked
	}
	poll.Until(t, func() error {
		found = nil
		for _, event := range objects(t, get(t, s, key, path).Data["events"].([]any)) {
			found = append(found, event["body"].(map[string]any)["event"].(string))
		}
		if len(found) < count {
			return errors.New("events are missing")
		}
		return nil
	})
	return found
}

// A delivery that is taken back is told by order.updated, which names what is other than it was
// told; nobody hears of an assignment once more.
func TestUndo_ofADelivery(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		d, tenant := operatorDesk(t, s)
		all := apptest.NewReceiver(t, nil)
		s.Register(t, tenant.KeyA, all, fields{"events": column(eventNames(), "name")})
		o := outWithRider(t, d, tenant, fields{"amount_to_collect": 50})
		o.move("deliver", fields{"collections": []fields{{"method": "cash", "amount": 30}, {"method": "yape", "amount": 20, "reference": "OP-1"}}, "received_by": "Portero"})
		requireWrongFields(t, panelMove(t, s, o.token, o.id, "undo", fields{}, http.StatusBadRequest), "reason")
		requireRefused(t, panelMove(t, s, tenant.SignIn(t, &tenant.StoreA), o.id, "undo", fields{"reason": "x"}, http.StatusForbidden), http.StatusForbidden, "role_not_allowed")
		undone := o.move("undo", fields{"reason": "Era otro paquete"})
		require.Equal(t, []any{"assigned", nil, nil, nil, []any{}},
			[]any{undone.Data["status"], undone.Data["delivered_at"], undone.Data["actual_amount_collected"], undone.Data["received_by"], undone.Data["collections"]})
		require.NotNil(t, undone.Data["rider"])
		requireRefused(t, panelMove(t, s, o.token, o.id, "undo", fields{"reason": "otra vez"}, http.StatusConflict), http.StatusConflict, "undo_not_allowed")

		events := all.WaitFor(t, 4)
		require.Equal(t, []string{"order.created", "order.assigned", "order.delivered", "order.updated"}, names(events))
		require.Subset(t, events[3].Data["changed"], []any{"status", "status_label", "delivered_at", "actual_amount_collected", "collections", "received_by"})
		require.NotContains(t, events[3].Data["changed"], "rider")
		require.Equal(t, "assigned", events[3].Data["status"])

		tracked := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/track/" + undone.String("guide_code")})
		require.Equal(t, http.StatusOK, tracked.Status, tracked.Text)
		require.Equal(t, []any{"created", "received", "assigned"}, column(objects(t, tracked.Data["events"].([]any)), "type"), "what was undone is no fact")
		require.Equal(t, "delivered", o.move("deliver", fields{"actual_amount_collected": 50}).String("status"))
		require.Equal(t, []string{"order.created", "order.assigned", "order.delivered", "order.updated", "order.delivered"}, names(all.WaitFor(t, 5)))
	})
}

// What can be taken back, and what no longer can: what is too old, and what the operator has turned
// off.
func TestUndo_inTime(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newOuting(t, s)
		require.Equal(t, "received", o.move("undo", fields{"reason": "otro motorizado"}).String("status"))
		o.move("assign", fields{"rider_id": o.tenant.Riders[1].ID})
		o.move("attempt", fields{"reason": "absent"})
		undone := o.move("undo", fields{"reason": "sí estaba"})
		require.Equal(t, []any{"assigned", nil, []any{}, nil}, []any{undone.Data["status"], undone.Data["substatus"], undone.Data["attempts"], undone.Data["decision_deadline"]})
		o.move("attempt", fields{"reason": "absent"})
		o.move("decision", fields{"decision": "retry"})
		requireRefused(t, panelMove(t, s, o.token, o.id, "undo", fields{"reason": "x"}, http.StatusConflict), http.StatusConflict, "move_not_allowed")

		late := outWithRider(t, o.desk, o.tenant)
		late.move("deliver", nil)
		aged := time.Now().Add(-16 * time.Minute)
		require.NoError(t, s.App.DB.Query(t.Context()).Model(&models.TimelineEntry{}).Where("order_id = ? AND type = 'delivered'", uuid.MustParse(late.id)).UpdateColumn("at", aged).Error)
		answer := panelMove(t, s, late.token, late.id, "undo", fields{"reason": "tarde"}, http.StatusConflict)
		requireRefused(t, answer, http.StatusConflict, "undo_not_allowed")
		require.Contains(t, answer.Error, "Ya pasó el tiempo")

		never := outWithRider(t, o.desk, o.tenant)
		o.change("/settings", fields{"rules": fields{"undo_minutes": 0}})
		poll.Until(t, func() error {
			answer := o.post("/orders/"+never.id+"/undo", fields{"reason": "x"})
			if answer.Code != "undo_not_allowed" {
				return errors.New(answer.Text)
			}
			return nil
		})
	})
}

// Of an undo and a move that come at the same time one wins; the order is never both.
func TestUndo_races(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newOuting(t, s)
		o.move("attempt", fields{"reason": "absent"})
		inParallel(t, 6, func(i int) apptest.Request {
			body, move := fields{"reason": "sí estaba " + uuid.NewString()}, "undo"
			if i%2 == 1 {
				body, move = fields{"decision": "retry"}, "decision"
			}
			return apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + o.id + "/" + move, Token: o.token, Body: body}
		}, s)
		order := o.read()
		undone := len(order.Data["attempts"].([]any)) == 0
		require.Equal(t, undone, order.Data["substatus"] == nil, order.Text)
		require.Equal(t, !undone, order.Data["next_attempt_on"] != nil, order.Text)
	})
}

// Where an attempt was made is the operator's, as that of a delivery; with the recipient's data go
// the notes, the photos, the points and who received it.
func TestAttempt_privateAndErased(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		admin, tenant, _ := adminDesk(t, s)
		all := apptest.NewReceiver(t, nil)
		s.Register(t, tenant.KeyA, all, fields{"events": []string{"order.attempt_failed", "order.delivered"}})
		o := outWithRider(t, admin, tenant, fields{"amount_to_collect": 20})
		wrong := o.attempt(map[string]string{"reason": "absent", "lat": "91", "lng": "0"})
		requireWrongFields(t, wrong, "lat")
		failed := o.attempt(map[string]string{"reason": "absent", "note": "Perro suelto", "lat": "-12.1211", "lng": "-77.0299", "occurred_at": time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)})
		require.Equal(t, http.StatusOK, failed.Status, failed.Text)
		attempt := objects(t, failed.Data["attempts"].([]any))[0]
		require.Equal(t, []any{-12.1211, -77.0299}, []any{attempt["lat"], attempt["lng"]})
		ofStore := objects(t, o.read().Data["attempts"].([]any))[0]
		require.NotContains(t, ofStore, "lat")
		require.Equal(t, "Perro suelto", ofStore["note"])
		told := all.WaitFor(t, 1)[0]
		require.NotContains(t, objects(t, told.Data["attempts"].([]any))[0], "lat")

		photo := attempt["photo_url"].(string)
		response, err := apptest.Client.Get(photo)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode)
		name := photo[strings.LastIndex(photo, "/")+1 : strings.Index(photo, "?")]
		referenced, _, err := s.App.Orders.KnownPhotos(t.Context(), []string{name})
		require.NoError(t, err)
		require.Contains(t, referenced, name, "the sweep of the photos knows it")
		timeline := objects(t, admin.send(http.MethodGet, "/orders/"+o.id, nil).Data["timeline"].([]any))
		last := timeline[len(timeline)-1]
		require.Equal(t, "attempt_failed", last["type"])
		require.Contains(t, last["photo_url"], name)
		require.NotNil(t, last["occurred_at"])
		store := desk{t, s, tenant.SignIn(t, &tenant.StoreA)}
		seen := objects(t, store.send(http.MethodGet, "/orders/"+o.id, nil).Data["timeline"].([]any))
		require.NotContains(t, seen[len(seen)-1], "photo_url")

		o.move("deliver", fields{"collections": []fields{{"method": "plin", "amount": 20, "reference": "OP-77"}}, "received_by": "Ana la vecina"})
		all.WaitFor(t, 2)
		poll.Until(t, func() error { return workflowEnded(t, s, o.id) })
		require.Equal(t, http.StatusOK, admin.post("/orders/"+o.id+"/erase", nil).Status)
		for _, text := range []string{
			o.read().Text, admin.send(http.MethodGet, "/orders/"+o.id, nil).Text, admin.send(http.MethodGet, "/deliveries?order_id="+o.id, nil).Text,
			get(t, s, tenant.KeyA, "/v1/events?events=order.attempt_failed,order.delivered").Text,
		} {
			for _, gone := range []string{"Perro suelto", "OP-77", "Ana la vecina", name, "-12.1211"} {
				require.NotContains(t, text, gone)
			}
		}
		erased := o.read()
		require.Equal(t, "absent", objects(t, erased.Data["attempts"].([]any))[0]["reason"], "that it failed stays")
		require.EqualValues(t, 20, objects(t, erased.Data["collections"].([]any))[0]["amount"])
		requireRefused(t, s.Do(t, apptest.Request{Method: http.MethodGet, Path: strings.TrimPrefix(photo, s.BaseURL)}), http.StatusNotFound, "file_not_found")
	})
}
