package worker

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"

	"despacho/test/poll"
	"despacho/test/testenv"
	"despacho/workflows"
)

// testDeployment is a deployment of the test's own with workers that get no tasks.
type testDeployment struct {
	*testing.T
	temporal   client.Client
	deployment *Deployment
}

func newTestDeployment(t *testing.T) *testDeployment {
	t.Helper()
	temporal := testenv.DialTemporal(t, client.Options{})
	return &testDeployment{T: t, temporal: temporal, deployment: NewDeployment(temporal, testenv.TaskQueue(t))}
}

// start starts a worker and returns when Temporal knows its version, for workflows and activities.
func (d *testDeployment) start(buildID string) worker.Worker {
	d.Helper()
	w := worker.New(d.temporal, d.deployment.taskQueue, worker.Options{DeploymentOptions: d.deployment.options(buildID)})
	Register(w)
	w.RegisterActivity(func() error { return nil })
	require.NoError(d, w.Start())
	d.Cleanup(w.Stop)
	if buildID == Unversioned {
		return w
	}
	poll.Until(d, func() error {
		version, err := d.deployment.handle().DescribeVersion(d.Context(), client.WorkerDeploymentDescribeVersionOptions{BuildID: buildID})
		if err == nil && len(version.Info.TaskQueuesInfos) < 2 {
			err = errors.New("a task queue is not registered yet")
		}
		return err
	})
	return w
}

func (d *testDeployment) router(buildID string, makeCurrent bool) *versionPromoter {
	r := newVersionPromoter(d.deployment, buildID, Options{MakeCurrent: makeCurrent, Log: slog.New(slog.DiscardHandler)})
	r.timeout = poll.Deadline // a busy machine does not reach it
	return r
}

func (d *testDeployment) current() string {
	d.Helper()
	routing, err := d.deployment.Routing(d.Context())
	require.NoError(d, err)
	return routing.Current
}

func TestRouter_theFirstVersionBecomesCurrent(t *testing.T) {
	t.Parallel()
	d := newTestDeployment(t)
	require.NoError(t, d.router(Unversioned, false).ensureCurrent(t.Context()), "without a deployment there is nothing to do")
	require.ErrorIs(t, d.router("1", false).ensureCurrent(t.Context()), ErrNoDeployment)
	d.start("1")
	require.Equal(t, Unversioned, d.current())
	// Several workers start at once: one of them sets the routing, the others see it at their next
	// look.
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			r := d.router("1", false)
			poll.Until(t, func() error { return r.ensureCurrent(ctx) })
		})
	}
	all.Wait()
	require.Equal(t, "1", d.current())
}

func TestRouter_aLaterVersionWaitsToBeMadeCurrent(t *testing.T) {
	t.Parallel()
	d := newTestDeployment(t)
	d.start("1")
	require.NoError(t, d.router("1", false).ensureCurrent(t.Context()))
	d.start("2")
	waiting := d.router("2", false)
	for range maxChecksWithoutWorkers + 1 {
		require.NoError(t, waiting.ensureCurrent(t.Context()))
	}
	require.Equal(t, "1", d.current())

	told := d.router("2", true)
	require.NoError(t, told.ensureCurrent(t.Context()))
	require.Equal(t, "2", d.current())
	// Whoever goes back to the first version is not overruled.
	routing, err := d.deployment.Routing(t.Context())
	require.NoError(t, err)
	require.NoError(t, d.deployment.SetCurrent(t.Context(), routing, "1"))
	require.NoError(t, told.ensureCurrent(t.Context()))
	require.Equal(t, "1", d.current())
}

