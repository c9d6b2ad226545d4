package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"maps"
	"mime/multipart"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/cash"
	"despacho/models"
	"despacho/test/apptest"
)

// street is an operator whose first rider is out with packages.
type street struct {
	phone
	desk    desk
	tenant  *apptest.Tenant
	riderID string
	now     func() time.Time
}

func newStreet(t *testing.T, s *apptest.Service) *street {
	t.Helper()
	tenant := s.NewTenant(t)
	return &street{
		phone: newPhone(t, s, tenant), desk: desk{t, s, tenant.SignIn(t, nil)}, tenant: tenant, riderID: tenant.Riders[0].ID.String(),
		now: s.App.Clock().Now,
	}
}

// out is an order that is with the rider.
func (o *street) out(changes ...map[string]any) string {
	o.t.Helper()
	id := o.s.CreateOrder(o.t, o.tenant.Key, changes...)
	o.moved(id, "receive", nil)
	o.moved(id, "assign", fields{"rider_id": o.riderID})
	return id
}

func (o *street) moved(id, move string, body any) *apptest.Answer {
	o.t.Helper()
	answer := o.desk.post("/orders/"+id+"/"+move, body)
	require.Equal(o.t, http.StatusOK, answer.Status, answer.Text)
	return answer
}

// act is an act of now; the changes come last.
func (o *street) act(kind string, ids []string, changes ...map[string]any) fields {
	act := fields{"id": uuid.NewString(), "type": kind, "order_ids": ids, "occurred_at": o.now(), "sent_at": o.now()}
	for _, change := range changes {
		maps.Copy(act, change)
	}
	return act
}

func (o *street) send(act fields) *apptest.Answer {
	o.t.Helper()
	return o.phone.send(http.MethodPost, "/acts", act)
}

// sendPhoto sends an act as a form with a photo.
func (o *street) sendPhoto(act fields, size int) *apptest.Answer {
	o.t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	text, err := json.Marshal(act)
	require.NoError(o.t, err)
	require.NoError(o.t, writer.WriteField("act", string(text)))
	part, err := writer.CreateFormFile("photo", "foto.png")
	require.NoError(o.t, err)
	require.NoError(o.t, png.Encode(part, image.NewGray(image.Rect(0, 0, size, size))))
	require.NoError(o.t, writer.Close())
	return o.s.Do(o.t, apptest.Request{Method: http.MethodPost, Path: "/rider/api/acts", Phone: o.cookie, Raw: form.Bytes(),
		Header: map[string]string{"Content-Type": writer.FormDataContentType()}})
}

func (o *street) order(id string) map[string]any {
	o.t.Helper()
	read := o.desk.send(http.MethodGet, "/orders/"+id, nil)
	require.Equal(o.t, http.StatusOK, read.Status, read.Text)
	return read.Data
}

// requireOutcomes demands the outcome for each order of an act.
func requireOutcomes(t *testing.T, answer *apptest.Answer, want ...string) {
	t.Helper()
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	var got []string
	for _, result := range answer.Data["results"].([]any) {
		got = append(got, result.(map[string]any)["outcome"].(string))
	}
	require.Equal(t, want, got, answer.Text)
}

func entriesOf(order map[string]any, kind string) (found []map[string]any) {
	for _, entry := range order["timeline"].([]any) {
		if entry := entry.(map[string]any); entry["type"] == kind {
			found = append(found, entry)
		}
	}
	return found
}

