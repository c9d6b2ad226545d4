package worker

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"despacho/test/poll"
	"despacho/test/testenv"
	"despacho/workflows"
)

// A worker that stops by itself, as the SDK ends one whose namespace is gone, runs again.
func TestKeepRunning_startsAgain(t *testing.T) {
	t.Parallel()
	temporal, err := client.NewLazyClient(client.Options{HostPort: testenv.Temporal(t)})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	ctx, stop := context.WithCancel(t.Context())
	runs := 0
	err = keepRunning(ctx, Options{Temporal: temporal, Namespace: client.DefaultNamespace, Log: slog.New(slog.DiscardHandler)}, func() error {
		if runs++; runs == 1 {
			return errors.New("the namespace is gone")
		}
		stop()
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 2, runs)
}

// A panic while the reconcile schedule is made does not end the process: it is made in the next
// attempt.
func TestKeepSchedule_panic(t *testing.T) {
	t.Parallel()
	temporal, err := client.NewLazyClient(client.Options{HostPort: testenv.Temporal(t)})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	ctx, stop := context.WithCancel(t.Context())
	rebuilt := 0
	keepSchedule(ctx, Options{
		Temporal: temporal, TaskQueue: testenv.TaskQueue(t), Log: slog.New(slog.DiscardHandler),
		Rebuild: func(context.Context) error {
			if rebuilt++; rebuilt == 1 {
				panic("defect")
			}
			stop()
			return nil
		},
	})
	require.Equal(t, 2, rebuilt)
}

// Whoever pauses the reconcile schedule is told of it by an alert.
func TestScheduleReconcile_tellsOfAPause(t *testing.T) {
	t.Parallel()
	temporal := testenv.DialTemporal(t, client.Options{})
	var told []bool
	options := Options{
		Temporal: temporal, TaskQueue: testenv.TaskQueue(t), Log: slog.New(slog.DiscardHandler),
		Rebuild: func(context.Context) error { return nil }, SchedulePaused: func(paused bool) { told = append(told, paused) },
	}
	handle := temporal.ScheduleClient().GetHandle(t.Context(), workflows.ReconcileScheduleID(options.TaskQueue))
	t.Cleanup(func() { require.NoError(t, handle.Delete(context.Background())) })
	require.NoError(t, scheduleReconcile(t.Context(), options))
	require.NoError(t, scheduleReconcile(t.Context(), options))
	require.NoError(t, handle.Pause(t.Context(), client.SchedulePauseOptions{}))
	poll.Until(t, func() error { // a schedule takes a pause after it was asked to
		if err := scheduleReconcile(t.Context(), options); err != nil || told[len(told)-1] {
			return err
		}
		return errors.New("it is not told")
	})
	require.False(t, told[0])
}
