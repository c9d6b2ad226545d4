package webhooks_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"maps"
	"mime/multipart"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
)

// privateFields are in an order but in no event: the document, the notes and the delivery point.
var privateFields = map[string]any{
	"amount_to_collect": 89.9, "recipient_doc_type": "ce", "recipient_doc_number": "X00998877", "notes": "Tocar dos veces",
	"delivery_lat": -12.12345, "delivery_lng": -77.03456,
}

// deliverWithPhoto delivers an order with a form and a photo.
func (s *harness) deliverWithPhoto(t *testing.T, orderID string, fields map[string]string) *apptest.Answer {
	t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	for name, value := range fields {
		require.NoError(t, writer.WriteField(name, value))
	}
	part, err := writer.CreateFormFile("photo", "entrega.jpg")
	require.NoError(t, err)
	require.NoError(t, jpeg.Encode(part, image.NewRGBA(image.Rect(0, 0, 16, 16)), nil))
	require.NoError(t, writer.Close())
	answer := s.Do(t, apptest.Request{
		Method: http.MethodPost, Path: "/panel/api/orders/" + orderID + "/deliver", Token: s.staffToken(t),
		Raw: form.Bytes(), Header: map[string]string{"Content-Type": writer.FormDataContentType()},
	})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return answer
}

// merge adds members to a copy of the data.
func merge(data map[string]any, members map[string]any) map[string]any {
	changed := maps.Clone(data)
	maps.Copy(changed, members)
	return changed
}

// All four events have every member of contract 6.1 and those of attempts and collections, null or
// empty if unset, and no others.
func TestPayload_everyMemberInEveryEvent(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := apptest.NewReceiver(t, nil)
		s.Register(t, s.Key, receiver)
		created := s.post(t, s.KeyA, "/v1/orders", apptest.Order(privateFields, map[string]any{"external_id": "PED-0117"}), http.StatusCreated)
		id := created.String("id")
		registered := map[string]any{
			"id": id, "guide_code": created.String("guide_code"), "external_id": "PED-0117", "status": "registered", "status_label": "Registrado",
			"store_id": s.StoreA.ID.String(), "branch_id": s.Main.ID.String(),
			"recipient_name": "Rosa Díaz", "recipient_phone": "+51987654321", "delivery_address": "Av. Larco 345", "delivery_reference": nil,
			"product": "Zapatillas", "size": "M", "amount_to_collect": 89.9, "actual_amount_collected": nil, "shipping_cost": 9.0,
			"payment_type": "cash_on_delivery", "operative_day": created.String("operative_day"),
			"created_at": created.String("created_at"), "received_at": nil, "delivered_at": nil,
			"rider": nil, "location": map[string]any{"id": apptest.Miraflores.String(), "name": "Miraflores"},
			"substatus": nil, "attempts": []any{}, "next_attempt_on": nil, "decision_deadline": nil, "collections": []any{}, "received_by": nil,
		}

		received := s.move(t, id, "receive", map[string]any{"branch_id": s.Other.ID})
		s.assign(t, id)
		delivered := s.deliverWithPhoto(t, id, map[string]string{
			"actual_amount_collected": "90.5", "lat": "-12.1211", "lng": "-77.0299", "captured_at": "2026-01-31T10:04:05-05:00",
		})
		events := receiver.WaitFor(t, 3)

		require.Equal(t, "order.created", events[0].Event)
		require.Equal(t, registered, events[0].Data)
		assigned := merge(registered, map[string]any{
			"status": "assigned", "status_label": "En reparto", "branch_id": s.Other.ID.String(), "received_at": received.String("received_at"),
			"operative_day": received.String("operative_day"), "rider": map[string]any{"name": "Carlos Quispe", "phone": "+51987654321"},
		})
		require.Equal(t, "order.assigned", events[1].Event)
		require.Equal(t, assigned, events[1].Data)
		require.Equal(t, "order.delivered", events[2].Event)
		require.Equal(t, merge(assigned, map[string]any{
			"status": "delivered", "status_label": "Entregado", "delivered_at": delivered.String("delivered_at"), "actual_amount_collected": 90.5,
			"delivery_proof": map[string]any{
				"photo_url": sentPhotoURL(t, s, events[2], delivered), "captured_at": "2026-01-31T15:04:05Z", "lat": -12.1211, "lng": -77.0299,
			},
		}), events[2].Data)

		cancelled := s.CreateOrder(t, s.Key, map[string]any{"delivery_reference": "Frente al parque"})
		s.move(t, cancelled, "cancel", map[string]any{"reason": "Sin stock", "note": "Avisar"})
		events = receiver.WaitFor(t, 5)
		require.Equal(t, "order.cancelled", events[4].Event)
		require.Equal(t, merge(events[3].Data, map[string]any{"status": "cancelled", "status_label": "Cancelado"}), events[4].Data)
		require.Nil(t, events[4].Data["store_id"])
		require.Equal(t, "Frente al parque", events[4].Data["delivery_reference"])
		require.Equal(t, "delivery_only", events[4].Data["payment_type"])

		for _, event := range events {
			s.requireEnvelope(t, event)
		}
	})
}