// A delivery by the rider is the order's: photo, what was collected by which way, who received it,
// and the true time. Sent again, also at the same moment, it is made once.
func TestRiderAct_deliveredOnce(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newStreet(t, s)
		id := o.out(fields{"amount_to_collect": 89.9})
		act := o.act("delivered", []string{id}, fields{
			"received_by": "Rosa Díaz", "lat": -12.12, "lng": -77.03,
			"collections": fields{id: []fields{{"method": "cash", "amount": 50}, {"method": "yape", "amount": 39.9, "reference": "00123"}}},
		})
		var sending sync.WaitGroup
		answers := make([]*apptest.Answer, 4)
		for i := range answers {
			sending.Go(func() { answers[i] = o.sendPhoto(act, 40) })
		}
		sending.Wait()
		for _, answer := range append(answers, o.sendPhoto(act, 40)) {
			requireOutcomes(t, answer, "done")
		}
		order := o.order(id)
		require.Equal(t, "delivered", order["status"])
		require.Equal(t, 89.9, order["actual_amount_collected"])
		require.Equal(t, "Rosa Díaz", order["received_by"])
		require.Equal(t, []any{
			map[string]any{"method": "cash", "amount": 50.0, "reference": nil}, map[string]any{"method": "yape", "amount": 39.9, "reference": "00123"},
		}, order["collections"])
		require.Equal(t, -12.12, order["delivery_proof"].(map[string]any)["lat"])
		delivered := entriesOf(order, "delivered")
		require.Len(t, delivered, 1)
		require.Equal(t, "rider", delivered[0]["by"])
		day := o.phone.send(http.MethodGet, "/day", nil)
		require.Equal(t, 89.9, day.Data["totals"].(map[string]any)["to_hand_in"])
		require.EqualValues(t, 1, day.Data["totals"].(map[string]any)["delivered"])

		// The rider sees what was handed in, and what is left.
		books, rider := cash.New(s.App.DB, s.App.Clock()), o.tenant.Riders[0].ID
		cashier := cash.Caller{Operator: &o.tenant.Operator, UserID: uuid.New()}
		_, _, err := books.HandIn(t.Context(), cashier, rider, &cash.HandInRequest{Counted: 50_00})
		require.NoError(t, err)
		day = o.phone.send(http.MethodGet, "/day", nil)
		require.Equal(t, 39.9, day.Data["totals"].(map[string]any)["to_hand_in"])
		handedIn := day.Data["hand_ins"].([]any)[0].(map[string]any)
		require.Equal(t, 50.0, handedIn["amount"])
		require.EqualValues(t, 1, handedIn["number"])
	})
}

// Several packages at one door are one act. What one of them no longer allows does not hold up the
// others.
func TestRiderAct_manyAtOneDoor(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newStreet(t, s)
		first, second, cancelled := o.out(), o.out(), o.out()
		o.moved(cancelled, "cancel", fields{"reason": "Desistió"})
		requireOutcomes(t, o.sendPhoto(o.act("delivered", []string{first, cancelled, second}), 40), "done", "refused", "done")
		require.Equal(t, "delivered", o.order(first)["status"])
		require.Equal(t, "delivered", o.order(second)["status"])
		require.Equal(t, "cancelled", o.order(cancelled)["status"])
	})
}

// What the order no longer allows is kept: the rider is told why and what to do, once and for all,
// and the operator finds it in the timeline with its photo.
func TestRiderAct_refusedIsKept(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newStreet(t, s)
		other := o.tenant.Riders[1].ID.String()
		for name, c := range map[string]struct {
			change func(id string)
			says   string
		}{
			"cancelled":  {func(id string) { o.moved(id, "cancel", nil) }, "se canceló"},
			"reassigned": {func(id string) { o.moved(id, "assign", fields{"rider_id": other}) }, "otro motorizado"},
			"delivered":  {func(id string) { o.moved(id, "deliver", fields{}) }, "entregado"},
			"back":       {func(id string) { o.moved(id, "receive", nil) }, "volvió a la sucursal"},
		} {
			id := o.out()
			act := o.act("delivered", []string{id}, fields{"received_by": "El vigilante"})
			c.change(id)
			for range 2 {
				answer := o.sendPhoto(act, 40)
				requireOutcomes(t, answer, "refused")
				result := answer.Data["results"].([]any)[0].(map[string]any)
				require.Equal(t, "move_not_allowed", result["code"], name)
				require.Contains(t, result["message"], c.says, name)
				require.NotEmpty(t, result["action"], name)
			}
			kept := entriesOf(o.order(id), "act_refused")
			require.Len(t, kept, 1, name)
			require.Contains(t, kept[0]["detail"], "El vigilante")
			require.NotEmpty(t, kept[0]["photo_url"], name)
		}
	})
}

