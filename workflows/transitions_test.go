package workflows_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"despacho/models"
	"despacho/workflows"
)

// states are all the states of an order.
var states = map[string]models.State{
	"registered":            registered,
	"received":              {Status: models.StatusReceived},
	"assigned":              {Status: models.StatusAssigned, RiderID: &riderA},
	"failed":                {Status: models.StatusAssigned, Substatus: models.SubstatusAttemptFailed, RiderID: &riderA},
	"awaiting a decision":   {Status: models.StatusReceived, Substatus: models.SubstatusAwaitingDecision},
	"retry with the rider":  {Status: models.StatusAssigned, Substatus: models.SubstatusRetryPlanned, RiderID: &riderA},
	"retry at the counter":  {Status: models.StatusReceived, Substatus: models.SubstatusRetryPlanned},
	"returning":             {Status: models.StatusReceived, Substatus: models.SubstatusReturning},
	"returning with rider":  {Status: models.StatusAssigned, Substatus: models.SubstatusReturning, RiderID: &riderA},
	"returned":              {Status: models.StatusCancelled, Substatus: models.SubstatusReturned, CancelledBy: models.ByOperator},
	"delivered":             {Status: models.StatusDelivered, RiderID: &riderA},
	"cancelled by store":    {Status: models.StatusCancelled, CancelledBy: models.ByStore},
	"cancelled by operator": {Status: models.StatusCancelled, CancelledBy: models.ByOperator},
	"cancelled by auto":     {Status: models.StatusCancelled, CancelledBy: models.ByAuto},
}

// message is a signal or an update of the order's workflow.
type message struct {
	move    models.Move
	by      models.Actor
	rider   *uuid.UUID
	content any
	// limited sets OnlyRegistered on a cancel.
	limited bool
}

var messages = map[string]message{
	"cancel by the store":             {move: models.MoveCancel, by: models.ByStore, content: models.Message{By: models.ByStore, Reason: "sin stock"}},
	"cancel by the operator":          {move: models.MoveCancel, by: models.ByOperator, content: models.Message{By: models.ByOperator}},
	"cancel by nobody in particular":  {move: models.MoveCancel, by: models.ByOperator, content: models.Message{}},
	"cancel in the timer's name":      {move: models.MoveCancel, by: models.ByAuto, content: models.Message{By: models.ByAuto}},
	"cancel only while registered":    {move: models.MoveCancel, by: models.ByOperator, limited: true, content: models.Message{By: models.ByOperator, OnlyRegistered: true}},
	"received":                        {move: models.MoveReceive, by: models.ByOperator, content: models.Message{}},
	"assigned to rider A":             {move: models.MoveAssign, by: models.ByOperator, rider: &riderA, content: models.Message{RiderID: &riderA}},
	"assigned to rider B":             {move: models.MoveAssign, by: models.ByOperator, rider: &riderB, content: models.Message{RiderID: &riderB}},
	"delivered":                       {move: models.MoveDeliver, by: models.ByOperator, content: models.Message{Photo: "p.jpg"}},
	"attempt failed":                  {move: models.MoveFail, by: models.ByOperator, content: models.Message{Reason: "absent"}},
	"retry decided by the store":      {move: models.MoveRetry, by: models.ByStore, content: models.Message{By: models.ByStore}},
	"retry decided by the operator":   {move: models.MoveRetry, by: models.ByOperator, content: models.Message{On: "2060-03-04"}},
	"return decided by the store":     {move: models.MoveReturn, by: models.ByStore, content: models.Message{By: models.ByStore}},
	"given back":                      {move: models.MoveHandBack, by: models.ByOperator, content: models.Message{}},
	"delivered with nothing to prove": {move: models.MoveDeliver, by: models.ByOperator, content: models.Message{}},
}

// verdict is the transition table's result for the message.
func (m message) verdict(state models.State) (models.State, models.Verdict) {
	if m.limited && state.Status != models.StatusRegistered {
		return state, models.Refused
	}
	return state.Decide(m.move, m.by, m.rider)
}

// asSignal is the message sent as a signal: it counts as the operator's, whatever actor it names.
func (m message) asSignal() message {
	m.by = models.ByOperator
	return m
}

// Every combination of state and message, as a signal and as an update, before and after the order
// is loaded. A second message is decided on the state that the first one left.
func TestOrder_everyTransition(t *testing.T) {
	t.Parallel()
	for stateName, state := range states {
		for messageName, m := range messages {
			for _, kind := range []string{"signal", "update"} {
				for _, moment := range []string{"loading", "loaded"} {
					t.Run(fmt.Sprintf("%s/%s/%s/%s", stateName, messageName, kind, moment), func(t *testing.T) {
						t.Parallel()
						runTransition(t, state, m, kind == "update", moment == "loading")
					})
				}
			}
		}
	}
}

