package webhooks_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/safehttp"
	"despacho/internal/webhooks"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/workflows"
)

// patient gives exchanges as long as the test may take, so that slots stay taken.
func withLongTimeout(o *safehttp.Options) { o.Timeout = 2 * poll.Deadline }

// A call without a slot is queued: its workflow is done with it, and a worker makes it when a slot
// has ended.
func TestQueue_noSlot(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		slow := newSlowReceiver()
		defer slow.release()
		receiver := apptest.NewReceiver(t, slow.hang)
		s.service = s.newSendService(t, s.now, withLongTimeout)
		webhookID, _ := s.Register(t, s.Key, receiver, onlyCreated)
		var busy sync.WaitGroup
		for range perWebhook {
			id := s.createPending(t, webhookID)
			busy.Go(func() { _, _ = s.service.CallFirst(t.Context(), id) })
		}
		receiver.WaitFor(t, perWebhook)

		late := s.createPending(t, webhookID)
		require.Equal(t, webhooks.OutcomeQueued, s.sendDirectly(t, late))
		require.Equal(t, webhooks.OutcomeQueued, s.sendDirectly(t, late), "whoever comes once more")
		row, attempts := s.deliveryRow(t, late.String())
		require.Empty(t, attempts, "nothing was sent")
		require.True(t, row.Queued)
		require.Equal(t, models.WebhookDeliveryPending, row.Status)
		s.sendQueued(t)
		require.Len(t, receiver.Events(), perWebhook, "there is still no slot")

		slow.release()
		busy.Wait()
		s.sendQueued(t)
		require.Len(t, receiver.Events(), perWebhook+1)
		row, attempts = s.deliveryRow(t, late.String())
		require.Equal(t, models.WebhookDeliveryDelivered, row.Status)
		require.False(t, row.Queued)
		require.Len(t, attempts, 1)
		require.Equal(t, webhooks.OutcomeDelivered, s.sendDirectly(t, s.createPending(t, webhookID)), "there are slots again")
	})
}

// Of what somebody requested, one after the other is sent, whatever the circuit says.
func TestQueue_requestedOneAfterTheOther(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := newConfigurableReceiver(t, 500)
		webhookID, _ := s.Register(t, s.Key, receiver.Receiver, onlyCreated)
		s.openCircuit(t, webhookID)
		failed := s.logOf(t, webhookID)[:2]
		receiver.status.Store(200)
		for _, call := range failed {
			s.update(t, uuid.MustParse(call.ID), "requested_at", s.now.Now())
		}
		for i, call := range failed {
			s.sendQueued(t)
			events := receiver.Events()
			require.Len(t, events, failuresToOpen+1+i)
			require.Equal(t, call.ID, events[len(events)-1].Header.Get("webhook-id"), "the oldest first")
		}
	})
}

// While the circuit of its webhook is open an event is queued with its move: the order's workflow
// never hears of it. When the circuit is closed again, it does.
func TestQueue_openCircuit(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		for name, more := range map[string]map[string]any{"single attempts": onlyCreated, "with retries": withRetry} {
			t.Run(name, func(t *testing.T) {
				s := s.withNewOperator(t)
				receiver := newConfigurableReceiver(t, 500)
				webhookID, _ := s.Register(t, s.Key, receiver.Receiver, more)
				s.openCircuit(t, webhookID)
				created := func() (*models.WebhookDelivery, []workflows.WebhookCall) {
					row, _ := s.deliveryRow(t, s.createPending(t, webhookID).String())
					snapshot, err := s.App.Orders.LoadSnapshot(t.Context(), *row.OrderID)
					require.NoError(t, err)
					return row, snapshot.Calls
				}
				queued, toSend := created()
				require.True(t, queued.Queued)
				require.Empty(t, toSend)

				receiver.status.Store(200)
				s.now.Advance(time.Hour)
				s.sendQueued(t)
				require.Equal(t, "closed", s.circuit(t, webhookID)["state"])
				direct, toSend := created()
				require.False(t, direct.Queued)
				require.Len(t, toSend, 1)
			})
		}
	})
}

