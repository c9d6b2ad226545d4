package webhooks_test

import (
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// circuit is the state of a webhook's circuit as the API shows it.
func (s *harness) circuit(t *testing.T, webhookID string) map[string]any {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/webhooks", Key: s.Key})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	for _, entry := range answer.List {
		if hook := entry.(map[string]any); hook["id"] == webhookID {
			return hook["circuit"].(map[string]any)
		}
	}
	require.Fail(t, "the webhook is not listed")
	return nil
}

// failuresToOpen is how many failures in a row open a circuit.
const failuresToOpen = 5

// openCircuit makes as many deliveries fail as open the webhook's circuit.
func (s *manualHarness) openCircuit(t *testing.T, webhookID string) {
	t.Helper()
	for i := range failuresToOpen {
		require.Equal(t, map[string]any{"state": "closed", "failures": float64(i), "opened_at": nil, "next_probe_at": nil}, s.circuit(t, webhookID))
		s.send(t, s.createPending(t, webhookID), models.CauseAuto)
	}
	open := s.circuit(t, webhookID)
	require.Equal(t, "open", open["state"])
	require.EqualValues(t, failuresToOpen, open["failures"])
	require.NotNil(t, open["opened_at"])
	require.NotNil(t, open["next_probe_at"])
}

// With retries, deliveries wait for the next probe while the circuit is open. One of them is the
// probe; its success lets all of them go.
func TestCircuit_withRetries(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := newConfigurableReceiver(t, 500)
		webhookID, _ := s.Register(t, s.Key, receiver.Receiver, withRetry)
		s.openCircuit(t, webhookID)
		require.Len(t, receiver.Events(), failuresToOpen)
		s.now.Advance(time.Second) // the next probe is 5 seconds after the last failure

		first, second := s.createPending(t, webhookID), s.createPending(t, webhookID)
		s.send(t, first, models.CauseAuto)
		require.Len(t, receiver.Events(), failuresToOpen, "nothing was sent")
		row, attempts := s.deliveryRow(t, first.String())
		require.Empty(t, attempts, "waiting uses up no attempt")
		require.True(t, row.Queued)

		s.now.Set(*s.webhookRow(t, webhookID).NextProbeAt)
		require.InDelta(t, 5, s.send(t, first, models.CauseAuto).again.Seconds(), 1, "the probe is the delivery's first attempt")
		require.Len(t, receiver.Events(), failuresToOpen+1)
		s.send(t, second, models.CauseAuto)
		require.Len(t, receiver.Events(), failuresToOpen+1, "the probe failed: it is planned anew")

		s.now.Advance(time.Hour)
		probed := s.webhookRow(t, webhookID)
		require.NoError(t, s.App.DB.Query(t.Context()).Model(&models.Webhook{}).Where("id = ?", probed.ID).UpdateColumn("probing_until", s.now.Now().Add(time.Minute)).Error)
		require.Equal(t, "half_open", s.circuit(t, webhookID)["state"])
		s.sendQueued(t)
		require.Len(t, receiver.Events(), failuresToOpen+1, "one probe at a time")

		s.now.Advance(time.Hour)
		receiver.status.Store(200)
		s.sendQueued(t)
		require.Len(t, receiver.Events(), failuresToOpen+2, "the probe alone")
		require.Equal(t, map[string]any{"state": "closed", "failures": 0.0, "opened_at": nil, "next_probe_at": nil}, s.circuit(t, webhookID))
		s.sendQueued(t)
		for _, id := range []uuid.UUID{first, second} {
			row, _ := s.deliveryRow(t, id.String())
			require.Equal(t, models.WebhookDeliveryDelivered, row.Status)
		}
		require.Nil(t, s.webhookRow(t, webhookID).FailingSince)
	})
}