func runTransition(t *testing.T, state models.State, m message, asUpdate, whileLoading bool) {
	s := newHarness(t, state)
	s.stored.AutoCancelAt = start.Add(2 * runTimeout)
	// A pending webhook call keeps the run of a finished order open.
	s.webhooks = []webhook{webhook(uuid.New())}
	s.stored.Calls = s.addCalls(models.EventCreated)
	s.webhooks = nil
	s.receive = func(webhookCall) error { return activity.ErrResultPending }
	if !asUpdate {
		m = m.asSignal()
	}
	var answer, second *updateResult
	send := func() {
		if asUpdate {
			answer = s.update(string(m.move), m.content)
		} else {
			s.signal(string(m.move), m.content)
		}
	}
	if whileLoading {
		s.beforeLoad = func() error { s.beforeLoad = nil; s.beforeReply(send); return nil }
	} else {
		s.at(5*time.Second, send)
	}
	probe := messages["assigned to rider B"]
	s.at(10*time.Second, func() { second = s.update(string(probe.move), probe.content) })
	s.at(slowCall, func() { require.NoError(t, s.env.CompleteActivity(s.sent[0].token, nil, nil)) })
	ended := s.runLoaded()

	after, verdict := m.verdict(state)
	final, secondVerdict := probe.verdict(after)
	require.Equal(t, final.Status.Ended(), ended)
	if asUpdate {
		requireAnswer(t, answer, m, state, verdict)
		require.Equal(t, whileLoading || verdict != models.Refused, answer.accepted, "an illegal move is refused before it enters history")
	} else if verdict == models.Refused {
		require.Contains(t, s.log.String(), "signal refused")
	}
	requireAnswer(t, second, probe, after, secondVerdict)

	var want []message
	if verdict == models.Applied {
		want = append(want, m)
	}
	if secondVerdict == models.Applied {
		want = append(want, probe)
	}
	require.Len(t, s.written, len(want))
	for i, move := range s.written {
		require.Equal(t, want[i].move, move.Move)
		require.Equal(t, want[i].by, move.By)
		require.Equal(t, s.orderID, move.OrderID)
		require.Equal(t, i+2, move.Seq)
	}
	if verdict == models.Applied {
		require.Equal(t, after.Status, s.written[0].To)
		require.Equal(t, after.Substatus, s.written[0].Substatus)
		require.Equal(t, m.content, s.written[0].Message)
	}
	require.True(t, final.Equal(s.stored.State), "%v is stored, not %v", s.stored.State, final)
}

func requireAnswer(t *testing.T, answer *updateResult, m message, state models.State, verdict models.Verdict) {
	t.Helper()
	if verdict == models.Refused {
		answer.requireRefused(t, m.move, state.Status)
		return
	}
	answer.requireDone(t)
}

// Signals may have no content.
func TestOrder_signalsWithoutContent(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]any{"an empty object": map[string]any{}, "nothing": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, registered)
			s.at(1*time.Minute, func() { s.signal(workflows.ReceivedName, content) })
			s.at(2*time.Minute, func() { s.signal(workflows.AssignedName, map[string]any{"rider_id": riderA}) })
			s.at(3*time.Minute, func() { s.signal(workflows.DeliveredName, content) })
			require.True(t, s.run())
			require.Equal(t, []models.Move{models.MoveReceive, models.MoveAssign, models.MoveDeliver}, s.moves())
		})
	}
}

// Malformed messages are dropped and do not affect the order.
func TestOrder_malformedMessagesAreDropped(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	var refused, answered *updateResult
	s.at(1*time.Minute, func() { s.signal(workflows.CancelName, "not an object") })
	s.at(2*time.Minute, func() { s.signal(workflows.AssignedName, map[string]any{"rider_id": "nobody"}) })
	s.at(3*time.Minute, func() { refused = s.update(workflows.CancelName, []int{1}) })
	s.at(4*time.Minute, func() { answered = s.update(workflows.ReceivedName, models.Message{}) })
	s.at(5*time.Minute, func() { s.signal(workflows.CancelName, models.Message{Reason: "de verdad"}) })
	require.True(t, s.run())
	require.True(t, refused.done)
	require.Error(t, refused.err)
	require.False(t, refused.accepted)
	answered.requireDone(t)
	require.Equal(t, []models.Move{models.MoveReceive, models.MoveCancel}, s.moves())
	require.Equal(t, models.Message{Reason: "de verdad"}, s.written[1].Message)
}

// Nothing of a malformed signal gets into the next one of its name, which arrives with it: neither
// into one that leaves its fields out nor into one without any input.
func TestOrder_malformedSignalsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]any{"an empty one": map[string]any{}, "no input": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, registered)
			var once sync.Once
			s.beforeWrite = func(workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
				once.Do(func() { // they wait for the reception, and are read together
					s.beforeReply(func() {
						s.signal(workflows.CancelName, map[string]any{"reason": "otro pedido", "expected_seq": 7, "note": 5})
						s.signal(workflows.CancelName, next)
					})
				})
				return nil, nil
			}
			s.at(time.Minute, func() { s.signal(workflows.ReceivedName, nil) })
			require.True(t, s.run())
			require.Equal(t, []models.Move{models.MoveReceive, models.MoveCancel}, s.moves())
			require.Zero(t, s.written[1].Message)
			require.Contains(t, s.log.String(), "malformed signal dropped")
		})
	}
}

// A malformed signal does not block the timer or other messages.
func TestOrder_malformedSignalDoesNotHoldTheTimer(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	s.at(time.Minute, func() { s.signal(workflows.CancelName, "not an object") })
	require.True(t, s.run())
	require.Equal(t, []models.Move{models.MoveCancel}, s.moves())
	require.Equal(t, start.Add(24*time.Hour), s.written[0].At)
}
