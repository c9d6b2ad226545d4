package webhooks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/webhooks"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// Without retries an event is sent once, and the log has its outcome.
func TestSingleAttempt(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := apptest.NewReceiver(t, respondWith(500, "se cayó la base"))
		webhookID, _ := s.Register(t, s.Key, receiver, onlyCreated)
		began := clock.Normalize(time.Now())
		id := s.CreateOrder(t, s.Key)
		d := s.waitUntilFinished(t, webhookID, 1)[0]

		require.Equal(t, "failed", d.Status)
		require.Equal(t, id, *d.OrderID)
		require.Len(t, d.Attempts, 1)
		require.Equal(t, "auto", d.Attempts[0].Cause)
		require.Equal(t, 500, *d.Attempts[0].StatusCode)
		require.Equal(t, "El receptor respondió con el código 500.", *d.Attempts[0].Error)
		require.Equal(t, "se cayó la base", *d.Attempts[0].Response)
		require.WithinRange(t, d.Attempts[0].At, began, time.Now())
		poll.Until(t, func() error {
			described, err := s.Temporal.DescribeWorkflowExecution(t.Context(), "order-"+id, "")
			if err != nil {
				return err
			}
			if left := described.PendingActivities; len(left) > 0 {
				return fmt.Errorf("something is still to be done: %v", left)
			}
			return nil
		})
		require.Len(t, receiver.Events(), 1)
	})
}

// With retries the second attempt comes after 5 seconds ± 20 %. Its data is as of the event, even
// if the order has moved since.
func TestRetry_theFirstAfterFiveSeconds(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		type stored struct {
			delivery *models.WebhookDelivery
			attempts []models.WebhookAttempt
		}
		second := make(chan stored, 1)
		var asked atomic.Int32
		receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			var now stored // the second attempt is under way
			now.delivery, now.attempts = s.readCall(t, context.WithoutCancel(r.Context()), r.Header.Get("webhook-id"))
			second <- now
		})
		webhookID, secret := s.Register(t, s.Key, receiver, withRetry)
		id := s.CreateOrder(t, s.Key)
		s.move(t, id, "receive", nil)
		s.assign(t, id)

		d := s.waitUntilFinished(t, webhookID, 1)[0]
		require.Equal(t, "delivered", d.Status)
		require.Equal(t, []int{503, 200}, []int{*d.Attempts[0].StatusCode, *d.Attempts[1].StatusCode})
		require.Nil(t, d.Attempts[1].Error)
		then := <-second
		require.Equal(t, models.WebhookDeliveryPending, then.delivery.Status)
		failed, due := then.attempts[0].FinishedAt, then.delivery.NextAttemptAt
		require.WithinRange(t, *due, failed.Add(4*time.Second), failed.Add(6*time.Second), "as it was put down")
		require.False(t, then.attempts[1].StartedAt.Before(due.Add(-100*time.Millisecond)), "%s is well before %s", then.attempts[1].StartedAt, due)
		events := receiver.Events()
		require.Equal(t, "registered", events[1].Data["status"], "data is as it was at the event")
		require.Nil(t, events[1].Data["rider"])
		requireSameEvent(t, secret, events)
	})
}