// A receiver that hangs holds the slot of its webhook, whose events wait in the queue, for hours if
// there are many. Whoever tries it or resends one event does not wait behind them.
func TestCircuit_requestsPassTheQueue(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := newConfigurableReceiver(t, 500)
		webhookID, _ := s.Register(t, s.Key, receiver.Receiver, onlyCreated)
		s.openCircuit(t, webhookID)
		failed := uuid.MustParse(s.logOf(t, webhookID)[0].ID)
		slow := newSlowReceiver()
		defer slow.release()
		hanging := apptest.NewReceiver(t, slow.hang)
		_, err := s.App.DB.SQL().ExecContext(t.Context(), "UPDATE webhooks SET url = '"+hanging.URL+"' WHERE id = '"+webhookID+"'")
		require.NoError(t, err)
		s.service = s.newSendService(t, s.now, withLongTimeout)
		s.sendDirectly(t, s.createPending(t, webhookID)) // it is queued
		var sending sync.WaitGroup
		sending.Go(func() { _ = s.service.SendQueued(t.Context(), slog.Default()) })
		hanging.WaitFor(t, 1)

		s.update(t, failed, "requested_at", s.now.Now())
		sending.Go(func() { _ = s.service.SendQueued(t.Context(), slog.Default()) })
		hanging.WaitFor(t, 2)
		slow.release()
		sending.Wait()
	})
}

// The longer a circuit is open the rarer are the probes, up to a bound.
func TestCircuit_probesGrowRarer(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := newConfigurableReceiver(t, 500)
		webhookID, _ := s.Register(t, s.Key, receiver.Receiver, withRetry)
		s.openCircuit(t, webhookID)
		opened := *s.webhookRow(t, webhookID).CircuitOpenedAt
		for _, open := range []time.Duration{time.Minute, 4 * time.Minute, 3 * time.Hour} {
			s.now.Advance(opened.Add(open).Sub(s.now.Now()))
			s.send(t, s.createPending(t, webhookID), models.CauseAuto)
			row := s.webhookRow(t, webhookID)
			require.True(t, opened.Equal(*row.CircuitOpenedAt))
			require.WithinDuration(t, opened.Add(open+min(open/2, 5*time.Minute)), *row.NextProbeAt, time.Second)
		}
	})
}

// Without retries every event is attempted, once and without waiting for a probe: that is what the
// contract promises. A success closes the circuit.
func TestCircuit_singleAttempts(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		receiver := newConfigurableReceiver(t, 500)
		webhookID, _ := s.Register(t, s.Key, receiver.Receiver, onlyCreated)
		s.openCircuit(t, webhookID)
		var failed uuid.UUID
		for range 3 {
			failed = s.createPending(t, webhookID)
			require.Equal(t, sendOutcome{failed: true}, s.send(t, failed, models.CauseAuto))
			_, attempts := s.deliveryRow(t, failed.String())
			require.Len(t, attempts, 1)
		}
		require.Len(t, receiver.Events(), failuresToOpen+3)

		receiver.status.Store(200)
		require.Equal(t, sendOutcome{}, s.send(t, failed, models.CauseRedelivery), "a person need not wait either")
		require.Equal(t, "closed", s.circuit(t, webhookID)["state"])
	})
}

// While a probe is under way the circuit is half open, also in the panel.
func TestCircuit_halfOpenWhileProbing(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		var webhookID string
		var during []any
		receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			during = append(during, s.circuit(t, webhookID)["state"])
			w.WriteHeader(http.StatusBadGateway)
		})
		webhookID, _ = s.Register(t, s.Key, receiver, withRetry)
		s.openCircuit(t, webhookID)
		s.now.Advance(time.Hour)
		s.send(t, s.createPending(t, webhookID), models.CauseAuto)
		require.Equal(t, []any{"closed", "closed", "closed", "closed", "closed", "half_open"}, during)
		answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/panel/api/webhooks", Token: s.staffToken(t)})
		require.Equal(t, "open", answer.List[0].(map[string]any)["circuit"].(map[string]any)["state"])
	})
}
