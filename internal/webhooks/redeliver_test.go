package webhooks_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/internal/webhooks"
	"despacho/internal/webhooks/sender"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// configurableReceiver responds with a status that the test sets.
type configurableReceiver struct {
	*apptest.Receiver
	status atomic.Int32
}

func newConfigurableReceiver(t *testing.T, status int) *configurableReceiver {
	m := &configurableReceiver{}
	m.status.Store(int32(status))
	m.Receiver = apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(m.status.Load()))
		fmt.Fprintf(w, "estado %d", m.status.Load())
	})
	return m
}

// redeliver resends a delivery and returns its outcome.
func (s *harness) redeliver(t *testing.T, deliveryID string) delivery {
	t.Helper()
	return readData[delivery](t, s.post(t, s.Key, "/v1/deliveries/"+deliveryID+"/redeliver", nil, http.StatusOK))
}

// A delivery can be resent at any time: a new attempt under the same webhook-id, with the cause
// redelivery. A success finishes it; a failure changes nothing.
func TestRedeliver_one(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := newConfigurableReceiver(t, 500)
		webhookID, secret := s.Register(t, s.Key, receiver.Receiver, onlyCreated)
		orderID := s.CreateOrder(t, s.Key)
		failed := s.waitUntilFinished(t, webhookID, 1)[0]
		s.move(t, orderID, "receive", nil)

		still := s.redeliver(t, failed.ID)
		require.Equal(t, "failed", still.Status)
		receiver.status.Store(200)
		delivered := s.redeliver(t, failed.ID)
		require.Equal(t, "delivered", delivered.Status)
		receiver.status.Store(503)
		kept := s.redeliver(t, failed.ID)
		require.Equal(t, "delivered", kept.Status, "what was delivered stays so")

		require.Len(t, kept.Attempts, 4)
		for i, want := range []struct {
			cause string
			code  int
			words string
		}{
			{"auto", 500, "El receptor respondió con el código 500."},
			{"redelivery", 500, "El receptor respondió con el código 500."},
			{"redelivery", 200, ""},
			{"redelivery", 503, "El receptor respondió con el código 503."},
		} {
			a := kept.Attempts[i]
			require.Equal(t, want.cause, a.Cause)
			require.Equal(t, want.code, *a.StatusCode)
			require.Equal(t, want.words, valueOf(a.Error))
			require.Equal(t, fmt.Sprintf("estado %d", want.code), *a.Response)
		}
		require.Equal(t, kept, s.logOf(t, webhookID)[0])
		events := receiver.Events()
		require.Len(t, events, 4)
		for _, event := range events {
			require.Equal(t, failed.ID, event.Header.Get("webhook-id"))
			require.Equal(t, events[0].Data, event.Data)
			requireSigned(t, event, secret, "")
		}
	})
}

// Each role can redeliver its own deliveries in the panel.
func TestRedeliver_fromThePanel(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := newConfigurableReceiver(t, 500)
		webhookID, _ := s.Register(t, s.KeyA, receiver.Receiver, onlyCreated)
		s.CreateOrder(t, s.KeyA)
		path := "/panel/api/deliveries/" + s.waitUntilFinished(t, webhookID, 1)[0].ID + "/redeliver"
		for token, status := range map[string]int{
			s.SignIn(t, &s.StoreA): http.StatusOK, s.staffToken(t): http.StatusOK,
			s.SignIn(t, &s.StoreB): http.StatusNotFound, s.secondOperator(t).staffToken(t): http.StatusNotFound,
		} {
			answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: path, Token: token})
			require.Equal(t, status, answer.Status, answer.Text)
		}
		require.Len(t, receiver.Events(), 3)
	})
}

