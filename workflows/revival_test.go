package workflows_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/workflows"
)

var autoCancelled = models.State{Status: models.StatusCancelled, CancelledBy: models.ByAuto}

// After the auto-cancel the run completes. A late reception starts a new run, which loads the order
// and continues. Reception sends no event; the next one is order.assigned (contract 3).
func TestRevival_aNewRunReceivesAndGoesOn(t *testing.T) {
	t.Parallel()
	first := newHarness(t, registered)
	first.webhooks = []webhook{webhook(uuid.New())}
	require.True(t, first.run())
	require.Equal(t, []models.Event{models.EventCancelled}, first.events())
	require.Equal(t, 2, first.stored.Seq)

	second := newHarness(t, registered)
	second.orderID, second.webhooks, second.stored = first.orderID, first.webhooks, first.stored
	var received *updateResult
	second.beforeLoad = func() error {
		second.beforeReply(func() { received = second.update(workflows.ReceivedName, models.Message{}) })
		return nil
	}
	second.at(1*time.Hour, func() { second.signal(workflows.AssignedName, models.Message{RiderID: &riderA}) })
	second.at(2*time.Hour, func() { second.signal(workflows.DeliveredName, nil) })
	require.True(t, second.runLoaded())
	received.requireDone(t)
	require.Equal(t, []models.Move{models.MoveReceive, models.MoveAssign, models.MoveDeliver}, second.moves())
	require.Equal(t, 3, second.written[0].Seq, "it continues the order's story")
	require.Equal(t, []models.Event{models.EventAssigned, models.EventDelivered}, second.events())
}

// Only a reception revives an order; a run started for another move completes at once.
func TestRevival_onlyByReception(t *testing.T) {
	t.Parallel()
	for name, m := range messages {
		if m.move == models.MoveReceive {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, autoCancelled)
			var answer *updateResult
			s.beforeLoad = func() error {
				s.beforeReply(func() { answer = s.update(string(m.move), m.content) })
				return nil
			}
			require.True(t, s.runLoaded())
			answer.requireRefused(t, m.move, models.StatusCancelled)
			require.Empty(t, s.written)
		})
	}
}

// A reception while order.cancelled is being delivered is handled by the same run.
func TestRevival_whileTheCancellationIsBeingDelivered(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"signal", "update"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newSlowHarness(t)
			answers := map[string]*updateResult{}
			s.at(24*time.Hour+10*time.Second, s.sendFunc("reception", competing["reception"], kind == "update", answers))
			s.at(30*time.Hour, func() { s.signal(workflows.CancelName, nil) })
			require.True(t, s.run())
			require.Equal(t, []models.Move{models.MoveCancel, models.MoveReceive, models.MoveCancel}, s.moves())
			require.Equal(t, models.ByOperator, s.written[2].By)
			if kind == "update" {
				answers["reception"].requireDone(t)
			}
		})
	}
}

// A reception that arrives while the auto-cancel is being written is handled by the same run.
func TestRevival_inTheTaskThatWouldHaveEndedTheRun(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"signal", "update"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, registered)
			answers := map[string]*updateResult{}
			s.beforeWrite = func(move workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
				if move.By == models.ByAuto {
					s.beforeReply(s.sendFunc("reception", competing["reception"], kind == "update", answers))
				}
				return nil, nil
			}
			require.False(t, s.run(), "the order lives")
			require.Equal(t, "**Recibido** · guía "+s.stored.GuideCode, s.details(), "and nothing says that it was cancelled")
			require.Equal(t, []models.Move{models.MoveCancel, models.MoveReceive}, s.moves())
			if kind == "update" {
				answers["reception"].requireDone(t)
			}
		})
	}
}

// Another rider is a move with an event; the same rider again changes nothing.
func TestReassignment(t *testing.T) {
	t.Parallel()
	s := newHarness(t, models.State{Status: models.StatusReceived})
	s.webhooks = []webhook{webhook(uuid.New())}
	for i, rider := range []uuid.UUID{riderA, riderA, riderB, riderB, riderA} {
		s.at(time.Duration(i+1)*time.Minute, func() { s.signal(workflows.AssignedName, models.Message{RiderID: &rider}) })
	}
	s.at(time.Hour, func() { s.signal(workflows.DeliveredName, nil) })
	require.True(t, s.run())
	require.Equal(t, []models.Move{models.MoveAssign, models.MoveAssign, models.MoveAssign, models.MoveDeliver}, s.moves())
	var riders []uuid.UUID
	for _, move := range s.written[:3] {
		riders = append(riders, *move.Message.RiderID)
	}
	require.Equal(t, []uuid.UUID{riderA, riderB, riderA}, riders)
	require.Equal(t, []models.Event{models.EventAssigned, models.EventAssigned, models.EventAssigned, models.EventDelivered}, s.events())
}

// After reception only the operator can cancel.
func TestCancel_afterReception(t *testing.T) {
	t.Parallel()
	for _, status := range []models.Status{models.StatusReceived, models.StatusAssigned} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, models.State{Status: status, RiderID: &riderA})
			var store, limited, operator *updateResult
			s.at(1*time.Minute, func() { store = s.update(workflows.CancelName, models.Message{By: models.ByStore}) })
			s.at(2*time.Minute, func() {
				limited = s.update(workflows.CancelName, models.Message{By: models.ByOperator, OnlyRegistered: true})
			})
			s.at(3*time.Minute, func() {
				operator = s.update(workflows.CancelName, models.Message{By: models.ByOperator, Reason: "dirección falsa", Note: "dos llamadas"})
			})
			require.True(t, s.run())
			store.requireRefused(t, models.MoveCancel, status)
			limited.requireRefused(t, models.MoveCancel, status)
			operator.requireDone(t)
			require.Len(t, s.written, 1)
			require.Equal(t, models.Message{By: models.ByOperator, Reason: "dirección falsa", Note: "dos llamadas"}, s.written[0].Message)
		})
	}
}

// A signal counts as the operator's, whatever actor it names.
func TestCancel_aSignalCountsAsTheOperators(t *testing.T) {
	t.Parallel()
	for _, by := range []models.Actor{models.ByStore, models.ByAuto, "somebody"} {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, models.State{Status: models.StatusReceived})
			s.at(time.Minute, func() { s.signal(workflows.CancelName, models.Message{By: by}) })
			require.True(t, s.run())
			require.Len(t, s.written, 1)
			require.Equal(t, models.ByOperator, s.written[0].By)
		})
	}
}
