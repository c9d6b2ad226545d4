package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/workflows"
)

// fullLifecycle receives, assigns and delivers the order, a minute apart.
func (s *harness) fullLifecycle() {
	s.stored.Calls = s.addCalls(models.EventCreated)
	s.at(1*time.Minute, func() { s.signal(workflows.ReceivedName, nil) })
	s.at(2*time.Minute, func() { s.signal(workflows.AssignedName, models.Message{RiderID: &riderA}) })
	s.at(3*time.Minute, func() { s.signal(workflows.DeliveredName, nil) })
}

// Every event is sent to every webhook with its move; reception has none. Whatever becomes of a
// first attempt, it is the only one that the workflow makes, and delays neither a move nor another
// call.
func TestWebhooks_oneAttemptAtEveryEvent(t *testing.T) {
	t.Parallel()
	for name, outcome := range map[string]error{"it is made": nil, "it cannot be made": errors.New("no database")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, registered)
			s.webhooks = []webhook{webhook(uuid.New()), webhook(uuid.New())}
			s.receive = func(webhookCall) error { return outcome }
			s.fullLifecycle()
			require.True(t, s.run())
			calls := map[webhook][]models.Event{}
			for _, call := range s.sent {
				calls[call.webhook] = append(calls[call.webhook], call.Event)
				require.Equal(t, map[models.Event]time.Duration{
					models.EventCreated: 0, models.EventAssigned: 2 * time.Minute, models.EventDelivered: 3 * time.Minute,
				}[call.Event], call.at)
			}
			for _, hook := range s.webhooks {
				require.Equal(t, []models.Event{models.EventCreated, models.EventAssigned, models.EventDelivered}, calls[hook])
			}
			require.Equal(t, start.Add(3*time.Minute), s.written[2].At)
			require.LessOrEqual(t, s.env.Now().Sub(start), 3*time.Minute+workflows.WebhookTimeout, "it does not wait for other attempts")
		})
	}
}

// The run of a finished order stays open until its first attempts have an outcome, and refuses
// every move.
func TestWebhooks_theRunEndsAfterTheLastCall(t *testing.T) {
	t.Parallel()
	s := newSlowHarness(t)
	var late *updateResult
	s.at(time.Hour, func() { s.signal(workflows.CancelName, nil) })
	s.at(time.Hour+10*time.Second, func() { late = s.update(workflows.ReceivedName, models.Message{}) })
	require.True(t, s.run())
	late.requireRefused(t, models.MoveReceive, models.StatusCancelled)
	require.Equal(t, start.Add(time.Hour+slowCall), s.env.Now().UTC())
}
