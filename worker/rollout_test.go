package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"despacho/app"
	"despacho/dev"
	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
	"despacho/worker"
	"despacho/workflows"
)

// A roll-out replaces release 1 with a release 2 that has other workflow code while orders are
// moved. No move is lost, and no worker gets a history that it cannot replay.
func TestRollout_noWorkflowTaskFails(t *testing.T) {
	t.Parallel()
	r := beginRollout(t, "1", "2")
	old := r.startWorker("1")
	begunBefore := []string{r.CreateOrder(t, r.Key), r.CreateOrder(t, r.Key), r.CreateOrder(t, r.Key)}
	r.waitForIdle(t, begunBefore[0]) // its first task is for release 1
	r.receive(t, begunBefore[1])
	r.receive(t, begunBefore[2])
	r.assign(t, begunBefore[2], 0)

	load := r.startLoad()
	latest := r.startWorker("2")
	load.awaitLives(2)
	require.Empty(t, r.tasksOf("2"), "a version gets tasks once it is current")

	r.makeCurrent("2")
	load.awaitLives(2)
	// The worker of release 2 is away for a moment while that of release 1 still runs.
	changed := r.beginChangedOrder()
	latest.stop()
	moved := r.receiveInBackground(changed)
	r.startWorker("2")
	answer := <-moved
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	old.stop()
	load.awaitLives(2)
	load.finish()
	for _, id := range begunBefore {
		r.finishLife(id)
	}
	r.finishLife(changed)

	require.Empty(t, r.failedTasks())
	for _, id := range begunBefore {
		require.Equal(t, []string{"1", "2"}, r.versionsOf(id), "the order has changed over in the middle of its life")
	}
	require.Equal(t, []string{"2"}, r.versionsOf(changed))
}

// The same without versions: the worker of release 1 gets a history of release 2 and fails its
// task. TestRollout_noWorkflowTaskFails would show this if versioning did nothing.
func TestRollout_withoutVersionsFailsTasks(t *testing.T) {
	t.Parallel()
	r := beginRollout(t)
	latest := r.startWorker("2")
	changed := r.beginChangedOrder()
	r.startWorker("1")
	latest.stop()
	require.NoError(t, r.Temporal.SignalWorkflow(t.Context(), workflowOf(changed), "", workflows.RefreshName, nil))
	poll.Until(t, func() error {
		if len(r.failedTasks()) == 0 {
			return errors.New("no workflow task has failed")
		}
		return nil
	})
}

// The first release with versions takes over from one without.
func TestRollout_fromWorkersWithoutVersions(t *testing.T) {
	t.Parallel()
	r := beginRollout(t, "2")
	old := r.startWorker("1")
	id := r.CreateOrder(t, r.Key)
	r.receive(t, id)
	load := r.startLoad()
	load.awaitLives(1)
	r.startWorker("2") // the deployment has no current version: it makes its own current
	changed := r.beginChangedOrder()
	old.stop()
	load.awaitLives(1)
	load.finish()
	r.finishLife(id)
	r.finishLife(changed)
	require.Empty(t, r.failedTasks())
	require.Equal(t, []string{"", "2"}, r.versionsOf(id))
	require.Equal(t, []string{"2"}, r.versionsOf(changed))
}

// A release with the same workflow code can be taken back: its orders go back with it.
func TestRollout_back(t *testing.T) {
	t.Parallel()
	r := beginRollout(t, "1", "1b")
	r.startWorker("1")
	id := r.CreateOrder(t, r.Key)
	r.waitForIdle(t, id) // its first task is for release 1
	r.startWorker("1b")
	r.makeCurrent("1b")
	r.receive(t, id)
	r.makeCurrent("1")
	r.assign(t, id, 0)
	r.finishLife(id)
	require.Equal(t, []string{"1", "1b", "1"}, r.versionsOf(id))
	require.Empty(t, r.failedTasks())
}

// rollout is a service whose workers are processes of their own: the SDK shares its cache of
// workflow runs between the workers of one process, whatever their code.
type rollout struct {
	*service
	t          *testing.T
	deployment *worker.Deployment
	// versioned are the releases whose workers have a version. They are "1", "2" with changed
	// workflow code, and "1b" with the code of "1".
	versioned []string

	mu     sync.Mutex
	orders []string
}

func beginRollout(t *testing.T, versioned ...string) *rollout {
	t.Helper()
	s := boot(t, "", apptest.Options{NoWorker: true, Configure: func(c *config.Config) {
		// A task that a worker took as it stopped is given out again after this time.
		c.Timeouts.WorkflowTask = 5 * time.Second
	}})
	r := &rollout{service: s, t: t, deployment: worker.NewDeployment(s.Temporal, s.Config.TaskQueue)}
	r.versioned = versioned
	return r
}