// One webhook gets an order's events in sequence, whether they are queued or not.
func TestQueue_eventsInSequence(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := apptest.NewReceiver(t, nil)
		webhookID, _ := s.Register(t, s.Key, receiver, onlyCreated)
		first := s.createPending(t, webhookID)
		row, _ := s.deliveryRow(t, first.String())
		next := *row // a later event of the order
		next.ID, next.OrderSeq, next.Event, next.Queued = uuid.New(), row.OrderSeq+1, models.EventAssigned, true
		require.NoError(t, s.App.DB.InsertDeliveries(t.Context(), []models.WebhookDelivery{next}))

		s.sendQueued(t)
		require.Empty(t, receiver.Events(), "the workflow has not sent the first yet")
		last := next
		last.ID, last.OrderSeq, last.Event = uuid.New(), next.OrderSeq+1, models.EventDelivered
		require.NoError(t, s.App.DB.InsertDeliveries(t.Context(), []models.WebhookDelivery{last}))
		s.enqueue(t, first)
		s.sendQueued(t)
		require.Equal(t, []string{"order.created", "order.assigned", "order.delivered"}, eventNames(receiver.Events()), "one look at the queue sends them all")
	})
}

// What follows in an order is not sent in the same slot if the receiver did not take what comes
// first.
func TestQueue_followingEventsWaitForASuccess(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := newConfigurableReceiver(t, 500)
		webhookID, _ := s.Register(t, s.Key, receiver.Receiver, onlyCreated)
		first := s.createPending(t, webhookID)
		row, _ := s.deliveryRow(t, first.String())
		next := *row
		next.ID, next.OrderSeq, next.Event, next.Queued = uuid.New(), row.OrderSeq+1, models.EventAssigned, true
		require.NoError(t, s.App.DB.InsertDeliveries(t.Context(), []models.WebhookDelivery{next}))
		s.enqueue(t, first)
		s.sendQueued(t)
		require.Equal(t, []string{"order.created"}, eventNames(receiver.Events()))
		receiver.status.Store(200)
		s.sendQueued(t)
		require.Equal(t, []string{"order.created", "order.assigned"}, eventNames(receiver.Events()), "without retries the first has failed for good")
	})
}

// With retries a queued event waits for the next attempt at an earlier one of its order, unless
// that is far away.
func TestQueue_laterEventsDoNotWaitForRetries(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := newConfigurableReceiver(t, 500)
		webhookID, _ := s.Register(t, s.Key, receiver.Receiver, withRetry)
		first := s.createPending(t, webhookID)
		row, _ := s.deliveryRow(t, first.String())
		next := *row
		next.ID, next.OrderSeq, next.Event, next.Queued = uuid.New(), row.OrderSeq+1, models.EventAssigned, true
		require.NoError(t, s.App.DB.InsertDeliveries(t.Context(), []models.WebhookDelivery{next}))
		s.enqueue(t, first)
		s.sendQueued(t)
		require.Equal(t, []string{"order.created"}, eventNames(receiver.Events()))
		s.sendQueued(t)
		require.Len(t, receiver.Events(), 1, "the next attempt at the first is 5 seconds away")
		s.now.Advance(6 * time.Second)
		s.sendQueued(t)
		require.Equal(t, []string{"order.created", "order.created"}, eventNames(receiver.Events()))
		s.sendQueued(t)
		require.Equal(t, []string{"order.created", "order.created", "order.assigned"}, eventNames(receiver.Events()), "the next attempt at the first is minutes away")
	})
}

// An event that waits for a retry hours away does not hold the later ones of its order up when its
// webhook's retries are turned off.
func TestQueue_laterEventsDoNotWaitForRetriesThatWereTurnedOff(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := newConfigurableReceiver(t, 500)
		webhookID, _ := s.Register(t, s.Key, receiver.Receiver, withRetry)
		first := s.createPending(t, webhookID)
		for range 2 { // the third attempt is minutes away
			s.send(t, first, models.CauseAuto)
			s.now.Advance(7 * time.Second)
		}
		changed := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/webhooks/" + webhookID, Key: s.Key, Body: map[string]any{"retry": false}})
		require.Equal(t, http.StatusOK, changed.Status, changed.Text)
		receiver.status.Store(200)
		row, _ := s.deliveryRow(t, first.String())
		next := *row
		now := s.now.Now()
		next.ID, next.OrderSeq, next.Event, next.Queued = uuid.New(), row.OrderSeq+1, models.EventAssigned, true
		next.NextAttemptAt, next.CreatedAt = &now, now
		require.NoError(t, s.App.DB.InsertDeliveries(t.Context(), []models.WebhookDelivery{next}))
		s.sendQueued(t)
		require.Equal(t, []string{"order.created", "order.created", "order.assigned"}, eventNames(receiver.Events()))
	})
}

