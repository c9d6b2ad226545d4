// Package worker registers workflows and activities and runs the Temporal worker.
package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"despacho/activities"
	"despacho/workflows"
)

// Options configures a worker.
type Options struct {
	Temporal client.Client
	// Tasks is the client that tasks are polled and answered with.
	Tasks     client.Client
	TaskQueue string
	Namespace string
	Log       *slog.Logger
	// Only leaves the other part to other workers; empty serves both.
	Only Part
	// BuildID is the version of the worker's code. Temporal gives it tasks when it is the deployment's
	// current version; Unversioned turns versioning off.
	BuildID string
	// StopTimeout is how long running tasks may take to finish when the worker stops.
	StopTimeout time.Duration
	// DeadlockTimeout is how long workflow code may run without yielding.
	DeadlockTimeout time.Duration
	// LocalActivitySlots is how many local activities run at once. Each holds a database connection:
	// with more slots than connections, some would wait for one while their timeout runs.
	LocalActivitySlots int
	// Rebuild is called when Temporal has no reconcile schedule: it is new, or has lost its database.
	Rebuild func(ctx context.Context) error
	// SchedulePaused is told with every check whether the reconcile schedule is paused; may be nil.
	SchedulePaused func(paused bool)
	// Started is called once the worker polls for tasks; may be nil.
	Started func()
	// Polling is called when the worker begins and when it stops polling; may be nil.
	Polling func(polling bool)
}

// Part is one of the two parts of a worker, each with a task queue of its own.
type Part string

const (
	// PartOrders are the workflows, their moves and reconcile.
	PartOrders Part = "orders"
	// PartOut is what leaves the house: webhook calls, map links and identity checks.
	PartOut Part = "out"
)

// Serves reports whether the options' worker serves a part.
func (options Options) Serves(part Part) bool { return options.Only == "" || options.Only == part }

// Run runs the worker until ctx ends, then stops polling and finishes its running tasks. It waits
// until Temporal is reachable and has the namespace.
func Run(ctx context.Context, a *activities.Activities, options Options) error {
	if options.Started == nil {
		options.Started = func() {}
	}
	options.Started = sync.OnceFunc(options.Started)
	if options.Polling == nil {
		options.Polling = func(bool) {}
	}
	return keepRunning(ctx, options, func() error { return runWorker(ctx, a, options) })
}

// keepRunning runs the worker again when it has stopped by itself: the SDK ends a worker whose
// namespace has been gone for minutes, as after Temporal has lost its database.
func keepRunning(ctx context.Context, options Options, run func() error) error {
	for {
		if !waitForTemporal(ctx, options) {
			return nil
		}
		err := run()
		if ctx.Err() != nil {
			return nil
		}
		options.Log.Error("worker stopped; it starts again when Temporal is ready", "error", err)
		if !wait(ctx, initialBackoff) {
			return nil
		}
	}
}

// runWorker runs a worker until ctx ends, or returns why it stopped before.
func runWorker(ctx context.Context, a *activities.Activities, options Options) error {
	worker.SetStickyWorkflowCacheSize(stickyCacheSize)
	fatal := make(chan error, 2)
	workers := newWorkers(a, options, func(err error) { fatal <- err })
	for i, w := range workers {
		if err := w.Start(); err != nil {
			stop(workers[:i])
			return err
		}
	}
	options.Log.Info("worker started", "task_queue", options.TaskQueue, "only", options.Only, "version", options.BuildID)
	options.Polling(true)
	defer options.Polling(false)
	options.Started()
	backgroundCtx, stopBackground := context.WithCancel(ctx)
	var background sync.WaitGroup
	if options.Serves(PartOrders) {
		background.Go(func() { keepSchedule(backgroundCtx, options) })
	}
	background.Go(func() { keepCurrentVersion(backgroundCtx, options) })
	var err error
	select {
	case <-ctx.Done():
	case err = <-fatal:
	}
	stopBackground()
	stop(workers)
	background.Wait()
	options.Log.Info("worker stopped")
	return err
}

// newWorkers are the workers of the parts that the options' worker serves.
func newWorkers(a *activities.Activities, options Options, onFatalError func(error)) (workers []worker.Worker) {
	sdkOptions := workerOptions(options)
	sdkOptions.OnFatalError = onFatalError
	if options.Serves(PartOrders) {
		w := worker.New(options.Tasks, options.TaskQueue, sdkOptions)
		Register(w)
		a.Register(w)
		workers = append(workers, w)
	}
	if options.Serves(PartOut) {
		sdkOptions.DisableWorkflowWorker, sdkOptions.MaxConcurrentActivityExecutionSize = true, outSlots
		w := worker.New(options.Tasks, workflows.OutQueue(options.TaskQueue), sdkOptions)
		a.Register(w)
		workers = append(workers, w)
	}
	return workers
}

// stop stops all workers at once: each takes until its running tasks have finished.
func stop(workers []worker.Worker) {
	var stopping sync.WaitGroup
	for _, w := range workers {
		stopping.Go(w.Stop)
	}
	stopping.Wait()
}

// outSlots is how many activities that leave the house run at once. A call that waits for its
// receiver holds no database connection, but it needs one before and after; a burst of more calls
// would have moves wait for theirs.
const outSlots = 128

// Register registers every workflow under its name.
func Register(w worker.WorkflowRegistry) {
	w.RegisterWorkflowWithOptions(workflows.Order, workflow.RegisterOptions{Name: workflows.OrderWorkflowName})
	w.RegisterWorkflowWithOptions(workflows.Simulation, workflow.RegisterOptions{Name: workflows.SimulationWorkflowName})
	w.RegisterWorkflowWithOptions(workflows.Reconcile, workflow.RegisterOptions{Name: workflows.ReconcileWorkflowName})
}

// workflowPollers is the minimum number of workflow task pollers. With the SDK's default of two, or
// with few autoscaling ones, the first updates after a start take seconds under load; with sixteen
// they do not (see BenchmarkFirstUpdate).
const workflowPollers = 16

// stickyCacheSize is the number of workflow runs that the sticky cache holds, about 45 KB each.
// Most open orders wait for hours; an evicted one replays its short history at its next move.
const stickyCacheSize = 2_000

func workerOptions(options Options) worker.Options {
	return worker.Options{
		DeploymentOptions: deploymentOptions(options.TaskQueue, options.BuildID),
		WorkflowTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{
			InitialNumberOfPollers: workflowPollers, MinimumNumberOfPollers: workflowPollers,
		}),
		ActivityTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		WorkerStopTimeout:          options.StopTimeout,

		MaxConcurrentLocalActivityExecutionSize: options.LocalActivitySlots,
		DeadlockDetectionTimeout:                options.DeadlockTimeout,
		Interceptors:                            []interceptor.WorkerInterceptor{&workflows.SignalOrder{}},
		// How long a task waits for the worker that has the run cached: less than the move timeout,
		// so that a crashed worker does not fail every move with 503.
		StickyScheduleToStartTimeout: 2 * time.Second,
	}
}

const (
	initialBackoff = time.Second
	maxBackoff     = time.Minute
)

// waitForTemporal retries with exponential backoff until Temporal is prepared for the worker,
// logging every failure. It returns false when ctx ends before.
func waitForTemporal(ctx context.Context, options Options) bool {
	for backoff := initialBackoff; ; backoff = min(2*backoff, maxBackoff) {
		err := prepareNamespace(ctx, options)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		options.Log.Warn("Temporal is not ready; trying again", "in", backoff, "error", err)
		if !wait(ctx, backoff) {
			return false
		}
	}
}

// wait returns after d, or with false when ctx ends.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
