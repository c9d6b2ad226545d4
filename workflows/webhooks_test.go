package workflows_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"despacho/models"
	"despacho/workflows"
)

// fullLifecycle receives, assigns and delivers the order, a minute apart.
func (s *harness) fullLifecycle() {
	s.stored.Deliveries = s.addDeliveries(models.EventCreated)
	s.at(1*time.Minute, func() { s.signal(workflows.ReceivedName, nil) })
	s.at(2*time.Minute, func() { s.signal(workflows.AssignedName, workflows.Assigned{RiderID: riderA}) })
	s.at(3*time.Minute, func() { s.signal(workflows.DeliveredName, nil) })
}

// callsOf lists the calls to one webhook.
func (s *harness) callsOf(hook webhook) []webhookCall {
	return slices.DeleteFunc(slices.Clone(s.sent), func(call webhookCall) bool { return call.WebhookID != hook.id })
}

func (s *harness) requireEvents(hook webhook, want ...models.Event) {
	s.t.Helper()
	var events []models.Event
	for _, call := range s.callsOf(hook) {
		events = append(events, call.Event)
	}
	require.Equal(s.t, want, events)
}

// Every event is sent to every webhook in order; reception has none.
func TestWebhooks_everyEventInOrder(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	s.webhooks = []webhook{{id: uuid.New()}, {id: uuid.New(), retry: true}}
	s.fullLifecycle()
	require.True(t, s.run())
	for _, hook := range s.webhooks {
		s.requireEvents(hook, models.EventCreated, models.EventAssigned, models.EventDelivered)
	}
}

// A hanging receiver delays neither the order nor another receiver, only its own later events.
func TestWebhooks_aSlowReceiverDelaysOnlyItself(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	slow, quick := webhook{id: uuid.New()}, webhook{id: uuid.New()}
	s.webhooks = []webhook{slow, quick}
	s.receive = func(call webhookCall) error {
		if call.WebhookID != slow.id {
			return nil
		}
		s.beforeReply(func() {
			s.at(10*time.Minute, func() { require.NoError(t, s.env.CompleteActivity(call.token, nil, nil)) })
		})
		return activity.ErrResultPending
	}
	s.fullLifecycle()
	require.True(t, s.run(), "the run ends when the last receiver has been told")
	require.Equal(t, start.Add(3*time.Minute), s.written[2].At)

	s.requireEvents(quick, models.EventCreated, models.EventAssigned, models.EventDelivered)
	for i, at := range []time.Duration{0, 2 * time.Minute, 3 * time.Minute} {
		require.Equal(t, at, s.callsOf(quick)[i].at)
	}
	s.requireEvents(slow, models.EventCreated, models.EventAssigned, models.EventDelivered)
	for i, at := range []time.Duration{0, 10 * time.Minute, 20 * time.Minute} {
		require.Equal(t, at, s.callsOf(slow)[i].at, "one after the other")
	}
}

// With retries the next attempt may be hours away: later events wait only briefly for it.
func TestWebhooks_laterEventsDoNotWaitForRetries(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	hook := webhook{id: uuid.New(), retry: true}
	s.webhooks = []webhook{hook}
	s.receive = func(call webhookCall) error {
		if call.Event == models.EventCreated && call.attempt < 4 {
			return workflows.RetryWebhook("503", 2*time.Hour)
		}
		return nil
	}
	s.fullLifecycle()
	require.True(t, s.run())
	s.requireEvents(hook, models.EventCreated, models.EventAssigned, models.EventDelivered, models.EventCreated, models.EventCreated, models.EventCreated)
	calls := s.callsOf(hook)
	require.Equal(t, 2*time.Minute+10*time.Second, calls[1].at)
	require.Equal(t, 3*time.Minute, calls[2].at, "the assignment before it has been told")
	for i, at := range []time.Duration{2 * time.Hour, 4 * time.Hour, 6 * time.Hour} {
		require.Equal(t, at, calls[3+i].at, "the activity says when to try again")
	}
}

