package workflows_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"despacho/models"
	"despacho/workflows"
)

// A run calls at most 500 webhooks at once, also if more are to be told of each event. The others
// wait in the database, and each webhook gets its events in sequence.
func TestLimits_thousandsOfWebhooks(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	const count, most, named = 560, 500, 550 // named is what a payload may hold
	for range count {
		s.webhooks = append(s.webhooks, webhook{id: uuid.New()})
	}
	pending := map[uuid.UUID]bool{}
	var waiting []workflows.WebhookDeliveryRef // the rows that are pending, oldest first
	add := func(event models.Event) (refs []workflows.WebhookDeliveryRef) {
		refs = s.addDeliveries(event)
		waiting = append(waiting, refs...)
		return refs
	}
	s.stored.Deliveries, s.stored.MoreDeliveries = add(models.EventCreated)[:named], true
	s.beforeLoad = func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stored.Deliveries, s.stored.MoreDeliveries = waiting[:min(len(waiting), named)], len(waiting) > named
		return nil
	}
	s.beforeWrite = func(move workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stored.Status, s.stored.Seq, s.stored.CancelledBy = move.To, move.Seq, move.By
		return &workflows.ApplyMoveResult{Deliveries: add(models.EventCancelled)[:named], MoreDeliveries: true}, nil
	}
	s.receive = func(call webhookCall) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		pending[call.ID] = true
		require.LessOrEqual(t, len(pending), most)
		s.at(10*time.Second, func() {
			s.mu.Lock()
			delete(pending, call.ID)
			for i := range waiting {
				if waiting[i].ID == call.ID {
					waiting = append(append([]workflows.WebhookDeliveryRef{}, waiting[:i]...), waiting[i+1:]...)
					break
				}
			}
			s.mu.Unlock()
			require.NoError(t, s.env.CompleteActivity(call.token, nil, nil))
		})
		return activity.ErrResultPending
	}
	var cancelled *updateResult
	s.at(time.Second, func() { cancelled = s.update(workflows.CancelName, workflows.Cancel{}) })
	s.at(2*time.Second, func() { cancelled.requireDone(t) })
	require.True(t, s.run())
	require.Empty(t, waiting)
	for _, hook := range s.webhooks {
		s.requireEvents(hook, models.EventCreated, models.EventCancelled)
	}
}

// A summary is as long as Temporal accepts, whatever a name or a host is made of.
func TestSummary_isBounded(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Guía 7K2QX-M4TN8C · Tienda A", workflows.Summary("Guía 7K2QX-M4TN8C · Tienda A"))
	for _, letter := range []string{"x", "ñ", "→", "😀", "<", "\x00", "\xff"} {
		short := workflows.Summary("Guía " + strings.Repeat(letter, 1<<16))
		encoded, err := json.Marshal(short)
		require.NoError(t, err)
		require.LessOrEqual(t, len(encoded), 400, letter)
		require.True(t, strings.HasPrefix(short, "Guía "), letter)
	}
}
