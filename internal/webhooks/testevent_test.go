package webhooks_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/encryption"
	"despacho/internal/webhooks"
	"despacho/models"
	"despacho/test/apptest"
)

// A test event can be sent whatever the webhook's subscriptions, and returns the receiver's
// response.
func TestTestEvent(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := newConfigurableReceiver(t, 202)
		webhookID, secret := s.Register(t, s.KeyA, receiver.Receiver, onlyCreated)

		tried := readData[delivery](t, s.post(t, s.KeyA, "/v1/webhooks/"+webhookID+"/test", nil, http.StatusOK))
		require.Equal(t, "webhook.test", tried.Event)
		require.Equal(t, "delivered", tried.Status)
		require.Nil(t, tried.OrderID)
		require.Equal(t, webhookID, tried.WebhookID)
		require.Len(t, tried.Attempts, 1)
		require.Equal(t, 202, *tried.Attempts[0].StatusCode)
		require.Equal(t, "estado 202", *tried.Attempts[0].Response)
		require.NotNil(t, tried.Attempts[0].DurationMS)

		event := receiver.WaitFor(t, 1)[0]
		require.Equal(t, "webhook.test", event.Header.Get("X-Service-Event"))
		require.Equal(t, tried.ID, event.Header.Get("webhook-id"))
		requireSigned(t, event, secret, "")
		var body map[string]any
		require.NoError(t, json.Unmarshal(event.Body, &body))
		require.Equal(t, "webhook.test", body["event"])
		require.Equal(t, s.Operator.ID.String(), body["tenant_id"])
		require.Equal(t, event.Header.Get("X-Service-Timestamp"), body["timestamp"])
		require.Equal(t, tried.ID, event.Data["id"])

		receiver.status.Store(418)
		storeStaff := s.SignIn(t, &s.StoreA)
		answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/webhooks/" + webhookID + "/test", Token: storeStaff})
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		refused := readData[delivery](t, answer)
		require.Equal(t, "failed", refused.Status)
		require.Equal(t, "El receptor respondió con el código 418.", *refused.Attempts[0].Error)
		require.Equal(t, []delivery{tried, refused}, s.waitUntilFinished(t, webhookID, 2), "both are in the log")

		noListener, _ := s.register(t, s.Key, closedAddress(t), nil)
		unreachable := readData[delivery](t, s.post(t, s.Key, "/v1/webhooks/"+noListener+"/test", nil, http.StatusOK))
		require.Equal(t, "El receptor rechazó la conexión.", *unreachable.Attempts[0].Error)
		require.Nil(t, unreachable.Attempts[0].StatusCode)
	})
}

// An event that no key can sign is tried again for a day. Then it fails, whether its order's
// workflow or the queue sends it, its owner sees why, and it can be sent again with a new secret.
func TestUnsigned_failsAfterADay(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := apptest.NewReceiver(t, nil)
		webhookID, _ := s.Register(t, s.Key, receiver, onlyCreated)
		scheduled, queued := s.createPending(t, webhookID), s.createPending(t, webhookID)
		s.enqueue(t, queued)
		hook := s.webhookRow(t, webhookID)
		hook.Secret = []byte("sealed with another key")
		require.NoError(t, webhooks.SaveSecrets(t.Context(), s.App.DB, hook))

		s.now.Advance(24*time.Hour - time.Minute)
		_, err := s.service.CallFirst(t.Context(), scheduled)
		require.ErrorIs(t, err, encryption.ErrOpen)
		s.sendQueued(t)
		for _, id := range []uuid.UUID{scheduled, queued} {
			row, attempts := s.deliveryRow(t, id.String())
			require.Equal(t, models.WebhookDeliveryPending, row.Status)
			require.Empty(t, attempts)
		}

		s.now.Advance(time.Minute)
		s.sendQueued(t)
		for _, id := range []uuid.UUID{scheduled, queued} {
			shown := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/deliveries/" + id.String(), Key: s.Key})
			require.Equal(t, "failed", shown.String("status"), shown.Text)
			attempts := shown.Data["attempts"].([]any)
			require.Len(t, attempts, 1)
			require.Contains(t, attempts[0].(map[string]any)["error"], "Renueve el secreto")
			require.Nil(t, attempts[0].(map[string]any)["body"], "nothing was sent")
		}
		require.Empty(t, receiver.Events())

		s.rotate(t, webhookID)
		require.Equal(t, sendOutcome{}, s.send(t, scheduled, models.CauseRedelivery))
		require.Len(t, receiver.Events(), 1)
	})
}