// Retries that are turned off while an event waits for its next one do not make the later events
// wait for it.
func TestWebhooks_laterEventsDoNotWaitForRetriesThatWereTurnedOff(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	hook := webhook{id: uuid.New(), retry: true}
	s.webhooks = []webhook{hook}
	s.receive = func(call webhookCall) error {
		if call.Event == models.EventCreated && call.attempt == 1 {
			return workflows.RetryWebhook("503", 2*time.Hour)
		}
		return nil
	}
	s.fullLifecycle()
	s.at(90*time.Second, func() { s.webhooks[0].retry = false })
	require.True(t, s.run())
	s.requireEvents(hook, models.EventCreated, models.EventAssigned, models.EventDelivered, models.EventCreated)
	require.Equal(t, 2*time.Minute+10*time.Second, s.callsOf(hook)[1].at)
}

// A failed delivery affects nothing else.
func TestWebhooks_aFailedDeliveryFailsNothingElse(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	hook := webhook{id: uuid.New()}
	s.webhooks = []webhook{hook}
	s.receive = func(webhookCall) error { return workflows.WebhookFailed("the receiver answered 500") }
	s.fullLifecycle()
	require.True(t, s.run())
	s.requireEvents(hook, models.EventCreated, models.EventAssigned, models.EventDelivered)
	require.Equal(t, models.StatusDelivered, s.stored.Status)
}

// A receiver that fails fills no log with errors and raises no alert about activities.
func TestWebhooks_aReceiverThatFailsIsNoErrorOfTheService(t *testing.T) {
	t.Parallel()
	for _, err := range []error{workflows.WebhookFailed("the receiver answered 410"), workflows.RetryWebhook("the receiver answered 500", time.Minute)} {
		var failure *temporal.ApplicationError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, temporal.ApplicationErrorCategoryBenign, failure.Category(), err)
	}
}

// Internal errors, such as a database outage, are retried whatever the webhook's retry setting is.
func TestWebhooks_internalErrorsAreRetried(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	hook := webhook{id: uuid.New()}
	s.webhooks = []webhook{hook}
	s.receive = func(call webhookCall) error {
		if call.attempt < 5 {
			return errDown
		}
		return nil
	}
	s.at(time.Minute, func() { s.signal(workflows.CancelName, nil) })
	require.True(t, s.run())
	require.Len(t, s.callsOf(hook), 5)
}

// The run of a finished order stays open until its webhook calls complete, and refuses every move.
func TestWebhooks_theRunEndsAfterTheLastCall(t *testing.T) {
	t.Parallel()
	s := newSlowHarness(t)
	var late *updateResult
	s.at(time.Hour, func() { s.signal(workflows.CancelName, nil) })
	s.at(90*time.Minute, func() { late = s.update(workflows.ReceivedName, workflows.Received{}) })
	require.True(t, s.run())
	late.requireRefused(t, models.MoveReceive, models.StatusCancelled)
	require.Equal(t, start.Add(2*time.Hour), s.env.Now().UTC())
}

// An event that somebody has redelivered is not waited for: the run of an ended order need not stay
// open until its next retry, hours later. What is still pending is waited for.
func TestWebhooks_aRedeliveredEventDoesNotHoldTheRun(t *testing.T) {
	t.Parallel()
	for redelivered, ends := range map[bool]time.Duration{true: 2 * time.Minute, false: time.Minute + 2*time.Hour} {
		s := newHarness(t, registered)
		s.webhooks = []webhook{{id: uuid.New(), retry: true}}
		s.receive = func(call webhookCall) error {
			if call.attempt == 1 {
				return workflows.RetryWebhook("503", 2*time.Hour)
			}
			return nil
		}
		s.at(time.Minute, func() { s.signal(workflows.CancelName, nil) })
		s.at(2*time.Minute, func() {
			if redelivered {
				s.stored.Deliveries = nil
			}
			s.signal(workflows.RefreshName, nil)
		})
		require.True(t, s.run())
		require.Equal(t, start.Add(ends), s.env.Now().UTC(), "redelivered: %t", redelivered)
	}
}
