package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"despacho/internal/money"
	"despacho/models"
	"despacho/workflows"
)

func pointer[T any](value T) *T { return &value }

// invalidMessages are refused over HTTP with 400; over Temporal nothing else checks them.
var invalidMessages = map[string]models.Message{
	"an assignment to nobody":   {Move: models.MoveAssign},
	"a reason with NUL":         models.Message{Move: models.MoveCancel, Reason: "a\x00b"},
	"a reason with an escape":   models.Message{Move: models.MoveCancel, Reason: "\x1b[2J"},
	"a reason that is too long": models.Message{Move: models.MoveCancel, Reason: strings.Repeat("á", 256)},
	"a note that is too long":   models.Message{Move: models.MoveCancel, Note: strings.Repeat("á", 1001)},
	"a photo taken in the year 10000": models.Message{
		Move:       models.MoveDeliver,
		CapturedAt: pointer(time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -12*3600))),
	},
	"a photo taken in 1999": models.Message{Move: models.MoveDeliver, CapturedAt: pointer(time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC))},
	"a latitude of 91":      models.Message{Move: models.MoveDeliver, Lat: pointer(91.0), Lng: pointer(0.0)},
	"a latitude alone":      models.Message{Move: models.MoveDeliver, Lat: pointer(1.0)},
}

// An invalid message is refused, as an update before it enters the history, and never reaches the
// database; the order goes on.
func TestMessages_invalidOnesAreRefused(t *testing.T) {
	t.Parallel()
	for name, message := range invalidMessages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, models.State{Status: models.StatusAssigned, RiderID: &riderA})
			var refused *updateResult
			s.at(1*time.Minute, func() { refused = s.update(string(message.Move), message) })
			s.at(2*time.Minute, func() { s.signal(string(message.Move), message) })
			s.at(3*time.Minute, func() { s.signal(workflows.AssignedName, models.Message{RiderID: &riderB}) })
			require.False(t, s.run())
			require.Error(t, refused.err)
			require.False(t, refused.accepted)
			refusal, ok := workflows.AsRefusal(refused.err)
			require.True(t, ok)
			require.NotEmpty(t, refusal.Reason)
			require.Contains(t, s.log.String(), "signal refused")
			require.Len(t, s.attempts, 1, "only the assignment reaches the database")
			require.Equal(t, []models.Move{models.MoveAssign}, s.moves())
		})
	}
}

// The limits themselves are valid.
func TestMessages_limits(t *testing.T) {
	t.Parallel()
	s := newHarness(t, models.State{Status: models.StatusAssigned, RiderID: &riderA})
	var delivered *updateResult
	s.at(time.Minute, func() {
		delivered = s.update(workflows.DeliveredName, models.Message{
			ActualAmountCollected: pointer(money.Max), Lat: pointer(90.0), Lng: pointer(-180.0),
			CapturedAt: pointer(time.Date(2100, 12, 31, 23, 59, 59, 0, time.UTC)),
		})
	})
	require.True(t, s.run())
	delivered.requireDone(t)
}

// A move that the database does not accept is tried once and refused; the order goes on.
func TestApply_notStored(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	s.beforeWrite = func(move workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		if move.Move == models.MoveCancel {
			return nil, workflows.NotStored()
		}
		return nil, nil
	}
	var refused, received *updateResult
	s.at(1*time.Minute, func() { refused = s.update(workflows.CancelName, models.Message{}) })
	s.at(2*time.Minute, func() { s.signal(workflows.CancelName, nil) })
	s.at(3*time.Minute, func() { received = s.update(workflows.ReceivedName, models.Message{}) })
	require.False(t, s.run())
	refusal, ok := workflows.AsRefusal(refused.err)
	require.True(t, ok, "%v", refused.err)
	require.Contains(t, refusal.Reason, "no se pudo guardar")
	received.requireDone(t)
	require.Len(t, s.attempts, 3, "no attempt is repeated")
	require.Contains(t, s.log.String(), s.orderID.String(), "the log names the order")
}

// An auto-cancel that the database does not accept is tried again an hour later.
func TestApply_autoCancelNotStored(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	s.beforeWrite = func(workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		if len(s.attempts) < 3 {
			return nil, workflows.NotStored()
		}
		return nil, nil
	}
	require.True(t, s.run())
	require.Equal(t, start.Add(26*time.Hour), s.written[0].At)
}

// The workflow of an order that does not exist fails, so that it can be seen: at its start, at its
// next move, or when the reconcile workflow makes it look.
func TestOrder_missing(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(s *harness){
		"at the start": func(s *harness) { s.env.ExecuteWorkflow(workflows.Order, workflows.OrderInput{OrderID: s.orderID}) },
		"at a move": func(s *harness) {
			s.at(time.Minute, func() { s.signal(workflows.ReceivedName, nil) })
			s.executeCreated()
		},
		"at a refresh": func(s *harness) {
			s.at(time.Minute, func() { s.signal(workflows.RefreshName, nil) })
			s.executeCreated()
		},
		"at auto-cancel": func(s *harness) { s.executeCreated() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, registered)
			s.beforeLoad = workflows.OrderMissing
			s.beforeWrite = func(workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
				return nil, workflows.OrderMissing()
			}
			play(s)
			var application *temporal.ApplicationError
			require.ErrorAs(t, s.env.GetWorkflowError(), &application)
			require.Equal(t, "OrderMissing", application.Type())
		})
	}
}