// requireSameEvent checks that attempts have the same id and data, byte for byte, and each its own
// timestamp and signatures.
func requireSameEvent(t *testing.T, secret string, attempts []apptest.Received) {
	t.Helper()
	type envelope struct {
		Timestamp string          `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}
	var first envelope
	require.NoError(t, json.Unmarshal(attempts[0].Body, &first))
	timestamps := map[string]bool{}
	for _, event := range attempts {
		require.Equal(t, attempts[0].Header.Get("webhook-id"), event.Header.Get("webhook-id"))
		var body envelope
		require.NoError(t, json.Unmarshal(event.Body, &body))
		require.Equal(t, string(first.Data), string(body.Data))
		require.Equal(t, body.Timestamp, event.Header.Get("X-Service-Timestamp"))
		require.Equal(t, body.Timestamp, event.Header.Get("webhook-timestamp"))
		timestamps[body.Timestamp] = true
		requireSigned(t, event, secret, "")
	}
	require.Len(t, timestamps, len(attempts))
}

// The delays between attempts are 5 s, 5 min, 30 min, 2 h, 5 h and 10 h, each ± 20 %; after the
// seventh attempt the delivery fails.
func TestRetry_theWholeSchedule(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := apptest.NewReceiver(t, respondWith(500, ""))
		webhookID, secret := s.Register(t, s.Key, receiver, withRetry)
		id := s.createPending(t, webhookID)
		for _, wait := range []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour} {
			said := s.send(t, id, models.CauseAuto)
			require.False(t, said.failed)
			require.InDelta(t, wait.Seconds(), said.again.Seconds(), wait.Seconds()*0.2)
			row, _ := s.deliveryRow(t, id.String())
			require.Equal(t, models.WebhookDeliveryPending, row.Status)
			require.WithinDuration(t, s.now.Now().Add(said.again), *row.NextAttemptAt, time.Millisecond)
			s.now.Advance(said.again)
		}
		require.Equal(t, sendOutcome{failed: true}, s.send(t, id, models.CauseAuto))
		row, attempts := s.deliveryRow(t, id.String())
		require.Equal(t, models.WebhookDeliveryFailed, row.Status)
		require.Nil(t, row.NextAttemptAt)
		require.Len(t, attempts, 7)
		requireSameEvent(t, secret, receiver.Events())

		require.Equal(t, webhooks.OutcomeSettled, s.sendDirectly(t, id), "whoever comes once more finds nothing to do")
		require.Len(t, receiver.Events(), 7)
	})
}

// Retry-After can lengthen a delay, not shorten it.
func TestRetry_afterWhatTheReceiverAskedFor(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		for name, c := range map[string]struct {
			status            int
			retryAfter        string
			shortest, longest time.Duration
		}{
			"shorter than the schedule": {429, "1", 4 * time.Second, 6 * time.Second},
			"longer":                    {429, "600", 10 * time.Minute, 10 * time.Minute},
			"longer than a day":         {503, "999999", 24 * time.Hour, 24 * time.Hour},
			"a date":                    {503, s.now.Now().Add(time.Hour).Format(http.TimeFormat), 59 * time.Minute, time.Hour},
		} {
			receiver := apptest.NewReceiver(t, respondWith(c.status, "", "Retry-After", c.retryAfter))
			webhookID, _ := s.Register(t, s.Key, receiver, withRetry)
			id := s.createPending(t, webhookID)
			again := s.send(t, id, models.CauseAuto).again
			require.GreaterOrEqual(t, again, c.shortest, name)
			require.LessOrEqual(t, again, c.longest, name)
		}
	})
}

// A redelivery does not count in the schedule.
func TestRetry_redeliveriesDoNotCount(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		webhookID, _ := s.Register(t, s.Key, apptest.NewReceiver(t, respondWith(500, "")), withRetry)
		id := s.createPending(t, webhookID)
		require.InDelta(t, 5, s.send(t, id, models.CauseAuto).again.Seconds(), 1)
		due, _ := s.deliveryRow(t, id.String())
		for range 4 {
			require.Equal(t, sendOutcome{failed: true}, s.send(t, id, models.CauseRedelivery))
		}
		row, attempts := s.deliveryRow(t, id.String())
		require.Len(t, attempts, 5)
		require.Equal(t, models.WebhookDeliveryPending, row.Status)
		require.True(t, due.NextAttemptAt.Equal(*row.NextAttemptAt))
		s.now.Advance(6 * time.Second)
		require.InDelta(t, 300, s.send(t, id, models.CauseAuto).again.Seconds(), 60, "the second attempt of the schedule")
	})
}

// 410 deactivates a webhook, with retries or without: it is no longer listed and gets no more
// events, and whoever reads it learns when and why.
func TestGone_deactivates(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		for name, more := range map[string]map[string]any{"single attempt": onlyCreated, "with retries": withRetry} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := s.secondOperator(t)
				receiver := apptest.NewReceiver(t, respondWith(http.StatusGone, "ya no"))
				webhookID, _ := s.Register(t, s.Key, receiver, more)
				s.CreateOrder(t, s.Key)
				d := s.waitUntilFinished(t, webhookID, 1)[0]
				require.Equal(t, "failed", d.Status)
				require.Len(t, d.Attempts, 1)
				require.Equal(t, 410, *d.Attempts[0].StatusCode)
				require.Empty(t, s.activeWebhooks(t))
				row := s.webhookRow(t, webhookID)
				require.Contains(t, *row.DeactivatedReason, "410")
				require.NotNil(t, row.DeactivatedAt)
				read := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/webhooks/" + webhookID, Key: s.Key})
				require.Equal(t, false, read.Data["active"])
				require.Equal(t, *row.DeactivatedReason, read.Data["deactivated_reason"])
				require.NotEmpty(t, read.Data["deactivated_at"])

				s.CreateOrder(t, s.Key)
				require.Len(t, s.logOf(t, webhookID), 1)
				require.Len(t, receiver.Events(), 1)
			})
		}
	})
}

// A webhook that fails for five days after the five failures that open its circuit is deactivated
// with a reason; one success closes the circuit. A few failures with quiet days between them are
// not enough, and days on which nothing was sent to it do not count.
func TestFailing_forFiveDays(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		var healthy atomic.Bool
		receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			if !healthy.Load() {
				w.WriteHeader(http.StatusBadGateway)
			}
		})
		webhookID, _ := s.Register(t, s.Key, receiver, onlyCreated)
		attempt := func(succeeds bool) {
			healthy.Store(succeeds)
			require.Equal(t, sendOutcome{failed: !succeeds}, s.send(t, s.createPending(t, webhookID), models.CauseAuto))
		}
		const day = 24 * time.Hour
		failAgain := func(after ...time.Duration) {
			for _, pause := range after {
				require.Equal(t, []string{webhookID}, s.activeWebhooks(t))
				s.now.Advance(pause)
				attempt(false)
			}
		}

		attempt(false)
		began := s.webhookRow(t, webhookID).FailingSince
		failAgain(2*day, 2*day, 2*day, 2*day, 2*day, 2*day)
		require.True(t, began.Equal(*s.webhookRow(t, webhookID).FailingSince), "counted from the first failure")
		attempt(true)
		require.Nil(t, s.webhookRow(t, webhookID).FailingSince)

		failAgain(0, 0, 0, 0, 0, 4*day, 2*day, 2*day, day-time.Minute)
		require.True(t, s.now.Now().Sub(*s.webhookRow(t, webhookID).CircuitOpenedAt) < 5*day)
		failAgain(time.Minute)

		require.Empty(t, s.activeWebhooks(t))
		row := s.webhookRow(t, webhookID)
		require.False(t, row.Active)
		require.Equal(t, "Todos los envíos fallaron durante cinco días.", *row.DeactivatedReason)
	})
}

// The time for which a webhook is paused is no time for which it fails: the first failure after a
// pause does not deactivate it, however long it has failed before.
func TestFailing_pausesDoNotCount(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		const day = 24 * time.Hour
		for name, pause := range map[string]func(webhookID string, paused bool){
			"its owner": func(webhookID string, paused bool) {
				s.change(t, s.Key, webhookID, map[string]any{"paused": paused}, http.StatusOK)
			},
			"all webhooks": func(_ string, paused bool) { s.service.Paused = paused },
		} {
			webhookID, _ := s.Register(t, s.Key, newConfigurableReceiver(t, http.StatusBadGateway).Receiver, onlyCreated)
			for _, after := range []time.Duration{0, 0, 0, 0, 0, 2 * day, 2 * day} {
				s.now.Advance(after)
				s.send(t, s.createPending(t, webhookID), models.CauseAuto)
			}
			pause(webhookID, true)
			kept := s.createPending(t, webhookID)
			s.now.Advance(6 * day)
			pause(webhookID, false)
			require.Equal(t, sendOutcome{failed: true}, s.send(t, kept, models.CauseAuto))
			require.True(t, s.webhookRow(t, webhookID).Active, name)
			for range failuresToOpen {
				s.send(t, s.createPending(t, webhookID), models.CauseAuto)
			}
			require.True(t, s.webhookRow(t, webhookID).Active, name)
			require.NoError(t, webhooks.DeactivateHook(t.Context(), s.App.DB, s.scope(), uuid.MustParse(webhookID), "Prueba.", s.now.Now()))
		}
	})
}

// Whoever repairs a receiver may try a paused webhook for as long as it takes: what was kept is
// sent when it is resumed.
func TestFailing_triedWhilePaused(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		webhookID, _ := s.Register(t, s.Key, newConfigurableReceiver(t, http.StatusBadGateway).Receiver, onlyCreated)
		s.openCircuit(t, webhookID)
		s.change(t, s.Key, webhookID, map[string]any{"paused": true}, http.StatusOK)
		for range 6 {
			s.now.Advance(24 * time.Hour)
			now := s.now.Now()
			tried := models.WebhookDelivery{
				ID: uuid.New(), WebhookID: uuid.MustParse(webhookID), OperatorID: s.Operator.ID, Event: models.EventTest, Data: "{}",
				Status: models.WebhookDeliveryFailed, CreatedAt: now, FinishedAt: &now,
			}
			require.NoError(t, s.App.DB.InsertDeliveries(t.Context(), []models.WebhookDelivery{tried}))
			require.Equal(t, sendOutcome{failed: true}, s.send(t, tried.ID, models.CauseRedelivery))
			_, attempts := s.deliveryRow(t, tried.ID.String())
			require.Len(t, attempts, 1)
		}
		require.True(t, s.webhookRow(t, webhookID).Active)
	})
}

// Whoever sends a delivery keeps its schedule: a second workflow that sends the same one waits
// until the next attempt is due, and a redelivery that a person asked for does not.
func TestRetry_everySenderKeepsTheSchedule(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := apptest.NewReceiver(t, respondWith(503, ""))
		webhookID, _ := s.Register(t, s.Key, receiver, withRetry)
		id := s.createPending(t, webhookID)
		first := s.send(t, id, models.CauseAuto)
		require.InDelta(t, 5, first.again.Seconds(), 1)

		second := s.send(t, id, models.CauseAuto)
		require.InDelta(t, first.again.Seconds(), second.again.Seconds(), 0.001, "as long as the first one has to wait")
		require.Len(t, receiver.Events(), 1)
		require.True(t, s.send(t, id, models.CauseRedelivery).failed)
		require.Len(t, receiver.Events(), 2)

		s.now.Advance(first.again)
		require.Greater(t, s.send(t, id, models.CauseAuto).again, time.Minute)
		require.Len(t, receiver.Events(), 3)
	})
}

// The address of a photo is signed at every attempt: the redelivery of an old event has one that
// works.
func TestRetry_signsThePhotoAddressAgain(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		const photo = "00000000000000000000000000000001.jpg"
		require.NoError(t, os.WriteFile(filepath.Join(s.Config.FilesDir, photo), []byte("photo"), 0o600))
		receiver := apptest.NewReceiver(t, respondWith(200, ""))
		webhookID, _ := s.Register(t, s.Key, receiver, onlyCreated)
		id := s.createPending(t, webhookID)
		_, err := s.App.DB.SQL().Exec(`UPDATE deliveries SET data = '{"delivery_proof":{"photo_url":"` + s.Config.FilesURL + "/" + photo + `"}}' WHERE id = '` + id.String() + "'")
		require.NoError(t, err)
		statuses := func() (found []int) {
			for _, event := range receiver.Events() {
				address := event.Data["delivery_proof"].(map[string]any)["photo_url"].(string)
				response, err := apptest.Client.Get(address)
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				found = append(found, response.StatusCode)
			}
			return found
		}
		require.Equal(t, sendOutcome{}, s.send(t, id, models.CauseAuto))
		require.Equal(t, []int{200}, statuses())
		s.now.Advance(s.Config.PhotoURLTTL + time.Hour)
		require.Equal(t, sendOutcome{}, s.send(t, id, models.CauseRedelivery))
		require.Equal(t, []int{403, 200}, statuses())
	})
}