// Unknown deliveries, and those of an inactive webhook, are not found.
func TestRedeliver_notFound(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := newConfigurableReceiver(t, 410)
		webhookID, _ := s.Register(t, s.Key, receiver.Receiver, onlyCreated)
		s.CreateOrder(t, s.Key)
		gone := s.waitUntilFinished(t, webhookID, 1)[0]
		for _, path := range []string{
			"/v1/deliveries/" + uuid.NewString() + "/redeliver", "/v1/deliveries/x/redeliver", "/v1/deliveries/" + gone.ID + "/redeliver",
			"/v1/webhooks/" + uuid.NewString() + "/test", "/v1/webhooks/" + webhookID + "/test", "/v1/webhooks/" + webhookID + "/rotate",
		} {
			s.post(t, s.Key, path, nil, http.StatusNotFound)
		}
		s.post(t, s.Key, "/v1/webhooks/"+webhookID+"/redeliver", wholeDay(), http.StatusNotFound)
		require.Len(t, receiver.Events(), 1)
	})
}

// wholeDay is a time range around now.
func wholeDay() map[string]any {
	return map[string]any{"from": time.Now().Add(-12 * time.Hour), "to": time.Now().Add(12 * time.Hour)}
}

// The failed deliveries of a range are resent, oldest first, without test events.
func TestRedeliver_range(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := newConfigurableReceiver(t, 500)
		webhookID, _ := s.Register(t, s.Key, receiver.Receiver, onlyCreated)
		for range 4 {
			s.CreateOrder(t, s.Key)
		}
		failed := s.waitUntilFinished(t, webhookID, 4)
		s.post(t, s.Key, "/v1/webhooks/"+webhookID+"/test", nil, http.StatusOK)
		receiver.status.Store(200)
		s.CreateOrder(t, s.Key)
		s.waitUntilFinished(t, webhookID, 6)
		before := len(receiver.Events())

		answer := s.post(t, s.Key, "/v1/webhooks/"+webhookID+"/redeliver", map[string]any{"from": failed[1].CreatedAt, "to": failed[2].CreatedAt}, http.StatusOK)
		require.EqualValues(t, 2, answer.Data["redelivering"])
		require.Contains(t, answer.Message, "2.")
		receiver.WaitFor(t, before+2)
		s.waitUntilDelivered(t, webhookID, failed[1].ID, failed[2].ID)
		for i, event := range receiver.Events()[before:] {
			require.Equal(t, failed[1+i].ID, event.Header.Get("webhook-id"))
		}
		var rest *apptest.Answer
		poll.Until(t, func() error {
			rest = s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/webhooks/" + webhookID + "/redeliver", Token: s.staffToken(t), Body: wholeDay()})
			if rest.Status == http.StatusConflict {
				return errors.New(rest.Error) // the first range may still be running
			}
			return nil
		})
		require.Equal(t, http.StatusOK, rest.Status, rest.Text)
		require.EqualValues(t, 2, rest.Data["redelivering"])
		s.waitUntilDelivered(t, webhookID, failed[0].ID, failed[3].ID)
		require.Len(t, receiver.Events(), before+4)

		none := s.post(t, s.Key, "/v1/webhooks/"+webhookID+"/redeliver", map[string]any{"from": "2020-01-01T00:00:00Z", "to": "2020-01-02T00:00:00-05:00"}, http.StatusOK)
		require.EqualValues(t, 0, none.Data["redelivering"])
	})
}

func (s *harness) waitUntilDelivered(t *testing.T, webhookID string, deliveryIDs ...string) {
	t.Helper()
	poll.Until(t, func() error {
		delivered := map[string]bool{}
		for _, d := range s.logOf(t, webhookID) {
			delivered[d.ID] = d.Status == "delivered" && d.Attempts[len(d.Attempts)-1].Cause == "redelivery"
		}
		for _, id := range deliveryIDs {
			if !delivered[id] {
				return fmt.Errorf("%s has not been redelivered", id)
			}
		}
		return nil
	})
}

