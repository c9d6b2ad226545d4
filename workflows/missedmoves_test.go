package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/workflows"
)

// A crash can leave a written move that never entered the history. The next move has the same seq
// and must not be mistaken for it.
func TestEntryID_tellsMovesOfTheSameNumberApart(t *testing.T) {
	t.Parallel()
	s := newHarness(t, models.State{Status: models.StatusReceived})
	const unknownRider = "El motorizado no existe o no está activo."
	s.beforeWrite = func(move workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		if move.Move == models.MoveAssign {
			return &workflows.ApplyMoveResult{Refused: unknownRider}, nil
		}
		return nil, nil
	}
	s.at(time.Minute, func() { s.signal(workflows.AssignedName, models.Message{RiderID: &riderA}) })
	s.at(2*time.Minute, func() { s.signal(workflows.AssignedName, models.Message{RiderID: &riderB}) })
	s.at(3*time.Minute, func() { s.signal(workflows.AssignedName, models.Message{RiderID: &riderA}) })
	s.at(4*time.Minute, func() { s.update(workflows.CancelName, models.Message{By: models.ByOperator}) })
	require.True(t, s.run())
	require.Len(t, s.attempts, 4)
	for _, move := range s.attempts {
		require.Equal(t, 2, move.Seq)
	}
	require.NotEqual(t, s.attempts[0].EntryID, s.attempts[2].EntryID, "another signal")
	require.NotEqual(t, s.attempts[0].EntryID, s.attempts[1].EntryID, "another rider")
	require.NotEqual(t, s.attempts[0].EntryID, s.attempts[3].EntryID, "another move")
}

// On refresh a run restores the state of an order that was moved outside it.
func TestRefresh(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stands workflows.Snapshot
		ends   bool
		detail string
	}{
		"delivered meanwhile": {workflows.Snapshot{State: models.State{Status: models.StatusDelivered}, Seq: 4}, true, "**Entregado**"},
		"received meanwhile":  {workflows.Snapshot{State: models.State{Status: models.StatusReceived}, Seq: 2}, false, "**Recibido**"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, registered)
			s.at(time.Hour, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.stored.Status, s.stored.Seq = test.stands.Status, test.stands.Seq
			})
			s.at(2*time.Hour, func() { s.signal(workflows.RefreshName, nil) })
			s.at(3*time.Hour, func() { require.Contains(t, s.details(), test.detail) })
			require.Equal(t, test.ends, s.run())
			require.Empty(t, s.moves(), "the timer has nothing to cancel any more")
		})
	}
}

func TestRefresh_ofWhatTheRunKnows(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	s.at(time.Hour, func() { s.signal(workflows.RefreshName, nil) })
	require.True(t, s.run())
	require.Equal(t, []models.Move{models.MoveCancel}, s.moves(), "the timer goes on")
}

// A move that finds the order already moved makes the run restore its state.
func TestMove_afterAMissedMove(t *testing.T) {
	t.Parallel()
	s := newHarness(t, models.State{Status: models.StatusAssigned, RiderID: &riderA})
	s.beforeWrite = func(workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		return &workflows.ApplyMoveResult{Current: &workflows.Snapshot{State: models.State{Status: models.StatusDelivered}, Seq: 2}}, nil
	}
	var again *updateResult
	s.at(time.Minute, func() { again = s.update(workflows.DeliveredName, models.Message{}) })
	require.True(t, s.run(), "nothing is left to be done")
	again.requireRefused(t, models.MoveDeliver, models.StatusDelivered)
	require.Contains(t, s.details(), "**Entregado**")
}