// A refusal holds although the order would allow the act again: the rider was told.
func TestRiderAct_aRefusalIsFinal(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newStreet(t, s)
		id := o.out()
		act := o.act("delivered", []string{id})
		o.moved(id, "receive", nil)
		requireOutcomes(t, o.send(act), "refused")
		o.moved(id, "assign", fields{"rider_id": o.riderID})
		requireOutcomes(t, o.send(act), "refused")
		requireOutcomes(t, o.send(o.act("delivered", []string{id})), "done")
	})
}

// An act that was made stays made although the operator takes it back: its repetition is not
// another delivery.
func TestRiderAct_afterAnUndo(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newStreet(t, s)
		id := o.out()
		act := o.act("delivered", []string{id})
		requireOutcomes(t, o.send(act), "done")
		o.moved(id, "undo", fields{"reason": "Era otro paquete"})
		requireOutcomes(t, o.send(act), "done")
		require.Equal(t, "assigned", o.order(id)["status"])
	})
}

// A failed attempt keeps the package with the rider and waits for a decision.
func TestRiderAct_attemptFailed(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newStreet(t, s)
		id := o.out()
		requireWrongFields(t, o.send(o.act("attempt_failed", []string{id})), "reason")
		requireWrongFields(t, o.send(o.act("attempt_failed", []string{id}, fields{"reason": "lluvia"})), "reason")
		answer := o.sendPhoto(o.act("attempt_failed", []string{id}, fields{"reason": "absent", "note": "Nadie abre", "lat": -12.1, "lng": -77.0}), 40)
		requireOutcomes(t, answer, "done")
		order := o.order(id)
		require.Equal(t, "assigned", order["status"])
		require.Equal(t, "attempt_failed", order["substatus"])
		require.NotNil(t, order["decision_deadline"])
		attempt := order["attempts"].([]any)[0].(map[string]any)
		require.Equal(t, "absent", attempt["reason"])
		require.Equal(t, "Nadie abre", attempt["note"])
		require.NotEmpty(t, attempt["photo_url"])
		require.Equal(t, -12.1, attempt["lat"])
		done := answer.Data["day"].(map[string]any)["orders"].([]any)[0].(map[string]any)["done"].(map[string]any)
		require.Equal(t, "attempt_failed", done["type"])
	})
}

// The time of an act is the phone's: not before the rider got the package, not in the future, and
// corrected and marked where the phone's clock is wrong.
func TestRiderAct_trueTime(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newStreet(t, s)
		const day = 24 * time.Hour
		at := func(text any) time.Time {
			parsed, err := time.Parse(time.RFC3339, text.(string))
			require.NoError(t, err)
			return parsed
		}
		for name, c := range map[string]struct {
			occurred, sent time.Duration // from now
			off            float64
		}{
			"before the assignment":  {-2 * time.Hour, 0, 0},
			"in the future":          {time.Hour, 0, 0},
			"just now":               {0, 0, 0},
			"a clock a day ahead":    {day, day, 86400},
			"a clock a day behind":   {-day, -day, -86400},
			"a clock a little off":   {time.Minute, time.Minute, 0},
			"an hour of other zones": {0, time.Hour, 3600},
		} {
			id := o.out()
			now := o.now()
			act := o.act("delivered", []string{id}, fields{"occurred_at": now.Add(c.occurred), "sent_at": now.Add(c.sent)})
			requireOutcomes(t, o.send(act), "done")
			order := o.order(id)
			entry := entriesOf(order, "delivered")[0]
			require.False(t, at(order["delivered_at"]).Before(at(order["assigned_at"])), name)
			require.False(t, at(order["delivered_at"]).After(at(entry["at"])), name)
			if c.off == 0 {
				require.Nil(t, entry["clock_off"], name)
				continue
			}
			require.InDelta(t, c.off, entry["clock_off"], 3600/2, name)
		}
	})
}

