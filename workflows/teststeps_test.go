package workflows_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/workflows"
)

const stepAfter = 10 * time.Second

// testOrder is a harness for a test order with steps ten seconds apart.
type testOrder struct {
	*harness
	// waits are the durations of the timers that the workflow started.
	waits []time.Duration
}

func newTestOrder(t *testing.T, steps ...workflows.TestStep) *testOrder {
	t.Helper()
	s := &testOrder{harness: newHarness(t, registered)}
	s.webhooks = []webhook{{id: uuid.New()}}
	for _, step := range steps {
		step.After = stepAfter
		s.stored.TestSteps = append(s.stored.TestSteps, step)
	}
	s.env.SetOnTimerScheduledListener(func(_ string, wait time.Duration) { s.waits = append(s.waits, wait) })
	return s
}

var (
	receiveStep = workflows.TestStep{Move: models.MoveReceive}
	assignA     = workflows.TestStep{Move: models.MoveAssign, RiderID: &riderA}
	assignB     = workflows.TestStep{Move: models.MoveAssign, RiderID: &riderB}
	deliverStep = workflows.TestStep{Move: models.MoveDeliver}
	expireStep  = workflows.TestStep{Move: models.MoveAutoCancel}
)

// A test order makes every step by itself, one after another's time, and ends. Each is the
// operator's move.
func TestSteps_areMadeInTurn(t *testing.T) {
	t.Parallel()
	for how, run := range map[string]func(*harness) bool{"handed over": (*harness).run, "loaded": (*harness).runLoaded} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newTestOrder(t, receiveStep, assignA, assignB, workflows.TestStep{Move: models.MoveDeliver, Photo: "photo.jpg"})
			require.True(t, run(s.harness))
			require.Equal(t, []models.Move{models.MoveReceive, models.MoveAssign, models.MoveAssign, models.MoveDeliver}, s.moves())
			require.Equal(t, []time.Duration{stepAfter, stepAfter, stepAfter, stepAfter}, s.waits)
			require.Equal(t, []models.Event{models.EventAssigned, models.EventAssigned, models.EventDelivered}, s.events())
			for _, move := range s.written {
				require.Equal(t, models.ByOperator, move.By)
			}
			require.Equal(t, []uuid.UUID{riderA, riderB}, []uuid.UUID{s.written[1].Assigned.RiderID, s.written[2].Assigned.RiderID})
			delivered := s.written[3].Delivered
			require.Equal(t, "photo.jpg", delivered.Photo)
			require.NotNil(t, delivered.CapturedAt)
		})
	}
}

// The run of a test order that will revive goes on after the auto-cancel; that of one that will not
// ends with it.
func TestSteps_autoCancelAndRevival(t *testing.T) {
	t.Parallel()
	never := newTestOrder(t, expireStep)
	require.True(t, never.run())
	require.Equal(t, []models.Move{models.MoveAutoCancel}, never.moves())
	require.Equal(t, models.ByAuto, never.written[0].By)
	require.Equal(t, []models.Event{models.EventCancelled}, never.events())
	require.Equal(t, []time.Duration{stepAfter}, never.waits, "it has no timer of a day")

	late := newTestOrder(t, expireStep, receiveStep, assignA, deliverStep)
	require.True(t, late.run())
	require.Equal(t, []models.Move{models.MoveAutoCancel, models.MoveReceive, models.MoveAssign, models.MoveDeliver}, late.moves())
	require.Equal(t, []models.Event{models.EventCancelled, models.EventAssigned, models.EventDelivered}, late.events())
}

// Advance makes the next step at once; the ones after it wait their time from then. The same
// request again makes none.
func TestSteps_advance(t *testing.T) {
	t.Parallel()
	s := newTestOrder(t, receiveStep, assignA, deliverStep)
	var first, again *updateResult
	stopped := 0
	s.env.SetOnTimerCanceledListener(func(string) { stopped++ })
	s.at(time.Second, func() {
		first = s.update(workflows.AdvanceName, 1)
		again = s.update(workflows.AdvanceName, 1)
	})
	require.True(t, s.run())
	first.requireDone(t)
	again.requireDone(t)
	require.Equal(t, []models.Move{models.MoveReceive, models.MoveAssign, models.MoveDeliver}, s.moves())
	require.Equal(t, []time.Duration{stepAfter, stepAfter, stepAfter}, s.waits)
	require.Equal(t, 1, stopped)
}

