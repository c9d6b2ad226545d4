package workflows_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
	"despacho/workflows"
)

// requireSuperseded runs the workflow until another run takes over from the row.
func (s *harness) requireSuperseded() {
	s.t.Helper()
	snapshot := s.stored
	s.env.ExecuteWorkflow(workflows.Order, workflows.OrderInput{OrderID: s.orderID, Snapshot: &snapshot})
	var continued *workflow.ContinueAsNewError
	require.ErrorAs(s.t, s.env.GetWorkflowError(), &continued)
	require.Equal(s.t, workflows.OrderWorkflowName, continued.WorkflowType.Name)
}

// store makes the database an older copy.
func (s *harness) store(status models.Status, seq int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored.Status, s.stored.CancelledBy, s.stored.RiderID, s.stored.Seq = status, "", nil, seq
}

// A run whose row is from an older copy of the database gives way to one that starts from the row:
// its timer, its pending calls and the outcomes of its updates are not the row's.
func TestRefresh_ofAnOlderRow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		runs   models.State
		moves  func(s *harness)
		status models.Status
		seq    int
	}{
		"behind":                              {registered, func(s *harness) { s.update(workflows.ReceivedName, workflows.Received{}) }, models.StatusRegistered, 1},
		"another one with the same number":    {models.State{Status: models.StatusReceived}, func(*harness) {}, models.StatusRegistered, 1},
		"behind a run that only waits to end": {models.State{Status: models.StatusReceived}, func(s *harness) { s.update(workflows.CancelName, workflows.Cancel{}) }, models.StatusReceived, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, test.runs)
			s.webhooks = []webhook{{id: uuid.New(), retry: true}}
			s.receive = func(webhookCall) error { return workflows.RetryWebhook("down", 24*time.Hour) }
			s.at(time.Hour, func() { test.moves(s) })
			s.at(2*time.Hour, func() { s.store(test.status, test.seq) })
			s.at(3*time.Hour, func() { s.signal(workflows.RefreshName, nil) })
			s.requireSuperseded()
			require.Equal(t, 3*time.Hour, s.env.Now().Sub(start))
		})
	}
}

// A move finds out by itself: it is made on top of the row, and then another run takes over.
func TestMove_onAnOlderRow(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	s.webhooks = []webhook{{id: uuid.New()}}
	s.beforeWrite = func(move workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if move.Seq == s.stored.Seq+1 {
			return nil, nil
		}
		row := s.stored
		return &workflows.ApplyMoveResult{Current: &row}, nil
	}
	var received, cancelled *updateResult
	s.at(time.Hour, func() { received = s.update(workflows.ReceivedName, workflows.Received{}) })
	s.at(2*time.Hour, func() { s.store(models.StatusRegistered, 1) })
	s.at(3*time.Hour, func() { cancelled = s.update(workflows.CancelName, workflows.Cancel{By: models.ByOperator}) })
	s.requireSuperseded()
	received.requireDone(t)
	cancelled.requireDone(t)
	require.Equal(t, []models.Move{models.MoveReceive, models.MoveCancel}, s.moves())
	require.Equal(t, 2, s.written[1].Seq)
	require.NotContains(t, s.events(), models.EventCancelled, "the next run sends it")
}
