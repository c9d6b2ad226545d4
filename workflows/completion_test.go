package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/workflows"
)

// Messages that arrive while the final move is being written are answered before the run completes.
func TestCompletion_handlersAreDrained(t *testing.T) {
	t.Parallel()
	s := newHarness(t, models.State{Status: models.StatusAssigned, RiderID: &riderA})
	var delivered *updateResult
	var late []*updateResult
	s.beforeWrite = func(workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		s.beforeReply(func() {
			for range 3 {
				late = append(late, s.update(workflows.CancelName, models.Message{By: models.ByOperator}))
				late = append(late, s.update(workflows.AssignedName, models.Message{RiderID: &riderB}))
			}
		})
		return nil, nil
	}
	s.at(time.Minute, func() { delivered = s.update(workflows.DeliveredName, models.Message{}) })
	require.True(t, s.run())
	delivered.requireDone(t)
	require.Len(t, late, 6)
	for i, answer := range late {
		require.True(t, answer.accepted, "it was legal when it came")
		answer.requireRefused(t, []models.Move{models.MoveCancel, models.MoveAssign}[i%2], models.StatusDelivered)
	}
	require.Equal(t, []models.Move{models.MoveDeliver}, s.moves())
}

// A signal in the workflow task of the final move is handled before the run completes.
func TestCompletion_signalsAreDrained(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	s.beforeWrite = func(workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		s.beforeReply(func() {
			s.signal(workflows.ReceivedName, nil)
			s.signal(workflows.AssignedName, models.Message{RiderID: &riderA})
		})
		return nil, nil
	}
	s.at(time.Minute, func() { s.signal(workflows.CancelName, nil) })
	require.True(t, s.run())
	require.Equal(t, []models.Move{models.MoveCancel}, s.moves())
	for _, name := range []string{workflows.ReceivedName, workflows.AssignedName} {
		require.Contains(t, s.log.String(), "signal="+name+" status=cancelled")
	}
}

// Signals that arrive before the order is loaded are all handled.
func TestCompletion_signalsBeforeTheOrderIsLoaded(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	s.beforeLoad = func() error {
		s.beforeLoad = nil // once
		s.beforeReply(func() {
			s.signal(workflows.ReceivedName, nil)
			s.signal(workflows.AssignedName, models.Message{RiderID: &riderA})
			s.signal(workflows.AssignedName, models.Message{RiderID: &riderB})
			s.signal(workflows.DeliveredName, nil)
		})
		return nil
	}
	require.True(t, s.runLoaded())
	require.Equal(t, []models.Move{models.MoveReceive, models.MoveAssign, models.MoveAssign, models.MoveDeliver}, s.moves())
	require.Equal(t, riderB, *s.stored.RiderID)
}

// Cancelling the workflow in Temporal does not cancel the order or its timer.
func TestCompletion_workflowCancellationDoesNotCancelTheOrder(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]struct {
		send func(s *harness) *updateResult
		want []models.Move
	}{
		"moves go on": {
			func(s *harness) *updateResult { return s.update(workflows.ReceivedName, models.Message{}) }, []models.Move{models.MoveReceive},
		},
		"the timer goes on": {func(*harness) *updateResult { return nil }, []models.Move{models.MoveCancel}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, registered)
			var answer *updateResult
			s.at(1*time.Minute, s.env.CancelWorkflow)
			s.at(2*time.Minute, func() { answer = play.send(s) })
			s.run()
			require.Equal(t, play.want, s.moves())
			if answer != nil {
				answer.requireDone(t)
			}
		})
	}
}
