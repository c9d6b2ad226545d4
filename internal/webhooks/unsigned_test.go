package webhooks_test

import (
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