// What the operator's rules require is required of the phone, too; the answer names the field.
func TestRiderAct_rules(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newStreet(t, s)
		changed := o.desk.patch("/settings", fields{"rules": fields{
			"needs_photo": true, "needs_point": true, "needs_received_by": true, "methods": []string{"cash", "yape"},
			"reference_methods": []string{"yape"}, "hidden_reasons": []string{"unsafe"}, "note_reasons": []string{"other"}, "photo_reasons": []string{"absent"},
		}})
		require.Equal(t, http.StatusOK, changed.Status, changed.Text)
		id := o.out(fields{"amount_to_collect": 10})
		requireWrongFields(t, o.send(o.act("delivered", []string{id})), "photo", "lat", "received_by")
		complete := func(collections any) fields {
			return o.act("delivered", []string{id}, fields{"lat": -12.1, "lng": -77.0, "received_by": "Rosa", "collections": collections})
		}
		requireWrongFields(t, o.sendPhoto(complete(nil), 40), "collections."+id)
		requireWrongFields(t, o.sendPhoto(complete(fields{id: []fields{{"method": "card", "amount": 10}}}), 40), "collections."+id+"[0].method")
		requireWrongFields(t, o.sendPhoto(complete(fields{id: []fields{{"method": "yape", "amount": 10}}}), 40), "collections."+id+"[0].reference")
		requireWrongFields(t, o.send(o.act("attempt_failed", []string{id}, fields{"reason": "unsafe"})), "reason")
		requireWrongFields(t, o.send(o.act("attempt_failed", []string{id}, fields{"reason": "other"})), "note")
		requireWrongFields(t, o.send(o.act("attempt_failed", []string{id}, fields{"reason": "absent"})), "photo")
		requireOutcomes(t, o.sendPhoto(complete(fields{id: []fields{{"method": "yape", "amount": 10, "reference": "77"}}}), 40), "done")
		require.Equal(t, "assigned", o.order(o.out())["status"])
	})
}

// For a high amount the recipient tells the rider a PIN. Without it nothing is delivered, and it
// cannot be guessed.
func TestRiderAct_pin(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newStreet(t, s)
		changed := o.desk.patch("/settings", fields{"rules": fields{"pin_over": 100}})
		require.Equal(t, http.StatusOK, changed.Status, changed.Text)
		cheap, dear := o.out(fields{"amount_to_collect": 99.99}), o.out(fields{"amount_to_collect": 100})
		deliver := func(id string, amount float64, pin any) fields {
			return o.act("delivered", []string{id}, fields{"pin": pin, "collections": fields{id: []fields{{"method": "cash", "amount": amount}}}})
		}
		requireOutcomes(t, o.send(deliver(cheap, 99.99, nil)), "done")
		requireWrongFields(t, o.send(deliver(dear, 100, nil)), "pin")
		for range 5 {
			requireWrongFields(t, o.send(deliver(dear, 100, "000000")), "pin")
		}
		requireRefused(t, o.send(deliver(dear, 100, "000001")), http.StatusTooManyRequests, "rate_limited")
		rules := models.Rules{PINOver: o.tenant.PINOver(t)}
		rows := apptest.RowsOf[models.Order](t, o.tenant)
		for i := range rows {
			if pin, needed := s.App.Orders.DeliveryPIN(&rows[i], rules); needed {
				requireOutcomes(t, o.send(deliver(rows[i].ID.String(), 100, pin)), "done")
			}
		}
		require.Equal(t, "delivered", o.order(dear)["status"])
	})
}