// An event waits for an earlier one of its order that comes back after an internal error, with
// retries as without.
func TestQueue_laterEventsWaitForInternalErrors(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		for _, more := range []map[string]any{onlyCreated, withRetry} {
			s := s.withNewOperator(t)
			receiver := apptest.NewReceiver(t, nil)
			webhookID, _ := s.Register(t, s.Key, receiver, more)
			first := s.createPending(t, webhookID)
			s.enqueue(t, first)
			defective := *s.service
			defective.Secrets = nil
			require.NoError(t, defective.SendQueued(t.Context(), slog.Default()))
			row, _ := s.deliveryRow(t, first.String())
			next := *row
			now := s.now.Now()
			next.ID, next.OrderSeq, next.Event, next.NextAttemptAt, next.CreatedAt = uuid.New(), row.OrderSeq+1, models.EventAssigned, &now, now
			last := next
			last.ID, last.OrderSeq, last.Event = uuid.New(), next.OrderSeq+1, models.EventDelivered
			require.NoError(t, s.App.DB.InsertDeliveries(t.Context(), []models.WebhookDelivery{next, last}))
			s.sendQueued(t)
			require.Empty(t, receiver.Events())
			s.now.Advance(time.Minute)
			s.sendQueued(t)
			require.Equal(t, []string{"order.created", "order.assigned", "order.delivered"}, eventNames(receiver.Events()))
		}
	})
}

// An event that goes to many webhooks is sent by its order's workflow to the first two, and to the
// others by the workers. All of them get every event once and in sequence.
func TestQueue_manyWebhooks(t *testing.T) {
	eachOwn(t, apptest.Options{}, func(t *testing.T, s *harness) {
		const count, direct = 12, 2
		var receivers []*apptest.Receiver
		for range count {
			receiver := apptest.NewReceiver(t, nil)
			s.Register(t, s.Key, receiver)
			receivers = append(receivers, receiver)
		}
		id := s.CreateOrder(t, s.Key)
		s.move(t, id, "receive", nil)
		s.assign(t, id)
		s.move(t, id, "deliver", nil)
		for _, receiver := range receivers {
			require.Equal(t, []string{"order.created", "order.assigned", "order.delivered"}, eventNames(receiver.WaitFor(t, 3)))
		}
		activities := 0
		history := s.Temporal.GetWorkflowHistory(t.Context(), "order-"+id, "", true, 1)
		for history.HasNext() {
			event, err := history.Next()
			require.NoError(t, err)
			if event.GetActivityTaskScheduledEventAttributes() != nil {
				activities++
			}
		}
		// An event that comes before the one before it has arrived is left to the queue.
		require.GreaterOrEqual(t, activities, direct)
		require.LessOrEqual(t, activities, 3*direct)
	})
}

// What is queued is sent when the receiver answers again, in sequence for each order, and a worker
// that stops meanwhile loses nothing.
func TestQueue_aReceiverThatAnswersAgain(t *testing.T) {
	eachOwn(t, apptest.Options{}, func(t *testing.T, s *harness) {
		var answers atomic.Bool
		receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			if !answers.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		webhookID, _ := s.Register(t, s.Key, receiver)
		for range failuresToOpen {
			s.CreateOrder(t, s.Key)
		}
		poll.Until(t, func() error {
			if state := s.circuit(t, webhookID)["state"]; state == "closed" {
				return fmt.Errorf("the circuit is %v", state)
			}
			return nil
		})
		s.StopWorker()
		id := s.CreateOrder(t, s.Key)
		before := len(receiver.Events())
		answers.Store(true)
		s.StartWorker(t)
		s.move(t, id, "receive", nil)
		s.assign(t, id)
		s.move(t, id, "deliver", nil)
		events := receiver.WaitFor(t, before+3)[before:]
		require.Equal(t, []string{"order.created", "order.assigned", "order.delivered"}, eventNames(events))
		require.Equal(t, "closed", s.circuit(t, webhookID)["state"])
	})
}

