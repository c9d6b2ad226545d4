package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"despacho/test/poll"
	"despacho/test/testenv"
)

// testDeployment is a deployment of the test's own with workers that get no tasks.
type testDeployment struct {
	*testing.T
	temporal  client.Client
	taskQueue string
}

func newTestDeployment(t *testing.T) *testDeployment {
	t.Helper()
	return &testDeployment{T: t, temporal: testenv.DialTemporal(t, client.Options{}), taskQueue: testenv.TaskQueue(t)}
}

func (d *testDeployment) handle() client.WorkerDeploymentHandle {
	return d.temporal.WorkerDeploymentClient().GetHandle(d.taskQueue)
}

// start starts a worker and returns when Temporal knows its version, for workflows and activities.
func (d *testDeployment) start(buildID string) worker.Worker {
	d.Helper()
	w := worker.New(d.temporal, d.taskQueue, worker.Options{DeploymentOptions: deploymentOptions(d.taskQueue, buildID)})
	Register(w)
	w.RegisterActivity(func() error { return nil })
	require.NoError(d, w.Start())
	d.Cleanup(w.Stop)
	poll.Until(d, func() error {
		version, err := d.handle().DescribeVersion(d.Context(), client.WorkerDeploymentDescribeVersionOptions{BuildID: buildID})
		if err == nil && len(version.Info.TaskQueuesInfos) < 2 {
			err = errors.New("a task queue is not registered yet")
		}
		return err
	})
	return w
}

func (d *testDeployment) ensure(buildID string) error {
	return ensureCurrentVersion(d.Context(), d.temporal, d.taskQueue, buildID, slog.New(slog.DiscardHandler))
}

func (d *testDeployment) current() string {
	d.Helper()
	described, err := d.handle().Describe(d.Context(), client.WorkerDeploymentDescribeOptions{})
	require.NoError(d, err)
	return versionName(described.Info.RoutingConfig.CurrentVersion)
}

func TestVersioning_theFirstVersionBecomesCurrent(t *testing.T) {
	t.Parallel()
	d := newTestDeployment(t)
	require.NoError(t, d.ensure(Unversioned), "without a deployment there is nothing to do")
	require.Error(t, d.ensure("1"), "no worker of it has polled")
	d.start("1")
	require.NoError(t, d.ensure(Unversioned))
	require.Equal(t, Unversioned, d.current())
	// Several workers start at once: one of them sets the version, the others see it in their next
	// check.
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { poll.Until(t, func() error { return d.ensure("1") }) })
	}
	all.Wait()
	require.Equal(t, "1", d.current())
}

// Also one whose workers have all gone is replaced by a roll-out alone: a worker that starts does
// not know whether it will live, and one that its supervisor starts again is of the release before.
func TestVersioning_aLaterVersionWaitsForTheRollout(t *testing.T) {
	t.Parallel()
	d := newTestDeployment(t)
	first := d.start("1")
	require.NoError(t, d.ensure("1"))
	first.Stop()
	d.start("2")
	for _, buildID := range []string{"2", Unversioned} {
		require.NoError(t, d.ensure(buildID))
		require.Equal(t, "1", d.current())
	}
	_, err := d.handle().SetCurrentVersion(t.Context(), client.WorkerDeploymentSetCurrentVersionOptions{BuildID: "2"})
	require.NoError(t, err)
	require.NoError(t, d.ensure("1"))
	require.Equal(t, "2", d.current(), "a worker of the release before takes nothing back")
}

// onLog is a log whose lines are told to a function.
type onLog func()

func (tell onLog) Write(line []byte) (int, error) {
	tell()
	return len(line), nil
}

// A panic while the version is checked does not end the process.
func TestVersioning_panic(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	keepCurrentVersion(ctx, Options{Log: slog.New(slog.NewTextHandler(onLog(stop), nil))})
	require.Error(t, ctx.Err(), "the panic is logged")
}
