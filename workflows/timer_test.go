package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/workflows"
)

// A registered order is cancelled 24 hours after its creation (contract 3), and its run completes.
func TestTimer_cancelsAfter24Hours(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	var early *updateResult
	s.at(24*time.Hour-time.Millisecond, func() { early = s.update(workflows.DeliveredName, models.Message{}) })
	require.True(t, s.run())
	early.requireRefused(t, models.MoveDeliver, models.StatusRegistered)
	require.Len(t, s.written, 1)
	move := s.written[0]
	require.Equal(t, models.MoveCancel, move.Move)
	require.Equal(t, models.ByAuto, move.By)
	require.Equal(t, models.StatusCancelled, move.To)
	require.Equal(t, start.Add(24*time.Hour), move.At)
	require.Zero(t, move.Message)
}

// The auto-cancel time is absolute: a late start does not extend it.
func TestTimer_deadlineIsAbsolute(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ due, cancelled time.Duration }{
		"started at once":         {24 * time.Hour, 24 * time.Hour},
		"started 23 hours late":   {time.Hour, time.Hour},
		"due the moment it runs":  {0, 0},
		"due days before it runs": {-72 * time.Hour, 0},
	} {
		for how, run := range map[string]func(*harness) bool{"handed over": (*harness).run, "loaded": (*harness).runLoaded} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				s := newHarness(t, registered)
				s.stored.AutoCancelAt = start.Add(c.due)
				require.True(t, run(s))
				require.Equal(t, []models.Move{models.MoveCancel}, s.moves())
				require.Equal(t, start.Add(c.cancelled), s.written[0].At)
			})
		}
	}
}

// Reception and a cancel stop the timer; no later state starts it again.
func TestTimer_isStoppedByTheFirstMove(t *testing.T) {
	t.Parallel()
	for _, name := range []string{workflows.ReceivedName, workflows.CancelName} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSlowHarness(t)
			stopped := 0
			s.env.SetOnTimerCanceledListener(func(string) { stopped++ })
			s.env.SetOnTimerFiredListener(func(timerID string) { t.Errorf("timer %s fired", timerID) })
			s.at(time.Hour, func() { s.signal(name, nil) })
			require.Equal(t, name == workflows.CancelName, s.run())
			require.Equal(t, 1, stopped)
			require.Len(t, s.written, 1)
		})
	}
}

func TestTimer_onlyRegisteredOrdersWait(t *testing.T) {
	t.Parallel()
	for name, state := range states {
		if state.Status == models.StatusRegistered {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, state)
			s.stored.AutoCancelAt = start.Add(time.Hour)
			s.env.SetOnTimerScheduledListener(func(timerID string, _ time.Duration) { t.Errorf("timer %s started", timerID) })
			require.Equal(t, state.Status.Ended(), s.runLoaded())
			require.Empty(t, s.written)
		})
	}
}

// The workflow's current details follow the order's status.
func TestOrder_currentDetailsFollowTheStatus(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	var seen []string
	look := func() { seen = append(seen, s.details()) }
	s.at(1*time.Minute, look)
	s.at(2*time.Minute, func() { s.signal(workflows.ReceivedName, nil) })
	s.at(3*time.Minute, look)
	s.at(4*time.Minute, func() { s.signal(workflows.AssignedName, models.Message{RiderID: &riderA}) })
	s.at(5*time.Minute, look)
	s.at(6*time.Minute, func() { s.signal(workflows.CancelName, nil) })
	require.True(t, s.run())
	look()
	require.Equal(t, []string{
		"**Registrado** · guía 7K2QX-M4TN8C", "**Recibido** · guía 7K2QX-M4TN8C", "**En reparto** · guía 7K2QX-M4TN8C",
		"**Cancelado** · guía 7K2QX-M4TN8C · cancelado por: operator",
	}, seen)
}
