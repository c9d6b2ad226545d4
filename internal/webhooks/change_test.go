package webhooks_test

import (
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/webhooks/sender"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// change changes a webhook over the API.
func (s *harness) change(t *testing.T, key, id string, body any, status int) *apptest.Answer {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/webhooks/" + id, Key: key, Body: body})
	require.Equal(t, status, answer.Status, answer.Text)
	return answer
}

// The URL and the events of a webhook change, its secret does not.
func TestChange_keepsTheSecret(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		before, after := apptest.NewReceiver(t, nil), apptest.NewReceiver(t, nil)
		id, secret := s.Register(t, s.Key, before)
		changed := s.change(t, s.Key, id, map[string]any{"url": after.URL + "/otro", "events": []string{"order.cancelled"}}, http.StatusOK)
		require.Equal(t, after.URL+"/otro", changed.String("url"))
		require.NotContains(t, changed.Data, "secret")
		order := s.CreateOrder(t, s.Key)
		s.WaitForWorkflow(t, order)
		s.move(t, order, "cancel", nil)
		event := after.WaitFor(t, 1)[0]
		require.Equal(t, "order.cancelled", event.Event)
		require.NoError(t, sender.Verify(event.Header, event.Body, time.Now(), secret))
		require.Empty(t, before.Events())

		for field, body := range map[string]map[string]any{"url": {"url": "http://tienda.example/"}, "events": {"events": []string{"order.lost"}}, "paused": {"paused": "sí"}} {
			require.Equal(t, []string{field}, s.change(t, s.Key, id, body, http.StatusBadRequest).Fields)
		}
		s.change(t, s.KeyA, id, map[string]any{"paused": true}, http.StatusNotFound)
	})
}

// Which store's events a webhook gets is said when it is registered. Another store is refused, and
// not passed over; what the webhook has is accepted.
func TestChange_refusesAnotherStore(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		id, _ := s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		require.Equal(t, []string{"store_id"}, s.change(t, s.Key, id, map[string]any{"store_id": s.StoreA.ID, "retry": true}, http.StatusBadRequest).Fields)
		require.Equal(t, []string{"active"}, s.change(t, s.Key, id, map[string]any{"active": false}, http.StatusBadRequest).Fields)
		read := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/webhooks/" + id, Key: s.Key})
		require.Equal(t, false, read.Data["retry"])
		read.Data["retry"] = true
		require.Equal(t, true, s.change(t, s.Key, id, read.Data, http.StatusOK).Data["retry"])
	})
}

// What happens while a webhook is paused waits, and is sent in sequence when it is resumed. Nobody
// has to wait with the erasure of an order for that.
func TestPause_eventsWait(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := apptest.NewReceiver(t, nil)
		id, _ := s.Register(t, s.Key, receiver)
		require.NotNil(t, s.change(t, s.Key, id, map[string]any{"paused": true}, http.StatusOK).Data["paused_at"])
		order := s.CreateOrder(t, s.Key, map[string]any{"recipient_name": "Ofelia Sandoval"})
		s.WaitForWorkflow(t, order)
		s.move(t, order, "cancel", nil)
		poll.Until(t, func() error { // its workflow has nothing left to send
			run := s.Temporal.GetWorkflow(t.Context(), "order-"+order, "")
			return run.Get(t.Context(), nil)
		})
		waiting := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/deliveries?status=pending&webhook_id=" + id, Key: s.Key})
		listed := waiting.Data["deliveries"].([]any)
		require.Len(t, listed, 2, waiting.Text)
		first := listed[1].(map[string]any)["id"].(string)
		refused := s.post(t, s.Key, "/v1/deliveries/"+first+"/redeliver", nil, http.StatusConflict)
		require.Equal(t, "webhook_paused", refused.Code)
		s.post(t, s.Key, "/v1/webhooks/"+id+"/test", nil, http.StatusOK)
		require.Equal(t, "webhook.test", receiver.WaitFor(t, 1)[0].Event, "it can be tried before it is resumed")
		require.Len(t, receiver.Events(), 1)

		admin := s.SignInAs(t, &models.User{Admin: true})
		erased := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + order + "/erase", Token: admin})
		require.Equal(t, http.StatusOK, erased.Status, erased.Text)

		require.Nil(t, s.change(t, s.Key, id, map[string]any{"paused": false}, http.StatusOK).Data["paused_at"])
		events := receiver.WaitFor(t, 3)
		require.Equal(t, "order.created", events[1].Event)
		require.Equal(t, "order.cancelled", events[2].Event)
		require.Equal(t, models.ErasedText, events[1].Data["recipient_name"])
	})
}