// An advance that starts the run waits for the order to be loaded.
func TestSteps_advanceBeforeTheOrderIsLoaded(t *testing.T) {
	t.Parallel()
	s := newTestOrder(t, expireStep)
	var advanced *updateResult
	s.beforeLoad = func() error {
		s.beforeReply(func() { advanced = s.update(workflows.AdvanceName, 1) })
		return nil
	}
	s.env.SetOnTimerFiredListener(func(timerID string) { t.Errorf("timer %s fired", timerID) })
	require.True(t, s.runLoaded())
	advanced.requireDone(t)
	require.Equal(t, []models.Move{models.MoveAutoCancel}, s.moves())
}

// Only a test order advances.
func TestSteps_liveOrdersDoNotAdvance(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	var refused *updateResult
	s.at(time.Hour, func() { refused = s.update(workflows.AdvanceName, 1) })
	require.True(t, s.run())
	require.False(t, refused.accepted)
	require.ErrorContains(t, refused.err, "not a test order")
	require.Equal(t, []models.Move{models.MoveAutoCancel}, s.moves())
}

// A cancel by the store ends the scenario.
func TestSteps_cancelledByTheStore(t *testing.T) {
	t.Parallel()
	s := newTestOrder(t, receiveStep, assignA, deliverStep)
	var cancelled *updateResult
	s.at(time.Second, func() {
		cancelled = s.update(workflows.CancelName, workflows.Cancel{By: models.ByStore, OnlyRegistered: true})
	})
	require.True(t, s.run())
	cancelled.requireDone(t)
	require.Equal(t, []models.Move{models.MoveCancel}, s.moves())
}

// A run that was replaced goes on where the row is.
func TestSteps_continueFromTheRow(t *testing.T) {
	t.Parallel()
	s := newTestOrder(t, receiveStep, assignA, deliverStep)
	s.stored.Status, s.stored.Seq, s.stored.RiderID = models.StatusAssigned, 3, &riderA
	require.True(t, s.runLoaded())
	require.Equal(t, []models.Move{models.MoveDeliver}, s.moves())
	require.Equal(t, []time.Duration{stepAfter}, s.waits)
}

// A step that the database refuses is tried again, so that the order ends.
func TestSteps_refusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newTestOrder(t, receiveStep, assignA, deliverStep)
	refusals := 0
	s.beforeWrite = func(move workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		if move.Move == models.MoveAssign && refusals < 2 {
			refusals++
			return &workflows.ApplyMoveResult{Refused: "no"}, nil
		}
		return nil, nil
	}
	require.True(t, s.run())
	require.Equal(t, []models.Move{models.MoveReceive, models.MoveAssign, models.MoveDeliver}, s.moves())
	require.Equal(t, []time.Duration{stepAfter, stepAfter, time.Hour, time.Hour, stepAfter}, s.waits)
}

// A step's time may come while that step is being made, as when the database is away during an
// advance. The step after it waits its own time all the same.
func TestSteps_timeIsOverWhileTheStepIsMade(t *testing.T) {
	t.Parallel()
	s := newTestOrder(t, receiveStep, assignA, deliverStep)
	down := s.downUntil(2 * stepAfter)
	var written []time.Time
	s.beforeWrite = func(workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		if err := down(); err != nil {
			return nil, err
		}
		written = append(written, s.env.Now())
		return nil, nil
	}
	var advanced *updateResult
	s.at(time.Second, func() { advanced = s.update(workflows.AdvanceName, 1) })
	require.True(t, s.run())
	advanced.requireDone(t)
	require.Equal(t, []models.Move{models.MoveReceive, models.MoveAssign, models.MoveDeliver}, s.moves())
	require.Len(t, written, 3)
	for i := 1; i < len(written); i++ {
		require.Equal(t, stepAfter, written[i].Sub(written[i-1]), "between %s and %s", s.written[i-1].Move, s.written[i].Move)
	}
}