// A worker that stops finishes what it is sending, and is not held up by what hangs for longer.
func TestQueue_stops(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		slow := newSlowReceiver()
		defer slow.release()
		receiver := apptest.NewReceiver(t, slow.hang)
		s.service = s.newSendService(t, s.now, withLongTimeout)
		webhookID, _ := s.Register(t, s.Key, receiver, onlyCreated)
		for _, c := range []struct {
			grace  time.Duration
			stop   func()
			status models.WebhookDeliveryStatus
		}{
			{0, func() {}, models.WebhookDeliveryFailed}, // it is not known whether it arrived
			{poll.Deadline, slow.release, models.WebhookDeliveryDelivered},
		} {
			id := s.createPending(t, webhookID)
			s.enqueue(t, id)
			before := len(receiver.Events())
			running, stop := context.WithCancel(t.Context())
			var queue sync.WaitGroup
			queue.Go(func() { s.service.RunQueue(running, slog.Default(), c.grace) })
			receiver.WaitFor(t, before+1)
			stop()
			c.stop()
			queue.Wait()
			row, attempts := s.deliveryRow(t, id.String())
			require.Equal(t, c.status, row.Status)
			require.Len(t, attempts, 1)
			require.NotNil(t, attempts[0].FinishedAt)
		}
	})
}

// A delivery that fails for an internal reason comes back later and holds up no other.
func TestQueue_internalErrors(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := apptest.NewReceiver(t, nil)
		broken, _ := s.Register(t, s.Key, receiver, onlyCreated)
		unreadable := s.createPending(t, broken)
		healthy, _ := s.Register(t, s.Key, receiver, onlyCreated)
		fine := s.createPending(t, healthy)
		hook := s.webhookRow(t, broken)
		sealed := hook.Secret
		hook.Secret = []byte("sealed with another key")
		require.NoError(t, webhooks.SaveSecrets(t.Context(), s.App.DB, hook))
		for _, id := range []uuid.UUID{unreadable, fine} {
			s.enqueue(t, id)
		}
		s.sendQueued(t)
		require.Len(t, receiver.Events(), 1)
		row, attempts := s.deliveryRow(t, unreadable.String())
		require.Empty(t, attempts)
		require.WithinDuration(t, s.now.Now().Add(time.Minute), *row.NextAttemptAt, time.Millisecond)

		hook.Secret = sealed
		require.NoError(t, webhooks.SaveSecrets(t.Context(), s.App.DB, hook))
		s.sendQueued(t)
		require.Len(t, receiver.Events(), 1, "not yet")
		s.now.Advance(time.Minute)
		defective := *s.service
		defective.Secrets = nil
		require.NoError(t, defective.SendQueued(t.Context(), slog.Default()), "a panic does not end the worker")
		require.Len(t, receiver.Events(), 1)
		s.now.Advance(time.Minute)
		s.sendQueued(t)
		require.Len(t, receiver.Events(), 3, "with the second order's, which no workflow has called")
	})
}

// What is queued for a webhook that was deactivated fails without being sent.
func TestQueue_deactivated(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := apptest.NewReceiver(t, nil)
		webhookID, _ := s.Register(t, s.Key, receiver, onlyCreated)
		id := s.createPending(t, webhookID)
		s.enqueue(t, id)
		require.NoError(t, webhooks.DeactivateHook(t.Context(), s.App.DB, s.scope(), uuid.MustParse(webhookID), "Prueba.", s.now.Now()))
		s.sendQueued(t)
		row, attempts := s.deliveryRow(t, id.String())
		require.Equal(t, models.WebhookDeliveryFailed, row.Status)
		require.Equal(t, "El webhook está desactivado.", *attempts[0].Error)
		require.Empty(t, receiver.Events())
	})
}

// Two workers with the same queue send each delivery once.
func TestQueue_severalWorkers(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := apptest.NewReceiver(t, nil)
		webhookID, _ := s.Register(t, s.Key, receiver, onlyCreated)
		const count = perWebhook
		for range count {
			s.enqueue(t, s.createPending(t, webhookID))
		}
		var workers sync.WaitGroup
		for range 3 {
			another := *s.service
			another.Slots = webhooks.NewSlots()
			workers.Go(func() { _ = another.SendQueued(t.Context(), slog.Default()) })
		}
		workers.Wait()
		ids := map[string]bool{}
		for _, event := range receiver.Events() {
			ids[event.Header.Get("webhook-id")] = true
		}
		require.Len(t, receiver.Events(), count)
		require.Len(t, ids, count)
		require.True(t, slices.ContainsFunc(s.logOf(t, webhookID), func(d delivery) bool { return d.Status == "delivered" }))
	})
}