// A delivery shows the very body that each attempt sent, and the log is filtered by event.
func TestDelivery_showsTheBody(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := apptest.NewReceiver(t, nil)
		id, _ := s.Register(t, s.KeyA, receiver)
		order := s.CreateOrder(t, s.KeyA, map[string]any{"product": `Caja <"frágil"> & más`})
		s.WaitForWorkflow(t, order)
		s.move(t, order, "receive", nil)
		s.assign(t, order)
		s.deliverWithPhoto(t, order, nil)
		sent := receiver.WaitFor(t, 3)
		for i, event := range []string{"order.created", "order.assigned", "order.delivered"} {
			path := "/v1/deliveries?webhook_id=" + id + "&event=" + event
			listed := s.Do(t, apptest.Request{Method: http.MethodGet, Path: path, Key: s.KeyA}).Data["deliveries"].([]any)
			require.Len(t, listed, 1)
			require.NotContains(t, listed[0].(map[string]any)["attempts"].([]any)[0], "body")
			delivery := listed[0].(map[string]any)["id"].(string)
			shown := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/deliveries/" + delivery, Key: s.KeyA})
			require.Equal(t, http.StatusOK, shown.Status, shown.Text)
			require.Equal(t, string(sent[i].Body), shown.Data["attempts"].([]any)[0].(map[string]any)["body"])
			for _, key := range []string{s.KeyB, s.secondOperator(t).Key} {
				require.Equal(t, http.StatusNotFound, s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/deliveries/" + delivery, Key: key}).Status)
			}
		}
		wrong := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/deliveries?event=order.lost", Key: s.KeyA})
		require.Equal(t, []string{"event"}, wrong.Fields)
	})
}

// The attempt that deactivates a webhook and a change by its owner wait for each other: both are
// made.
func TestChange_besideItsDeactivation(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Now())
	booted := newHarness(t, apptest.Boot(t, testenv.Postgres(t), apptest.Options{Clock: now, NoWorker: true}))
	s := &manualHarness{harness: booted, now: now, service: booted.newSendService(t, now, nil)}
	receiver := newConfigurableReceiver(t, http.StatusInternalServerError)
	for _, status := range []int32{http.StatusInternalServerError, http.StatusGone} {
		receiver.status.Store(http.StatusInternalServerError)
		id, _ := s.Register(t, s.Key, receiver.Receiver, onlyCreated)
		for _, days := range []time.Duration{0, 0, 0, 0, 0, 3} {
			s.now.Advance(days * 24 * time.Hour)
			s.send(t, s.createPending(t, id), models.CauseAuto)
		}
		s.now.Advance(3 * 24 * time.Hour)
		delivery := s.createPending(t, id)
		receiver.status.Store(status)

		change, err := s.App.DB.SQL().BeginTx(t.Context(), nil)
		require.NoError(t, err)
		defer change.Rollback()
		var pid int
		require.NoError(t, change.QueryRowContext(t.Context(), "UPDATE operators SET settings_version = settings_version + 1 WHERE id = $1 RETURNING pg_backend_pid()", s.Operator.ID).Scan(&pid))
		sent := make(chan error, 1)
		go func() { sent <- s.service.SendQueued(t.Context(), slog.Default()) }()
		poll.Until(t, func() error {
			var waiting int
			err := s.App.DB.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))", pid).Scan(&waiting)
			if err == nil && waiting == 0 {
				err = errors.New("the attempt's outcome does not wait for the change")
			}
			return err
		})
		_, err = change.ExecContext(t.Context(), "UPDATE webhooks SET retry = TRUE WHERE id = $1", id)
		require.NoError(t, err)
		require.NoError(t, change.Commit())
		require.NoError(t, <-sent)
		row := s.webhookRow(t, id)
		require.True(t, row.Retry)
		require.False(t, row.Active)
		_, attempts := s.deliveryRow(t, delivery.String())
		require.NotNil(t, attempts[0].FinishedAt)
	}
}

// The answers of the receiver that a webhook had before tell nothing about the one that it has now:
// neither do they deactivate it nor do they open its circuit.
func TestChange_whileTheReceiverBeforeAnswers(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		s.service = s.newSendService(t, s.now, withLongTimeout)
		for _, status := range []int{http.StatusGone, http.StatusInternalServerError} {
			asked, answer := make(chan struct{}, perWebhook), make(chan struct{})
			before := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
				asked <- struct{}{}
				<-answer
				w.WriteHeader(status)
			})
			id, _ := s.Register(t, s.Key, before, onlyCreated)
			var sending sync.WaitGroup
			for range perWebhook {
				delivery := s.createPending(t, id)
				sending.Go(func() { _, _ = s.service.CallFirst(t.Context(), delivery) })
			}
			for range perWebhook {
				<-asked
			}
			s.change(t, s.Key, id, map[string]any{"url": apptest.NewReceiver(t, nil).URL}, http.StatusOK)
			close(answer)
			sending.Wait()
			row := s.webhookRow(t, id)
			require.True(t, row.Active, "%d", status)
			require.Zero(t, row.ConsecutiveFailures)
			require.Nil(t, row.CircuitOpenedAt)
			for _, delivery := range s.logOf(t, id) {
				require.Equal(t, "failed", delivery.Status)
			}
		}
	})
}