// A rider sees and moves what is with them, and of other orders of the operator hears nothing.
func TestRiderAct_isolation(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o, stranger := newStreet(t, s), newStreet(t, s)
		received := s.CreateOrder(t, o.tenant.Key)
		o.moved(received, "receive", nil)
		others := s.CreateOrder(t, o.tenant.Key)
		o.moved(others, "receive", nil)
		o.moved(others, "assign", fields{"rider_id": o.tenant.Riders[1].ID})
		for _, id := range []string{received, others, stranger.out(), uuid.NewString()} {
			answer := o.sendPhoto(o.act("delivered", []string{id}), 40)
			requireOutcomes(t, answer, "refused")
			require.Equal(t, "order_not_found", answer.Data["results"].([]any)[0].(map[string]any)["code"])
		}
		require.Empty(t, entriesOf(o.order(others), "act_refused"))
		mine := o.out()
		day := o.phone.send(http.MethodGet, "/day", nil)
		require.Len(t, day.Data["orders"], 1)
		require.Equal(t, mine, day.Data["orders"].([]any)[0].(map[string]any)["id"])
		o.moved(mine, "assign", fields{"rider_id": o.tenant.Riders[1].ID})
		require.Empty(t, o.phone.send(http.MethodGet, "/day", nil).Data["orders"])
	})
}

// The rider confirms the load by its codes; what is missing and what is too much is told to both.
func TestRiderLoad(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newStreet(t, s)
		guide := func(id string) string { return o.order(id)["guide_code"].(string) }
		first, second, unassigned := o.out(), o.out(), s.CreateOrder(t, o.tenant.Key)
		o.moved(unassigned, "receive", nil)
		requireWrongFields(t, o.phone.send(http.MethodPost, "/load", fields{}), "id", "codes")
		load := fields{"id": uuid.NewString(), "codes": []string{guide(first), s.BaseURL + "/track/" + guide(first), guide(unassigned), "7750182003001"}}
		for range 2 {
			answer := o.phone.send(http.MethodPost, "/load", load)
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
			require.EqualValues(t, 1, answer.Data["confirmed"])
			missing := answer.Data["missing"].([]any)
			require.Len(t, missing, 1)
			require.Equal(t, second, missing[0].(map[string]any)["order_id"])
			require.Len(t, answer.Data["extra"], 2)
		}
		confirmed := o.phone.send(http.MethodPost, "/load", fields{"id": uuid.NewString(), "codes": []string{guide(second)}})
		require.EqualValues(t, 2, confirmed.Data["confirmed"])
		require.Empty(t, confirmed.Data["missing"])
		o.moved(first, "receive", nil)
		o.moved(first, "assign", fields{"rider_id": o.riderID})
		day := o.phone.send(http.MethodGet, "/day", nil)
		require.EqualValues(t, 1, day.Data["load"].(map[string]any)["confirmed"], "an assignment has to be confirmed again")
		require.Len(t, apptest.RowsOf[models.RiderLoad](t, o.tenant), 2)
	})
}

// The acts of a bad network: each is sent several times, in any sequence, while the operator works.
func TestRiderAct_repeatedAndReordered(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newStreet(t, s)
		const stops = 6
		var acts []fields
		var ids []string
		for i := range stops {
			id := o.out()
			ids = append(ids, id)
			kind, change := "delivered", fields{}
			if i%3 == 0 {
				kind, change = "attempt_failed", fields{"reason": "no_answer"}
			}
			acts = append(acts, o.act(kind, []string{id}, change))
		}
		var sending sync.WaitGroup
		for repetition := range 3 {
			for i := range acts {
				act := acts[(i*5+repetition)%stops]
				sending.Go(func() {
					answer := o.send(act)
					if answer.Status == http.StatusOK {
						requireOutcomes(t, answer, "done")
						return
					}
					require.Equal(t, http.StatusServiceUnavailable, answer.Status, answer.Text)
				})
			}
		}
		sending.Wait()
		for i, id := range ids {
			requireOutcomes(t, o.send(acts[i]), "done")
			order := o.order(id)
			made := len(entriesOf(order, "delivered")) + len(entriesOf(order, "attempt_failed"))
			require.Equal(t, 1, made, fmt.Sprint(order["timeline"]))
		}
	})
}