// releaseVariable makes the test binary a worker process of a release, with the build ID of
// buildVariable; changedRelease is the release with changed workflow code.
const (
	releaseVariable = "DESPACHO_TEST_RELEASE"
	buildVariable   = "DESPACHO_TEST_BUILD_ID"
	changedRelease  = "2"
)

// releaseWorker is a worker process of one release.
type releaseWorker struct {
	t       *testing.T
	process *dev.Process
}

// startWorker starts a worker process and returns when it polls.
func (r *rollout) startWorker(release string) *releaseWorker {
	r.t.Helper()
	buildID := worker.Unversioned
	if slices.Contains(r.versioned, release) {
		buildID = release
	}
	started := &watchedLog{text: []byte("worker started"), seen: make(chan struct{})}
	process, err := dev.Start(dev.Command{
		Name: "worker of release " + release, Path: os.Args[0], Dir: r.t.TempDir(), Log: started,
		Env: append(os.Environ(), releaseVariable+"="+release, buildVariable+"="+buildID,
			"DATABASE_URL="+r.databaseURL, "SECRET_KEY="+r.Config.SecretKey, "FILES_DIR="+r.Config.FilesDir,
			"TEMPORAL_ADDRESS="+testenv.Temporal(r.t), "TEMPORAL_TASK_QUEUE="+r.Config.TaskQueue),
	})
	require.NoError(r.t, err)
	w := &releaseWorker{t: r.t, process: process}
	r.t.Cleanup(w.kill)
	select {
	case <-started.seen:
	case <-process.Done():
		r.t.Fatal(process.Err())
	case <-time.After(poll.Deadline):
		r.t.Fatal("the worker did not start")
	}
	return w
}

func (w *releaseWorker) stop() { require.NoError(w.t, w.process.Stop(context.Background())) }

func (w *releaseWorker) kill() { w.process.Kill() }

// watchedLog closes a channel when a text is written.
type watchedLog struct {
	text []byte
	seen chan struct{}
	once sync.Once
	all  bytes.Buffer
}

func (w *watchedLog) Write(p []byte) (int, error) {
	w.all.Write(p)
	if bytes.Contains(w.all.Bytes(), w.text) {
		w.once.Do(func() { close(w.seen) })
	}
	return len(p), nil
}

// runReleaseWorker is the main function of a worker process.
func runReleaseWorker(release string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cfg, err := config.Load()
	if err != nil {
		return err
	}
	cfg.Timeouts = apptest.LongTimeouts()
	options, err := config.TemporalOptions()
	if err != nil {
		return err
	}
	if release == changedRelease {
		options.Interceptors = append(options.Interceptors, &changedCode{})
	}
	a, err := app.Open(ctx, cfg, slog.New(slog.NewTextHandler(os.Stderr, nil)), app.Options{Temporal: &options, BuildID: os.Getenv(buildVariable)})
	if err != nil {
		return err
	}
	defer a.Close()
	return a.RunWorker(ctx, nil)
}

// changedCode changes the commands of orders' workflows: a timer when a run begins and before every
// move. With GetVersion the changed code replays the histories of the unchanged code, which cannot
// replay those of the changed code.
type changedCode struct {
	interceptor.InterceptorBase
}

func (*changedCode) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	changed := &changedWorkflow{}
	changed.Next = next
	return changed
}

type changedWorkflow struct {
	interceptor.WorkflowInboundInterceptorBase
}

const changedTimer = "changed code"

func startChangedTimer(ctx workflow.Context, change string) {
	if workflow.GetVersion(ctx, change, workflow.DefaultVersion, 1) == 1 {
		workflow.NewTimerWithOptions(ctx, time.Hour, workflow.TimerOptions{Summary: changedTimer})
	}
}

func (c *changedWorkflow) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	if workflow.GetInfo(ctx).WorkflowType.Name == workflows.OrderWorkflowName {
		startChangedTimer(ctx, "timer at the start")
	}
	return c.Next.ExecuteWorkflow(ctx, in)
}

func (c *changedWorkflow) ExecuteUpdate(ctx workflow.Context, in *interceptor.UpdateInput) (any, error) {
	startChangedTimer(ctx, "timer before a move")
	return c.Next.ExecuteUpdate(ctx, in)
}

// makeCurrent makes a release current, as `despacho deployment current` does.
func (r *rollout) makeCurrent(release string) {
	r.t.Helper()
	poll.Until(r.t, func() error {
		routing, err := r.deployment.Routing(r.t.Context())
		if err != nil {
			return err
		}
		return r.deployment.SetCurrent(r.t.Context(), routing, release)
	})
	// The task queue is told of it afterwards: until then tasks go to the version before.
	poll.Until(r.t, func() error {
		described, err := r.Temporal.WorkflowService().DescribeTaskQueue(r.t.Context(), &workflowservice.DescribeTaskQueueRequest{
			Namespace: client.DefaultNamespace, TaskQueue: &taskqueue.TaskQueue{Name: r.Config.TaskQueue}, TaskQueueType: enums.TASK_QUEUE_TYPE_WORKFLOW,
		})
		if err != nil {
			return err
		}
		if current := described.GetVersioningInfo().GetCurrentDeploymentVersion().GetBuildId(); current != release {
			return fmt.Errorf("the task queue's current version is %q", current)
		}
		return nil
	})
}

