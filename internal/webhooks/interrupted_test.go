package webhooks_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/webhooks"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/workflows"
)

const textInterrupted = "El envío se interrumpió y no se sabe si llegó."

// insertUnfinishedAttempt inserts an attempt as a process leaves it that crashes while sending.
func (s *harness) insertUnfinishedAttempt(t *testing.T, deliveryID uuid.UUID, cause models.AttemptCause, at time.Time) {
	t.Helper()
	_, attempts := s.deliveryRow(t, deliveryID.String())
	require.NoError(t, s.App.DB.Insert(t.Context(), &models.WebhookAttempt{
		DeliveryID: deliveryID, Number: len(attempts) + 1, Cause: cause, StartedAt: at,
	}))
}

// After an attempt lost in a crash, the next one waits until the loss is certain. Then the event is
// sent again only with retries or on request.
func TestInterrupted_nextAttempt(t *testing.T) {
	const auto, wish = models.CauseAuto, models.CauseRedelivery
	eachManual(t, func(t *testing.T, s *manualHarness) {
		for name, c := range map[string]struct {
			webhook     map[string]any
			died, comes models.AttemptCause
			sent        int
			status      models.WebhookDeliveryStatus
		}{
			"single attempt":                            {onlyCreated, auto, auto, 0, models.WebhookDeliveryFailed},
			"with retries":                              {withRetry, auto, auto, 1, models.WebhookDeliveryDelivered},
			"a wish after a single attempt":             {onlyCreated, auto, wish, 1, models.WebhookDeliveryDelivered},
			"a wish after an attempt with retries":      {withRetry, auto, wish, 1, models.WebhookDeliveryDelivered},
			"a wish is not repeated":                    {onlyCreated, wish, wish, 0, models.WebhookDeliveryPending},
			"a wish is not repeated, even with retries": {withRetry, wish, wish, 0, models.WebhookDeliveryPending},
			"the schedule goes on after a wish":         {onlyCreated, wish, auto, 1, models.WebhookDeliveryDelivered},
		} {
			t.Run(name, func(t *testing.T) {
				s := s.withNewOperator(t)
				receiver := apptest.NewReceiver(t, nil)
				webhookID, _ := s.Register(t, s.Key, receiver, c.webhook)
				id := s.createPending(t, webhookID)
				s.insertUnfinishedAttempt(t, id, c.died, s.now.Now())

				s.now.Advance(10 * time.Second)
				s.send(t, id, c.comes)
				require.Empty(t, receiver.Events(), "it may still be under way")
				s.now.Advance(20 * time.Second)
				require.Equal(t, sendOutcome{failed: c.sent == 0}, s.send(t, id, c.comes))

				require.Len(t, receiver.Events(), c.sent)
				row, attempts := s.deliveryRow(t, id.String())
				require.Equal(t, c.status, row.Status)
				require.Len(t, attempts, 1+c.sent)
				require.Equal(t, textInterrupted, *attempts[0].Error)
				require.NotNil(t, attempts[0].FinishedAt)
			})
		}
	})
}

// A failed redelivery does not end the schedule of a webhook with retries, even after an attempt
// lost in a crash.
func TestInterrupted_failedRedeliveryKeepsTheSchedule(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		webhookID, _ := s.Register(t, s.Key, apptest.NewReceiver(t, respondWith(500, "")), withRetry)
		id := s.createPending(t, webhookID)
		s.insertUnfinishedAttempt(t, id, models.CauseAuto, s.now.Now().Add(-time.Minute))
		require.Equal(t, sendOutcome{failed: true}, s.send(t, id, models.CauseRedelivery))
		row, _ := s.deliveryRow(t, id.String())
		require.Equal(t, models.WebhookDeliveryPending, row.Status)
		require.NotNil(t, row.NextAttemptAt)
	})
}

// An attempt lost in a crash counts in the schedule.
func TestInterrupted_countsInTheSchedule(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		webhookID, _ := s.Register(t, s.Key, apptest.NewReceiver(t, respondWith(500, "")), withRetry)
		id := s.createPending(t, webhookID)
		s.insertUnfinishedAttempt(t, id, models.CauseAuto, s.now.Now().Add(-time.Minute))
		require.InDelta(t, 300, s.send(t, id, models.CauseAuto).again.Seconds(), 60)
	})
}

// What no workflow has called in time is the queue's, in sequence.
func TestInterrupted_theQueueTakesOver(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := newConfigurableReceiver(t, http.StatusInternalServerError)
		webhookID, _ := s.Register(t, s.Key, receiver.Receiver, withRetry)
		first := s.createPending(t, webhookID)
		row, _ := s.deliveryRow(t, first.String())
		next := *row
		next.ID, next.OrderSeq, next.Event = uuid.New(), row.OrderSeq+1, models.EventAssigned
		require.NoError(t, s.App.DB.InsertDeliveries(t.Context(), []models.WebhookDelivery{next}))
		s.now.Advance(webhooks.TakenOverAfter - time.Second)
		s.sendQueued(t)
		require.Empty(t, receiver.Events(), "they are the workflow's")
		s.now.Advance(2 * time.Second)
		s.sendQueued(t)
		require.Greater(t, webhooks.TakenOverAfter, workflows.WebhookTimeout)
		require.Equal(t, []string{"order.created"}, eventNames(receiver.Events()), "the next attempt at the first is seconds away")
		receiver.status.Store(http.StatusOK)
		s.now.Advance(10 * time.Second)
		s.sendQueued(t)
		require.Equal(t, []string{"order.created", "order.created", "order.assigned"}, eventNames(receiver.Events()))
	})
}

// A delivery abandoned in a crash is resumed by the next worker, also if its webhook is inactive by
// then.
func TestInterrupted_theNextWorkerEndsIt(t *testing.T) {
	eachOwn(t, apptest.Options{NoWorker: true}, func(t *testing.T, s *harness) {
		receiver := apptest.NewReceiver(t, nil)
		once, _ := s.Register(t, s.Key, receiver, onlyCreated)
		again, _ := s.Register(t, s.Key, receiver, withRetry)
		gone, _ := s.Register(t, s.Key, receiver, onlyCreated)
		s.CreateOrder(t, s.Key)
		for _, webhookID := range []string{once, again, gone} {
			s.insertUnfinishedAttempt(t, uuid.MustParse(s.logOf(t, webhookID)[0].ID), models.CauseAuto, time.Now().UTC().Add(-time.Minute))
		}
		require.NoError(t, webhooks.DeactivateHook(t.Context(), s.App.DB, s.scope(), uuid.MustParse(gone), "Prueba.", time.Now().UTC()))
		s.StartWorker(t)

		for webhookID, want := range map[string][]string{
			once: {textInterrupted}, again: {textInterrupted, ""}, gone: {textInterrupted, "El webhook está desactivado."},
		} {
			d := s.waitUntilFinished(t, webhookID, 1)[0]
			var words []string
			for _, a := range d.Attempts {
				words = append(words, valueOf(a.Error))
			}
			require.Equal(t, want, words)
			require.Equal(t, map[bool]string{true: "delivered", false: "failed"}[webhookID == again], d.Status)
		}
		require.Len(t, receiver.Events(), 1)
	})
}
