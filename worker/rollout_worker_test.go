package worker_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"despacho/internal/app"
	"despacho/internal/config"
	"despacho/internal/dev"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
	"despacho/worker"
	"despacho/workflows"
)

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
