package webhooks_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/internal/webhooks"
	"despacho/models"
	"despacho/test/apptest"
)

// While webhooks are paused nobody is called, nothing counts as an attempt, and nothing is lost.
func TestPause_deliveriesWait(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := apptest.NewReceiver(t, respondWith(http.StatusInternalServerError, "no"))
		once, _ := s.register(t, s.Key, receiver.URL, onlyCreated)
		first := s.createPending(t, once)
		again, _ := s.register(t, s.Key, receiver.URL, withRetry)
		retried := s.createPending(t, again)
		require.Positive(t, s.send(t, retried, models.CauseAuto).again, "the first attempt fails")
		called := len(receiver.WaitFor(t, 1))

		s.service.Paused = true
		s.now.Advance(time.Hour)
		for id, attempts := range map[uuid.UUID]int{first: 0, retried: 1} {
			require.Equal(t, webhooks.OutcomeQueued, s.sendDirectly(t, id))
			s.sendQueued(t)
			row, tried := s.deliveryRow(t, id.String())
			require.Equal(t, models.WebhookDeliveryPending, row.Status)
			require.Len(t, tried, attempts)
		}
		s.update(t, retried, "requested_at", s.now.Now())
		s.sendQueued(t)
		require.Len(t, receiver.Events(), called, "a redelivery that was asked for before waits as well")
		s.update(t, retried, "requested_at", nil)

		s.service.Paused = false
		s.sendQueued(t)
		row, attempts := s.deliveryRow(t, first.String())
		require.Equal(t, models.WebhookDeliveryFailed, row.Status)
		require.Len(t, attempts, 1, "its one attempt was made after the pause")
		_, attempts = s.deliveryRow(t, retried.String())
		require.Len(t, attempts, 2)
	})
}

// What would call a receiver is refused and says why; everything else goes on.
func TestPause_requestsAreRefused(t *testing.T) {
	paused := apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.WebhooksPaused = true }}
	eachOwn(t, paused, func(t *testing.T, s *harness) {
		receiver := apptest.NewReceiver(t, nil)
		id, _ := s.register(t, s.Key, receiver.URL, onlyCreated)
		s.CreateOrder(t, s.Key)
		delivery := s.logOf(t, id)[0]
		require.Equal(t, "pending", delivery.Status)
		for path, body := range map[string]any{
			"/v1/webhooks/" + id + "/test":                 nil,
			"/v1/webhooks/" + id + "/redeliver":            map[string]any{"from": "2026-01-01T00:00:00Z", "to": "2099-01-01T00:00:00Z"},
			"/v1/deliveries/" + delivery.ID + "/redeliver": nil,
		} {
			refused := s.post(t, s.Key, path, body, http.StatusServiceUnavailable)
			require.Equal(t, "webhooks_paused", refused.Code, path)
			require.NotEmpty(t, refused.Header.Get("Retry-After"))
		}
		require.Len(t, s.logOf(t, id), 1, "no test event was stored")
		require.Equal(t, "paused", s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/readyz"}).String("webhooks"))
	})
}

// A webhook that is deactivated while it is paused is not called any more. What waited for it has
// failed, like every other delivery to a webhook that was deactivated.
func TestPause_endsWithTheWebhook(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := apptest.NewReceiver(t, nil)
		id, _ := s.register(t, s.Key, receiver.URL, onlyCreated)
		path := "/v1/webhooks/" + id
		paused := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: path, Key: s.Key, Body: map[string]any{"paused": true}})
		require.Equal(t, http.StatusOK, paused.Status, paused.Text)
		delivery := s.createPending(t, id)
		s.sendQueued(t)
		row, _ := s.deliveryRow(t, delivery.String())
		require.Equal(t, models.WebhookDeliveryPending, row.Status, "it waits while the webhook may be resumed")

		gone := s.Do(t, apptest.Request{Method: http.MethodDelete, Path: path, Key: s.Key})
		require.Equal(t, http.StatusOK, gone.Status, gone.Text)
		s.sendQueued(t)
		row, _ = s.deliveryRow(t, delivery.String())
		require.Equal(t, models.WebhookDeliveryFailed, row.Status)
		require.Empty(t, receiver.Events())
	})
}
