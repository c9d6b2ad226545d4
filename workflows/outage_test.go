package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/workflows"
)

// outage is longer than any timeout in the workflow except the auto-cancel, which also waits for
// the database.
const outage = 6 * time.Hour

var errDown = errors.New("the database is down")

// downUntil makes the database fail until the given time after the start.
func (s *harness) downUntil(end time.Duration) func() error {
	return func() error {
		if s.env.Now().Before(start.Add(end)) {
			return errDown
		}
		return nil
	}
}

// A move requested during an outage is written once after it, with the time of its decision and
// with the same entry id in every attempt.
func TestOutage_movesWaitForTheDatabase(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(s *harness) *updateResult{
		"a signal": func(s *harness) *updateResult { s.signal(workflows.ReceivedName, nil); return nil },
		"an update": func(s *harness) *updateResult {
			return s.update(workflows.ReceivedName, models.Message{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, registered)
			down := s.downUntil(time.Hour + outage)
			s.beforeWrite = func(workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) { return nil, down() }
			var answer *updateResult
			s.at(time.Hour, func() { answer = ask(s) })
			require.False(t, s.run())
			require.Equal(t, []models.Move{models.MoveReceive}, s.moves())
			require.Equal(t, start.Add(time.Hour), s.written[0].At)
			require.Greater(t, len(s.attempts), 10)
			for _, try := range s.attempts {
				require.Equal(t, s.written[0], try, "every try is the same move")
			}
			if answer != nil {
				answer.requireDone(t)
			}
		})
	}
}

func TestOutage_theTimersCancelWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	down := s.downUntil(24*time.Hour + outage)
	s.beforeWrite = func(workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) { return nil, down() }
	require.True(t, s.run())
	require.Equal(t, []models.Move{models.MoveCancel}, s.moves())
	require.Equal(t, start.Add(24*time.Hour), s.written[0].At)
}

func TestOutage_aLateStartWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	s.beforeLoad = s.downUntil(outage)
	var received *updateResult
	s.at(time.Hour, func() { received = s.update(workflows.ReceivedName, models.Message{}) })
	s.at(outage+time.Hour, func() { s.signal(workflows.CancelName, nil) })
	require.True(t, s.runLoaded())
	received.requireDone(t)
	require.Equal(t, []models.Move{models.MoveReceive, models.MoveCancel}, s.moves())
}

// Moves requested during an outage are decided in sequence, each on the state that the previous one
// left.
func TestOutage_movesAskedForMeanwhileAreDecidedInTurn(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	down := s.downUntil(time.Hour + outage)
	s.beforeWrite = func(workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) { return nil, down() }
	var received, cancelled, assigned, again *updateResult
	s.at(1*time.Hour, func() { received = s.update(workflows.ReceivedName, models.Message{}) })
	s.at(2*time.Hour, func() { cancelled = s.update(workflows.CancelName, models.Message{By: models.ByStore}) })
	s.at(3*time.Hour, func() { assigned = s.update(workflows.AssignedName, models.Message{RiderID: &riderA}) })
	s.at(4*time.Hour, func() { again = s.update(workflows.ReceivedName, models.Message{}) })
	require.False(t, s.run())
	received.requireDone(t)
	cancelled.requireRefused(t, models.MoveCancel, models.StatusReceived)
	assigned.requireRefused(t, models.MoveAssign, models.StatusRegistered)
	again.requireRefused(t, models.MoveReceive, models.StatusReceived)
	require.True(t, cancelled.accepted, "it was legal when it came")
	require.False(t, assigned.accepted, "it was not")
	require.Equal(t, []models.Move{models.MoveReceive}, s.moves())
}

// The database can refuse a move too: the caller gets the reason and the order does not change.
func TestApply_refused(t *testing.T) {
	t.Parallel()
	s := newHarness(t, models.State{Status: models.StatusReceived})
	s.beforeWrite = func(move workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		if move.Move == models.MoveAssign && *move.Message.RiderID == riderA {
			return &workflows.ApplyMoveResult{Refused: "El motorizado no existe o no está activo."}, nil
		}
		return nil, nil
	}
	var unknown, known *updateResult
	s.at(1*time.Minute, func() { unknown = s.update(workflows.AssignedName, models.Message{RiderID: &riderA}) })
	s.at(2*time.Minute, func() { s.signal(workflows.AssignedName, models.Message{RiderID: &riderA}) })
	s.at(3*time.Minute, func() { known = s.update(workflows.AssignedName, models.Message{RiderID: &riderB}) })
	s.at(4*time.Minute, func() { s.signal(workflows.DeliveredName, nil) })
	require.True(t, s.run())
	refusal, refused := workflows.AsRefusal(unknown.err)
	require.True(t, refused)
	require.Equal(t, workflows.Refusal{
		Move: models.MoveAssign, Status: models.StatusReceived, Reason: "El motorizado no existe o no está activo.",
	}, refusal)
	require.Contains(t, s.log.String(), "signal refused")
	known.requireDone(t)
	require.Equal(t, []models.Move{models.MoveAssign, models.MoveDeliver}, s.moves())
	require.Equal(t, []int{2, 3}, []int{s.written[0].Seq, s.written[1].Seq}, "a refused move takes no place in the story")
}

// A run whose order was moved by another run, for example after a reset, restores the actual state
// and decides again.
func TestApply_movedByAnotherRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		current models.State
		refused bool
	}{
		"to where the move is still legal": {models.State{Status: models.StatusAssigned, RiderID: &riderA}, false},
		"to where it is not":               {models.State{Status: models.StatusDelivered, RiderID: &riderA}, true},
		"to where it has happened already": {models.State{Status: models.StatusAssigned, RiderID: &riderB}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, models.State{Status: models.StatusReceived})
			current := workflows.Snapshot{State: models.State{Status: c.current.Status, RiderID: c.current.RiderID}, Seq: 7, GuideCode: s.stored.GuideCode}
			s.beforeWrite = func(move workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
				if move.Seq != current.Seq+1 {
					return &workflows.ApplyMoveResult{Current: &current}, nil
				}
				return nil, nil
			}
			var answer *updateResult
			s.at(time.Minute, func() {
				s.mu.Lock()
				s.stored = current
				s.mu.Unlock()
				answer = s.update(workflows.AssignedName, models.Message{RiderID: &riderB})
			})
			ended := s.run()
			probe := messages["assigned to rider B"]
			after, verdict := probe.verdict(c.current)
			requireAnswer(t, answer, probe, c.current, verdict)
			require.Equal(t, c.refused, verdict == models.Refused)
			require.Equal(t, after.Status.Ended(), ended)
			if verdict == models.Applied {
				require.Len(t, s.written, 1)
				require.Equal(t, 8, s.written[0].Seq)
			} else {
				require.Empty(t, s.written)
			}
		})
	}
}

// The timer of a run with outdated state does not cancel an order that was received meanwhile.
func TestApply_theTimerOfARunThatFellBehind(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	current := workflows.Snapshot{State: models.State{Status: models.StatusReceived}, Seq: 2, GuideCode: s.stored.GuideCode}
	s.beforeWrite = func(move workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		if move.By == models.ByAuto {
			return &workflows.ApplyMoveResult{Current: &current}, nil
		}
		return nil, nil
	}
	s.at(25*time.Hour, func() { s.signal(workflows.AssignedName, models.Message{RiderID: &riderA}) })
	require.False(t, s.run())
	require.Equal(t, []models.Move{models.MoveAssign}, s.moves())
	require.Equal(t, 3, s.written[0].Seq)
}