// What the receiver that a webhook had before asks for, no more events or a long wait, keeps no
// event from the one that it has now.
func TestChange_whileTheReceiverBeforeAsksForLess(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		s.service = s.newSendService(t, s.now, withLongTimeout)
		for _, status := range []int{http.StatusGone, http.StatusTooManyRequests} {
			asked, answer := make(chan struct{}), make(chan struct{})
			before := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
				close(asked)
				<-answer
				w.Header().Set("Retry-After", "86400")
				w.WriteHeader(status)
			})
			after := apptest.NewReceiver(t, nil)
			id, _ := s.Register(t, s.Key, before, withRetry)
			delivery := s.createPending(t, id)
			var sending sync.WaitGroup
			sending.Go(func() { _, _ = s.service.CallFirst(t.Context(), delivery) })
			<-asked
			s.change(t, s.Key, id, map[string]any{"url": after.URL}, http.StatusOK)
			close(answer)
			sending.Wait()

			s.now.Advance(10 * time.Second) // the second attempt is made after about five
			s.send(t, delivery, models.CauseAuto)
			require.Len(t, after.Events(), 1, "%d", status)
			row, attempts := s.deliveryRow(t, delivery.String())
			require.Equal(t, models.WebhookDeliveryDelivered, row.Status)
			require.Equal(t, status, *attempts[0].StatusCode)
		}
	})
}

// What the receiver before did not take waits for its next attempt, for hours in the end. The
// receiver that the webhook has now gets it at once; another change leaves the time.
func TestChange_sendsWhatWaitsToTheNewURL(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		before, after := apptest.NewReceiver(t, respondWith(http.StatusInternalServerError, "")), apptest.NewReceiver(t, nil)
		id, _ := s.Register(t, s.Key, before, withRetry)
		first := s.createPending(t, id)
		s.send(t, first, models.CauseAuto)
		s.now.Advance(10 * time.Second)
		require.Greater(t, s.send(t, first, models.CauseAuto).again, 3*time.Minute)
		second := s.createPending(t, id)
		s.send(t, second, models.CauseAuto)
		s.change(t, s.Key, id, map[string]any{"events": []string{"order.created", "order.cancelled"}}, http.StatusOK)
		s.sendQueued(t)
		require.Len(t, before.Events(), 3)

		s.change(t, s.Key, id, map[string]any{"url": after.URL}, http.StatusOK)
		s.sendQueued(t)
		require.Len(t, before.Events(), 3)
		require.Len(t, after.Events(), 2)
		for _, delivery := range []uuid.UUID{first, second} {
			row, _ := s.deliveryRow(t, delivery.String())
			require.Equal(t, models.WebhookDeliveryDelivered, row.Status)
			require.Equal(t, sendOutcome{}, s.send(t, delivery, models.CauseAuto), "its workflow has nothing left to send")
		}
		require.Len(t, after.Events(), 2)
	})
}

// A receiver that is replaced while it fails the last attempt does not end the event: the one that
// the webhook has now gets it after seconds.
func TestChange_whileTheReceiverBeforeFailsTheLastAttempt(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		s.service = s.newSendService(t, s.now, withLongTimeout)
		asked, answer := make(chan struct{}, 1), make(chan struct{}, 1)
		before := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			asked <- struct{}{}
			<-answer
			w.WriteHeader(http.StatusInternalServerError)
		})
		after := apptest.NewReceiver(t, nil)
		id, _ := s.Register(t, s.Key, before, withRetry)
		delivery := s.createPending(t, id)
		const attempts = 7
		for range attempts - 1 {
			answer <- struct{}{}
			s.now.Advance(s.send(t, delivery, models.CauseAuto).again)
			<-asked
		}
		var sending sync.WaitGroup
		sending.Go(func() { s.sendQueued(t) }) // its circuit is open
		<-asked
		s.change(t, s.Key, id, map[string]any{"url": after.URL}, http.StatusOK)
		answer <- struct{}{}
		sending.Wait()
		row, _ := s.deliveryRow(t, delivery.String())
		require.Equal(t, models.WebhookDeliveryPending, row.Status)

		s.now.Advance(10 * time.Second)
		s.send(t, delivery, models.CauseAuto)
		row, made := s.deliveryRow(t, delivery.String())
		require.Equal(t, models.WebhookDeliveryDelivered, row.Status)
		require.Len(t, made, attempts+1)
		require.Len(t, after.Events(), 1)
	})
}