// CreateOrder creates an order whose history is looked at in the end.
func (r *rollout) CreateOrder(t *testing.T, key string) string {
	id := r.service.CreateOrder(t, key)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.orders = append(r.orders, id)
	return id
}

// beginChangedOrder creates orders until one was begun by changed code.
func (r *rollout) beginChangedOrder() (id string) {
	r.t.Helper()
	poll.Until(r.t, func() error {
		id = r.CreateOrder(r.t, r.Key)
		r.waitForIdle(r.t, id)
		for _, event := range r.historyOf(r.t, workflowOf(id), "").Events {
			if event.GetEventType() == enums.EVENT_TYPE_TIMER_STARTED && strings.Contains(string(event.GetUserMetadata().GetSummary().GetData()), changedTimer) {
				return nil
			}
		}
		return errors.New("the order was begun by unchanged code")
	})
	return id
}

// receiveInBackground receives an order while its worker may be away.
func (r *rollout) receiveInBackground(id string) <-chan *apptest.Answer {
	answer := make(chan *apptest.Answer, 1)
	go func() { answer <- r.move(r.t, id, "receive", nil) }()
	return answer
}

// finishLife moves an order on until it is delivered.
func (r *rollout) finishLife(id string) {
	r.t.Helper()
	switch r.order(r.t, id).String("status") {
	case "registered":
		r.receive(r.t, id)
		fallthrough
	case "received":
		r.assign(r.t, id, 0)
		fallthrough
	default:
		r.deliver(r.t, id)
	}
	r.waitForEnd(r.t, workflowOf(id))
}

// load creates orders and moves them through their lives until it is told to finish.
type load struct {
	t     *testing.T
	lives atomic.Int32
	done  chan struct{}
	ended sync.WaitGroup
}

func (r *rollout) startLoad() *load {
	l := &load{t: r.t, done: make(chan struct{})}
	r.t.Cleanup(l.finish)
	for range 2 {
		l.ended.Go(func() {
			for {
				select {
				case <-l.done:
					return
				default:
					r.finishLife(r.CreateOrder(r.t, r.Key))
					l.lives.Add(1)
				}
			}
		})
	}
	return l
}

// awaitLives waits until so many lives have ended since.
func (l *load) awaitLives(count int32) {
	l.t.Helper()
	want := l.lives.Load() + count
	poll.Until(l.t, func() error {
		if got := l.lives.Load(); got < want {
			return fmt.Errorf("%d lives of %d", got, want)
		}
		return nil
	})
}

func (l *load) finish() {
	select {
	case <-l.done:
	default:
		close(l.done)
	}
	l.ended.Wait()
}

// histories are those of all orders.
func (r *rollout) histories() map[string]*history.History {
	r.mu.Lock()
	ids := slices.Clone(r.orders)
	r.mu.Unlock()
	all := map[string]*history.History{}
	for _, id := range ids {
		all[id] = r.historyOf(r.t, workflowOf(id), "")
	}
	return all
}

// failedTasks lists the workflow tasks that a worker has failed.
func (r *rollout) failedTasks() (failed []string) {
	r.t.Helper()
	for id, events := range r.histories() {
		for _, event := range events.Events {
			if attributes := event.GetWorkflowTaskFailedEventAttributes(); attributes != nil {
				failed = append(failed, fmt.Sprintf("%s: %s: %s", id, attributes.Cause, attributes.Failure.GetMessage()))
			}
		}
	}
	return failed
}

// tasksOf lists the orders with a workflow task that a version has completed.
func (r *rollout) tasksOf(version string) (ids []string) {
	for id, events := range r.histories() {
		if slices.Contains(completedBy(events), version) {
			ids = append(ids, id)
		}
	}
	return ids
}

// versionsOf lists the versions that have completed workflow tasks of an order, one after the
// other.
func (r *rollout) versionsOf(id string) []string {
	r.t.Helper()
	return completedBy(r.historyOf(r.t, workflowOf(id), ""))
}

// completedBy lists the versions that have completed workflow tasks, one after the other.
func completedBy(events *history.History) (versions []string) {
	for _, event := range events.Events {
		if attributes := event.GetWorkflowTaskCompletedEventAttributes(); attributes != nil {
			versions = append(versions, attributes.GetDeploymentVersion().GetBuildId())
		}
	}
	return slices.Compact(versions)
}