// While a range is being resent, a second request is refused.
func TestRedeliver_oneRangeAtATime(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		slow := newSlowReceiver()
		defer slow.release()
		var hangs atomic.Bool
		receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, r *http.Request) {
			if hangs.Load() {
				slow.hang(w, r)
				return
			}
			w.WriteHeader(http.StatusInternalServerError)
		})
		webhookID, _ := s.Register(t, s.Key, receiver, onlyCreated)
		const orders = 3
		for range orders {
			s.CreateOrder(t, s.Key)
		}
		s.waitUntilFinished(t, webhookID, orders)

		hangs.Store(true)
		s.post(t, s.Key, "/v1/webhooks/"+webhookID+"/redeliver", wholeDay(), http.StatusOK)
		receiver.WaitFor(t, orders+1)
		refused := s.post(t, s.Key, "/v1/webhooks/"+webhookID+"/redeliver", wholeDay(), http.StatusConflict)
		require.Equal(t, "redelivery_running", refused.Code)
		slow.release()
		require.Len(t, receiver.WaitFor(t, 2*orders), 2*orders)
	})
}

// A range needs both ends, in order.
func TestRedeliver_rangeRefusals(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		webhookID, _ := s.register(t, s.Key, "https://tienda.example/despacho", nil)
		const at = "2026-01-31T15:04:05Z"
		for name, c := range map[string]struct {
			body   map[string]any
			fields []string
		}{
			"nothing":      {map[string]any{}, []string{"from", "to"}},
			"nulls":        {map[string]any{"from": nil, "to": nil}, []string{"from", "to"}},
			"blanks":       {map[string]any{"from": "", "to": " "}, []string{"from", "to"}},
			"no end":       {map[string]any{"from": at}, []string{"to"}},
			"no time":      {map[string]any{"from": "2026-01-31", "to": at}, []string{"from"}},
			"not text":     {map[string]any{"from": at, "to": 1769871845}, []string{"to"}},
			"backwards":    {map[string]any{"from": at, "to": "2026-01-31T15:04:04Z"}, []string{"from"}},
			"out of years": {map[string]any{"from": at, "to": "292277026596-12-04T15:30:07Z"}, []string{"to"}},
		} {
			answer := s.post(t, s.Key, "/v1/webhooks/"+webhookID+"/redeliver", c.body, http.StatusBadRequest)
			require.Equal(t, c.fields, answer.Fields, name)
		}
	})
}

// What cannot be signed, because SECRET_KEY is another one, is not sent, and says so: neither does
// whoever redelivers one event wait, nor is the next redelivery of a range refused. A new secret is
// enough to get events again, though the one that it replaces cannot be read.
func TestRedeliver_unreadableSecret(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := newConfigurableReceiver(t, 500)
		webhookID, _ := s.Register(t, s.Key, receiver.Receiver, onlyCreated)
		s.CreateOrder(t, s.Key)
		failed := s.waitUntilFinished(t, webhookID, 1)[0]
		receiver.status.Store(200)
		hook := s.webhookRow(t, webhookID)
		hook.Secret = []byte("sealed with another key")
		require.NoError(t, webhooks.SaveSecrets(t.Context(), s.App.DB, hook))

		unsent := s.redeliver(t, failed.ID)
		require.Equal(t, "failed", unsent.Status)
		require.Contains(t, *unsent.Attempts[1].Error, "no se puede descifrar")
		shown := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/deliveries/" + failed.ID, Key: s.Key}).Data["attempts"].([]any)
		require.NotNil(t, shown[0].(map[string]any)["body"])
		require.Nil(t, shown[1].(map[string]any)["body"], "nothing was sent")
		for range 2 {
			s.post(t, s.Key, "/v1/webhooks/"+webhookID+"/redeliver", wholeDay(), http.StatusOK)
			poll.Until(t, func() error {
				if row, _ := s.deliveryRow(t, failed.ID); row.RequestedAt != nil {
					return errors.New("it is still requested")
				}
				return nil
			})
		}
		require.Len(t, receiver.Events(), 1)

		secret := s.rotate(t, webhookID)
		require.Equal(t, "delivered", s.redeliver(t, failed.ID).Status)
		requireSigned(t, receiver.Events()[1], secret, "")
	})
}