// Workers that replaced those of the current version, while nobody has set the routing, carry the
// orders after a while.
func TestRouter_takesOverFromAVersionWithoutWorkers(t *testing.T) {
	t.Parallel()
	for name, successor := range map[string]string{"another version": "2", "a development build": Unversioned} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTestDeployment(t)
			d.deployment.pollerTimeout = 0 // every worker but the one that polled last is gone
			gone := d.start("1")
			require.NoError(t, d.router("1", false).ensureCurrent(t.Context()))
			gone.Stop()
			d.start(successor)
			poll.Until(t, func() error {
				workers, err := d.deployment.Workers(t.Context())
				if err == nil && (workers["1"] > 0 || workers[successor] == 0) {
					err = errors.New("the workers are still those of before")
				}
				return err
			})
			r := d.router(successor, false)
			require.NoError(t, r.ensureCurrent(t.Context()))
			require.Equal(t, "1", d.current(), "a restarted Temporal forgets its pollers: one look is not enough")
			require.NoError(t, r.ensureCurrent(t.Context()))
			require.Equal(t, successor, d.current())
		})
	}
}

func TestSetCurrent_endsTheRampOfAnother(t *testing.T) {
	t.Parallel()
	d := newTestDeployment(t)
	d.start("1")
	d.start("2")
	read := func() *Routing {
		t.Helper()
		routing, err := d.deployment.Routing(t.Context())
		require.NoError(t, err)
		return routing
	}
	before := read()
	require.NoError(t, d.deployment.SetCurrent(t.Context(), before, "1"))
	require.Error(t, d.deployment.SetCurrent(t.Context(), before, "2"), "the routing has changed since it was read")
	require.NoError(t, d.deployment.SetRamp(t.Context(), read(), "2", 10))
	routing := read()
	require.Equal(t, []any{"1", "2", float32(10)}, []any{routing.Current, routing.Ramping, routing.Percentage})
	require.NoError(t, d.deployment.SetCurrent(t.Context(), routing, "1"))
	routing = read()
	require.Equal(t, []any{"1", float32(0)}, []any{routing.Current, routing.Percentage})
}

// A Temporal without Worker Deployment Versioning, or a key that may not use it, gets a worker
// without a version. TestVersioning_disabledInTemporal has a Temporal where it is switched off.
func TestVersionOf_withoutVersioningInTemporal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer error
		want   string
	}{
		"versioning is there": {nil, "1"},
		"an older Temporal":   {serviceerror.NewUnimplemented("unknown method DescribeWorkerDeploymentVersion"), Unversioned},
		"no permission":       {serviceerror.NewPermissionDenied("Request unauthorized.", ""), Unversioned},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
				if c.answer != nil && strings.HasSuffix(method, "DescribeWorkerDeploymentVersion") {
					return serviceerror.ToStatus(c.answer).Err()
				}
				return invoke(ctx, method, request, reply, connection, options...)
			}
			temporal := testenv.DialTemporal(t, client.Options{ConnectionOptions: client.ConnectionOptions{
				DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(answer)},
			}})
			d := NewDeployment(temporal, testenv.TaskQueue(t))
			got, err := chooseBuildID(t.Context(), d, Options{BuildID: "1", Log: slog.New(slog.DiscardHandler)})
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestDeployment_nameHasNoReservedCharacter(t *testing.T) {
	t.Parallel()
	require.Equal(t, "despacho", NewDeployment(nil, "despacho").Name())
	require.Equal(t, "despacho-lima-2", NewDeployment(nil, "despacho.lima:2").Name())
}

// An idle worker looks at the routing no more often than the reconcile schedule runs.
func TestRouter_interval(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, newVersionPromoter(nil, "1", Options{}).interval, workflows.ReconcileEvery)
	require.Greater(t, pollerTimeout, time.Minute, "a worker polls at least once a minute")
}

// onLog is a log whose lines are told to a function.
type onLog func()

func (tell onLog) Write(line []byte) (int, error) {
	tell()
	return len(line), nil
}

// A panic while the routing is looked at does not end the process.
func TestRouter_panic(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	panicking := &versionPromoter{log: slog.New(slog.NewTextHandler(onLog(stop), nil)), interval: time.Hour, timeout: time.Hour}
	panicking.run(ctx)
	require.Error(t, ctx.Err(), "the panic is logged")
}
