package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/workflows"
)

// A move that finds the row of an older copy of the database is made on top of it.
func TestMove_onAnOlderRow(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
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
	s.at(time.Hour, func() { received = s.update(workflows.ReceivedName, models.Message{}) })
	s.at(2*time.Hour, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stored.Status, s.stored.Seq = models.StatusRegistered, 1
	})
	s.at(3*time.Hour, func() { cancelled = s.update(workflows.CancelName, models.Message{}) })
	require.True(t, s.run())
	received.requireDone(t)
	cancelled.requireDone(t)
	require.Equal(t, []models.Move{models.MoveReceive, models.MoveCancel}, s.moves())
	require.Equal(t, 2, s.written[1].Seq)
}