// Without a worker the request fails with a retry hint after its timeout. What is not sent yet does
// not pile up: every pass over the queue reads it.
func TestRedeliver_withoutAWorker(t *testing.T) {
	options := apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.Timeouts.Outcome = time.Second }}
	eachOwn(t, options, func(t *testing.T, s *harness) {
		webhookID, _ := s.register(t, s.Key, closedAddress(t), onlyCreated)
		s.CreateOrder(t, s.Key)
		answer := s.post(t, s.Key, "/v1/webhooks/"+webhookID+"/test", nil, http.StatusServiceUnavailable)
		require.Equal(t, "try_again", answer.Code)
		require.NotEmpty(t, answer.Header.Get("Retry-After"))
		require.NotEmpty(t, answer.Error)
		refused := s.post(t, s.Key, "/v1/webhooks/"+webhookID+"/test", nil, http.StatusTooManyRequests)
		require.Equal(t, "5", refused.Header.Get("Retry-After"))

		now, waiting := time.Now(), make([]models.WebhookDelivery, 500)
		for i := range waiting {
			waiting[i] = models.WebhookDelivery{
				ID: uuid.New(), WebhookID: uuid.MustParse(webhookID), OperatorID: s.Operator.ID, Event: models.EventCreated, Data: "{}",
				Status: models.WebhookDeliveryFailed, CreatedAt: now, FinishedAt: &now, RequestedAt: &now,
			}
		}
		require.NoError(t, s.App.DB.InsertDeliveries(t.Context(), waiting))
		deliveries := s.logOf(t, webhookID)
		refused = s.post(t, s.Key, "/v1/deliveries/"+deliveries[0].ID+"/redeliver", nil, http.StatusConflict)
		require.Equal(t, "redelivery_running", refused.Code)
	})
}

// A delivery is sent again until it has 50 attempts: whoever lists deliveries reads all of them.
func TestRedeliver_attemptsAreBounded(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := newConfigurableReceiver(t, 500)
		webhookID, _ := s.Register(t, s.Key, receiver.Receiver, onlyCreated)
		s.CreateOrder(t, s.Key)
		failed := s.waitUntilFinished(t, webhookID, 1)[0]
		attempts, now := make([]models.WebhookAttempt, 48), time.Now()
		for i := range attempts {
			attempts[i] = models.WebhookAttempt{DeliveryID: uuid.MustParse(failed.ID), Number: i + 2, Cause: models.CauseRedelivery, StartedAt: now, FinishedAt: &now}
		}
		require.NoError(t, s.App.DB.Insert(t.Context(), attempts))
		require.Len(t, s.redeliver(t, failed.ID).Attempts, 50)

		refused := s.post(t, s.Key, "/v1/deliveries/"+failed.ID+"/redeliver", nil, http.StatusConflict)
		require.Equal(t, "too_many_attempts", refused.Code)
		for _, all := range []bool{false, true} {
			body := wholeDay()
			body["all"] = all
			answer := s.post(t, s.Key, "/v1/webhooks/"+webhookID+"/redeliver", body, http.StatusOK)
			require.EqualValues(t, 0, answer.Data["redelivering"])
		}
		require.Len(t, receiver.Events(), 2)
	})
}

// What is queued again as if it were new has all its retries again.
func TestRedeliver_everythingHasItsRetriesAgain(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := apptest.NewReceiver(t, respondWith(http.StatusInternalServerError, "no"))
		hook, _ := s.register(t, s.Key, receiver.URL, withRetry)
		since := s.now.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		delivery := s.createPending(t, hook)
		attempts := func() int {
			for {
				row, tried := s.deliveryRow(t, delivery.String())
				if row.Status != models.WebhookDeliveryPending {
					require.Equal(t, models.WebhookDeliveryFailed, row.Status)
					return len(tried)
				}
				s.now.Advance(max(row.NextAttemptAt.Sub(s.now.Now()), 0) + 6*time.Minute) // a probe is due as well
				s.send(t, delivery, models.CauseAuto)
			}
		}
		require.Equal(t, sender.MaxAttempts, attempts())
		answer := s.post(t, s.Key, "/v1/webhooks/"+hook+"/redeliver", map[string]any{"from": since, "all": true}, http.StatusOK)
		require.EqualValues(t, 1, answer.Data["redelivering"])
		require.Equal(t, 2*sender.MaxAttempts, attempts())
	})
}
