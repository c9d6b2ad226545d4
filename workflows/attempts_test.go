package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/workflows"
)

var outForDelivery = models.State{Status: models.StatusAssigned, RiderID: &riderA}

// Nobody decides in time: the operator's rule holds, another attempt until there were three, then
// the way back.
func TestDecision_nobodyDecidesInTime(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]models.Move{1: models.MoveRetry, 2: models.MoveRetry, 3: models.MoveReturn} {
		s := newHarness(t, outForDelivery)
		s.failures = failures - 1
		s.at(time.Hour, func() { s.signal(workflows.AttemptFailedName, models.Message{Reason: "absent"}) })
		require.False(t, s.run())
		require.Equal(t, []models.Move{models.MoveFail, want}, s.moves())
		require.Equal(t, models.ByAuto, s.written[1].By)
		require.Equal(t, start.Add(time.Hour+decisionTime), s.written[1].At)
		require.Equal(t, models.StatusAssigned, s.stored.Status, "the rider has the package")
	}
}

// A decision stops the timer, and so do an assignment, a delivery and a cancel. A package that is
// brought back goes on waiting until the same time.
func TestDecision_timer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message models.Message
		expires bool
	}{
		workflows.RetryPlannedName: {message: models.Message{On: "2060-03-04"}},
		workflows.ReturningName:    {},
		workflows.AssignedName:     {message: models.Message{RiderID: &riderB}},
		workflows.DeliveredName:    {},
		workflows.CancelName:       {},
		workflows.ReceivedName:     {expires: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, outForDelivery)
			s.at(time.Hour, func() { s.signal(workflows.AttemptFailedName, models.Message{Reason: "refused"}) })
			s.at(2*time.Hour, func() { s.signal(name, c.message) })
			s.run()
			if !c.expires {
				require.Len(t, s.written, 2)
				return
			}
			require.Len(t, s.written, 3)
			require.Equal(t, models.MoveRetry, s.written[2].Move)
			require.Equal(t, start.Add(time.Hour+decisionTime), s.written[2].At)
			require.Equal(t, models.SubstatusRetryPlanned, s.stored.Substatus)
			require.Equal(t, models.StatusReceived, s.stored.Status)
		})
	}
}

// A run that is started late waits until the deadline of the row, and decides at once if it has
// passed.
func TestDecision_aLateRunKeepsTheDeadline(t *testing.T) {
	t.Parallel()
	for due, want := range map[time.Duration]time.Duration{5 * time.Hour: 5 * time.Hour, -time.Hour: 0} {
		s := newHarness(t, models.State{Status: models.StatusReceived, Substatus: models.SubstatusAwaitingDecision})
		s.stored.Decision = &workflows.Decision{Due: start.Add(due), Move: models.MoveReturn}
		require.False(t, s.runLoaded())
		require.Equal(t, []models.Move{models.MoveReturn}, s.moves())
		require.Equal(t, start.Add(want), s.written[0].At)
	}
}

// Two failed attempts of one trip: the second one has a deadline of its own.
func TestDecision_aSecondFailureWaitsAnew(t *testing.T) {
	t.Parallel()
	s := newHarness(t, outForDelivery)
	s.at(time.Hour, func() { s.signal(workflows.AttemptFailedName, models.Message{Reason: "absent"}) })
	s.at(5*time.Hour, func() { s.signal(workflows.AttemptFailedName, models.Message{Reason: "no_answer"}) })
	s.run()
	require.Equal(t, []models.Move{models.MoveFail, models.MoveFail, models.MoveRetry}, s.moves())
	require.Equal(t, start.Add(5*time.Hour+decisionTime), s.written[2].At)
}

// What goes back to its store ends cancelled, with both events.
func TestReturn_handedBack(t *testing.T) {
	t.Parallel()
	s := newHarness(t, models.State{Status: models.StatusReceived, Substatus: models.SubstatusReturning})
	s.webhooks = []webhook{{1}}
	s.at(time.Hour, func() { s.signal(workflows.CancelName, nil) })
	s.at(2*time.Hour, func() { s.signal(workflows.ReturnedName, nil) })
	require.True(t, s.run())
	require.Equal(t, []models.Move{models.MoveHandBack}, s.moves(), "a package on its way back is not cancelled before it is there")
	require.ElementsMatch(t, []models.Event{models.EventCancelled, models.EventReturned}, s.events())
}

// A move that is taken back leaves the order as it was, with the timer that it had.
func TestUndo(t *testing.T) {
	t.Parallel()
	t.Run("a reception: the order cancels itself in time", func(t *testing.T) {
		t.Parallel()
		s := newHarness(t, registered)
		s.at(time.Hour, func() { s.signal(workflows.ReceivedName, nil) })
		s.at(2*time.Hour, func() { s.signal(workflows.UndoneName, models.Message{Reason: "otro paquete"}) })
		require.True(t, s.run())
		require.Equal(t, []models.Move{models.MoveReceive, models.MoveUndo, models.MoveCancel}, s.moves())
		require.Equal(t, start.Add(24*time.Hour), s.written[2].At)
	})
	t.Run("an attempt: nobody has to decide", func(t *testing.T) {
		t.Parallel()
		s := newHarness(t, outForDelivery)
		s.at(time.Hour, func() { s.signal(workflows.AttemptFailedName, models.Message{Reason: "absent"}) })
		s.at(2*time.Hour, func() { s.signal(workflows.UndoneName, models.Message{Reason: "sí estaba"}) })
		s.at(48*time.Hour, func() { s.signal(workflows.DeliveredName, nil) })
		require.True(t, s.run())
		require.Equal(t, []models.Move{models.MoveFail, models.MoveUndo, models.MoveDeliver}, s.moves())
	})
	t.Run("a delivery, in a new run", func(t *testing.T) {
		t.Parallel()
		s := newHarness(t, models.State{Status: models.StatusDelivered, RiderID: &riderA})
		s.before = outForDelivery
		var answer *updateResult
		s.beforeLoad = func() error {
			s.beforeLoad = nil
			s.beforeReply(func() { answer = s.update(workflows.UndoneName, models.Message{Reason: "otro pedido"}) })
			return nil
		}
		s.at(time.Hour, func() { s.signal(workflows.DeliveredName, nil) })
		require.True(t, s.runLoaded())
		answer.requireDone(t)
		require.Equal(t, []models.Move{models.MoveUndo, models.MoveDeliver}, s.moves())
	})
	t.Run("without a reason it is refused", func(t *testing.T) {
		t.Parallel()
		s := newHarness(t, outForDelivery)
		var answer *updateResult
		s.at(time.Hour, func() { answer = s.update(workflows.UndoneName, models.Message{}) })
		require.False(t, s.run())
		require.Error(t, answer.err)
		require.Empty(t, s.written)
	})
}
