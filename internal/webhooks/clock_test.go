package webhooks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// A clock that is ahead and set back holds no delivery back until the wrong time: not a new one,
// not one whose next attempt was planned by it, not one whose attempt it saw begin, not
// one of a webhook whose circuit it saw open.
func TestClock_setBack(t *testing.T) {
	const ahead = 365 * 24 * time.Hour
	eachManual(t, func(t *testing.T, s *manualHarness) {
		right := s.now.Now()
		setBack := func() { s.now.Set(right.Add(time.Minute)) }
		t.Run("a new delivery", func(t *testing.T) {
			s := s.withNewOperator(t)
			receiver := apptest.NewReceiver(t, nil)
			webhookID, _ := s.Register(t, s.Key, receiver, withRetry)
			s.now.Advance(ahead)
			id := s.createPending(t, webhookID)
			setBack()
			require.Equal(t, sendOutcome{}, s.send(t, id, models.CauseAuto))
			require.Len(t, receiver.Events(), 1)
		})
		t.Run("a planned attempt", func(t *testing.T) {
			s := s.withNewOperator(t)
			receiver := apptest.NewReceiver(t, respondWith(500, ""))
			webhookID, _ := s.Register(t, s.Key, receiver, withRetry)
			id := s.createPending(t, webhookID)
			s.now.Advance(ahead)
			require.NotZero(t, s.send(t, id, models.CauseAuto).again)
			setBack()
			require.Less(t, s.send(t, id, models.CauseAuto).again, 24*time.Hour)
			require.Len(t, receiver.Events(), 2)
		})
		t.Run("an attempt that began", func(t *testing.T) {
			s := s.withNewOperator(t)
			receiver := apptest.NewReceiver(t, nil)
			webhookID, _ := s.Register(t, s.Key, receiver, withRetry)
			id := s.createPending(t, webhookID)
			s.insertUnfinishedAttempt(t, id, models.CauseAuto, s.now.Now().Add(ahead))
			setBack()
			require.Equal(t, sendOutcome{}, s.send(t, id, models.CauseAuto))
			require.Len(t, receiver.Events(), 1)
		})
		for name, probing := range map[string]bool{"an open circuit": false, "a probe that began": true} {
			t.Run(name, func(t *testing.T) {
				s := s.withNewOperator(t)
				receiver := newConfigurableReceiver(t, 500)
				webhookID, _ := s.Register(t, s.Key, receiver.Receiver, withRetry)
				s.now.Advance(ahead)
				s.openCircuit(t, webhookID)
				if probing {
					probing := s.App.DB.Query(t.Context()).Model(&models.Webhook{}).Where("id = ?", webhookID)
					require.NoError(t, probing.UpdateColumn("probing_until", s.now.Now().Add(30*time.Second)).Error)
				}
				setBack()
				s.send(t, s.createPending(t, webhookID), models.CauseAuto)
				require.Len(t, receiver.Events(), failuresToOpen+1, "the probe, which fails")
				row := s.webhookRow(t, webhookID)
				require.False(t, row.CircuitOpenedAt.After(s.now.Now()))
				receiver.status.Store(200)
				s.now.Set(*row.NextProbeAt)
				s.send(t, s.createPending(t, webhookID), models.CauseAuto)
				require.Equal(t, "closed", s.circuit(t, webhookID)["state"])
			})
		}
	})
}