func (s *harness) executeCreated() {
	snapshot := s.stored
	s.env.ExecuteWorkflow(workflows.Order, workflows.OrderInput{OrderID: s.orderID, Snapshot: &snapshot})
}

// A move whose deadline passes during an outage is refused and never made; a later one is made as
// soon as the database is back.
func TestDeadline_noMoveAfterIt(t *testing.T) {
	t.Parallel()
	s := newHarness(t, models.State{Status: models.StatusReceived})
	down := s.downUntil(2 * time.Minute)
	s.beforeWrite = func(workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) { return nil, down() }
	var expired, late, made *updateResult
	assign := func(rider uuid.UUID, deadline time.Duration) *updateResult {
		return s.update(workflows.AssignedName, models.Message{RiderID: &rider, Deadline: pointer(start.Add(deadline))})
	}
	s.at(time.Minute, func() { expired = assign(riderA, 90*time.Second) })
	s.at(time.Minute+time.Second, func() { late = assign(riderA, 61*time.Second) })
	s.at(100*time.Second, func() { made = assign(riderB, 130*time.Second) })
	require.False(t, s.run())
	for _, answer := range []*updateResult{expired, late} {
		refusal, ok := workflows.AsRefusal(answer.err)
		require.True(t, ok, "%v", answer.err)
		require.True(t, refusal.Expired)
	}
	made.requireDone(t)
	require.Len(t, s.written, 1)
	require.Equal(t, riderB, *s.written[0].Message.RiderID)
}

// While the database is away for minutes, the next attempt is never more than two seconds away.
func TestOutage_attemptsStayFrequent(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	down := s.downUntil(4 * time.Minute)
	var attempts []time.Time
	s.beforeWrite = func(workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		attempts = append(attempts, s.env.Now())
		return nil, down()
	}
	s.at(time.Second, func() { s.signal(workflows.CancelName, nil) })
	require.True(t, s.run())
	for i := 1; i < len(attempts); i++ {
		require.LessOrEqual(t, attempts[i].Sub(attempts[i-1]), 2*time.Second)
	}
}

// A signal that a run behind its row would refuse is decided on the row.
func TestSignal_refreshesBeforeARefusal(t *testing.T) {
	t.Parallel()
	s := newHarness(t, models.State{Status: models.StatusReceived})
	s.at(time.Minute, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stored.Status, s.stored.Seq, s.stored.RiderID = models.StatusAssigned, 2, &riderA
	})
	s.at(2*time.Minute, func() { s.signal(workflows.DeliveredName, nil) })
	require.True(t, s.run())
	require.Equal(t, []models.Move{models.MoveDeliver}, s.moves())
	require.Equal(t, 3, s.written[0].Seq)
}

// An assignment to the rider that the run remembers is made if the row has another: nothing to be
// done is believed only after a look at the row.
func TestAssign_unchangedOnlyInMemory(t *testing.T) {
	t.Parallel()
	for name, asUpdate := range map[string]bool{"an update": true, "a signal": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, models.State{Status: models.StatusAssigned, RiderID: &riderA})
			s.at(time.Minute, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.stored.Seq, s.stored.RiderID = 2, &riderB
			})
			s.at(2*time.Minute, func() {
				if asUpdate {
					s.update(workflows.AssignedName, models.Message{RiderID: &riderA})
					return
				}
				s.signal(workflows.AssignedName, models.Message{RiderID: &riderA})
			})
			require.False(t, s.run())
			require.Len(t, s.written, 1)
			require.Equal(t, 3, s.written[0].Seq)
			require.Equal(t, riderA, *s.stored.RiderID)
		})
	}
}

// When Temporal suggests it, a run continues as new after every message that has arrived was
// handled; the next run reads the order from the database.
func TestContinueAsNew(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	var received, assigned *updateResult
	s.at(time.Minute, func() {
		s.env.SetContinueAsNewSuggested(true)
		received = s.update(workflows.ReceivedName, models.Message{})
		assigned = s.update(workflows.AssignedName, models.Message{RiderID: &riderA})
		s.signal(workflows.AssignedName, models.Message{RiderID: &riderA})
		s.signal(workflows.AssignedName, models.Message{RiderID: &riderB})
	})
	s.executeCreated()
	var continued *workflow.ContinueAsNewError
	require.ErrorAs(t, s.env.GetWorkflowError(), &continued)
	require.Equal(t, workflows.OrderWorkflowName, continued.WorkflowType.Name)
	received.requireDone(t)
	require.True(t, assigned.done)
	require.Equal(t, riderB, *s.stored.RiderID)
	require.Equal(t, models.StatusAssigned, s.stored.Status)

	next := newHarness(t, registered)
	next.stored = s.stored
	var delivered *updateResult
	next.at(time.Minute, func() { delivered = next.update(workflows.DeliveredName, models.Message{}) })
	require.True(t, next.runLoaded())
	delivered.requireDone(t)
}