// sentPhotoURL returns the URL of the photo in an event after checking that it can be downloaded,
// that it is the order's photo, and that the database has it unsigned: every attempt signs it
// again.
func sentPhotoURL(t *testing.T, s *harness, event apptest.Received, order *apptest.Answer) string {
	t.Helper()
	sent, _ := event.Data["delivery_proof"].(map[string]any)["photo_url"].(string)
	address, _, signed := strings.Cut(sent, "?signature=")
	require.True(t, signed, sent)
	shown, _, _ := strings.Cut(order.Data["delivery_proof"].(map[string]any)["photo_url"].(string), "?")
	require.Equal(t, shown, address)
	require.Contains(t, address, s.Config.FilesURL+"/")
	response, err := http.Get(sent)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "image/jpeg", response.Header.Get("Content-Type"))
	var stored string
	require.NoError(t, s.App.DB.SQL().QueryRow("SELECT data FROM deliveries WHERE event = 'order.delivered' AND order_id = '"+order.String("id")+"'").Scan(&stored))
	require.Contains(t, stored, `"photo_url":"`+address+`"`)
	return sent
}

var utcTimestamp = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$`)

// requireEnvelope checks the envelope and the format of the values against contract 6.1.
func (s *harness) requireEnvelope(t *testing.T, event apptest.Received) {
	t.Helper()
	var body map[string]any
	require.NoError(t, json.Unmarshal(event.Body, &body))
	require.Len(t, body, 4)
	require.Equal(t, s.Operator.ID.String(), body["tenant_id"])
	require.Equal(t, event.Header.Get("X-Service-Event"), body["event"])
	require.Equal(t, event.Header.Get("X-Service-Timestamp"), body["timestamp"], "a string equal to the header")
	seconds, err := strconv.ParseInt(body["timestamp"].(string), 10, 64)
	require.NoError(t, err)
	registered, err := time.Parse(time.RFC3339Nano, event.Data["created_at"].(string))
	require.NoError(t, err)
	require.WithinRange(t, time.Unix(seconds, 0), registered.Truncate(time.Second), time.Now(), "when it was sent")
	require.Equal(t, "application/json", event.Header.Get("Content-Type"))
	for _, member := range []string{"created_at", "received_at", "delivered_at"} {
		if at := event.Data[member]; at != nil {
			require.Regexp(t, utcTimestamp, at, member)
		}
	}
	require.Regexp(t, `^\d{4}-\d\d-\d\d$`, event.Data["operative_day"])
	for _, secret := range []string{"X00998877", "Tocar dos veces", "12.12345", "77.03456", "Sin stock", "Avisar"} {
		require.NotContains(t, string(event.Body), secret)
	}
}

// The photo's location is sent to operator webhooks; to a store's only if the operator shares it.
func TestPayload_whereThePhotoWasTaken(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		for name, shares := range map[string]bool{"the operator shares it": true, "the operator does not": false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := s.secondOperator(t, func(o *models.Operator) { o.ShareProofLocation = shares })
				operators, narrowed, stores := apptest.NewReceiver(t, nil), apptest.NewReceiver(t, nil), apptest.NewReceiver(t, nil)
				only := map[string]any{"events": []string{"order.delivered"}}
				s.Register(t, s.Key, operators, only)
				s.Register(t, s.Key, narrowed, only, map[string]any{"store_id": s.StoreA.ID})
				s.Register(t, s.KeyA, stores, only)

				withPhoto, without := s.CreateOrder(t, s.KeyA), s.CreateOrder(t, s.KeyA)
				for _, id := range []string{withPhoto, without} {
					s.move(t, id, "receive", nil)
					s.assign(t, id)
				}
				s.deliverWithPhoto(t, withPhoto, map[string]string{"lat": "-12.1211", "lng": "-77.0299"})
				for _, receiver := range []*apptest.Receiver{operators, narrowed, stores} {
					proof := receiver.WaitFor(t, 1)[0].Data["delivery_proof"].(map[string]any)
					require.Regexp(t, utcTimestamp, proof["captured_at"])
					members := []string{"photo_url", "captured_at"}
					if shares || receiver == operators {
						members = append(members, "lat", "lng")
						require.Equal(t, []any{-12.1211, -77.0299}, []any{proof["lat"], proof["lng"]})
					}
					require.Len(t, proof, len(members))
				}

				s.move(t, without, "deliver", nil)
				for _, receiver := range []*apptest.Receiver{operators, narrowed, stores} {
					require.NotContains(t, receiver.WaitFor(t, 2)[1].Data, "delivery_proof", "there is no photo")
				}
			})
		}
	})
}

// The auto-cancel sends order.cancelled like any cancel. A late reception revives the order without
// an event; the next event is the assignment.
func TestPayload_autoCancelAndRevival(t *testing.T) {
	eachOwn(t, apptest.Options{Configure: func(c *config.Config) { c.AutoCancelAfter = time.Second }}, func(t *testing.T, s *harness) {
		receiver := apptest.NewReceiver(t, nil)
		webhookID, _ := s.Register(t, s.Key, receiver)
		id := s.CreateOrder(t, s.KeyA)
		cancelled := receiver.WaitFor(t, 2)[1]
		require.Equal(t, "order.cancelled", cancelled.Event)
		require.Equal(t, "cancelled", cancelled.Data["status"])

		s.move(t, id, "receive", nil)
		s.assign(t, id)
		assigned := receiver.WaitFor(t, 3)[2]
		require.Equal(t, "order.assigned", assigned.Event)
		require.Equal(t, "assigned", assigned.Data["status"])
		require.Equal(t, cancelled.Data["guide_code"], assigned.Data["guide_code"])
		require.Equal(t, id, assigned.Data["id"])
		require.Len(t, s.logOf(t, webhookID), 3)
	})
}
