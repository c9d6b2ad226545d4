// Package worker registers workflows and activities and runs the Temporal worker.
package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
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
	// StopTimeout is how long running tasks may take to finish when the worker stops.
	StopTimeout time.Duration
	// DeadlockTimeout is how long workflow code may run without yielding.
	DeadlockTimeout time.Duration
	// Rebuild is called when Temporal has no reconcile schedule: it is new, or has lost its database.
	Rebuild func(ctx context.Context) error
	// Started is called once the worker polls for tasks; may be nil.
	Started func()
}

// Run runs the worker until ctx ends, then stops polling and finishes its running tasks. While
// Temporal is unreachable it keeps trying to connect.
func Run(ctx context.Context, a *activities.Activities, options Options) error {
	if err := waitForTemporal(ctx, options); err != nil {
		return nil // stopped before Temporal was reachable
	}
	worker.SetStickyWorkflowCacheSize(stickyCacheSize)
	w := worker.New(options.Tasks, options.TaskQueue, workerOptions(options))
	Register(w)
	a.Register(w)
	if err := w.Start(); err != nil {
		return err
	}
	options.Log.Info("worker started", "task_queue", options.TaskQueue)
	if options.Started != nil {
		options.Started()
	}
	var keeping sync.WaitGroup
	keeping.Go(func() { keepSchedule(ctx, options) })
	<-ctx.Done()
	w.Stop()
	keeping.Wait()
	options.Log.Info("worker stopped")
	return nil
}

// Register registers every workflow under its name.
func Register(w worker.WorkflowRegistry) {
	w.RegisterWorkflowWithOptions(workflows.Order, workflow.RegisterOptions{Name: workflows.OrderWorkflowName})
	w.RegisterWorkflowWithOptions(workflows.Delivery, workflow.RegisterOptions{Name: workflows.DeliveryWorkflowName})
	w.RegisterWorkflowWithOptions(workflows.Redelivery, workflow.RegisterOptions{Name: workflows.RedeliveryWorkflowName})
	w.RegisterWorkflowWithOptions(workflows.Reconcile, workflow.RegisterOptions{Name: workflows.ReconcileWorkflowName})
}

// workflowPollers is the minimum number of workflow task pollers.
const workflowPollers = 16

// stickyCacheSize is the number of workflow runs that the sticky cache holds, about 45 KB each.
// Most open orders wait for hours; an evicted one replays its short history at its next move.
const stickyCacheSize = 2_000

// workerOptions: with the SDK's default of two workflow pollers, or with few autoscaling ones, the
// first updates after a start take seconds under load; with sixteen they do not (see
// BenchmarkFirstUpdate).
func workerOptions(options Options) worker.Options {
	return worker.Options{
		WorkflowTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{
			InitialNumberOfPollers: workflowPollers, MinimumNumberOfPollers: workflowPollers,
		}),
		ActivityTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		WorkerStopTimeout:          options.StopTimeout,
		DeadlockDetectionTimeout:   options.DeadlockTimeout,
		// How long a task waits for the worker that has the run cached: less than the move timeout,
		// so that a crashed worker does not fail every move with 503.
		StickyScheduleToStartTimeout: 2 * time.Second,
	}
}

const (
	initialBackoff = time.Second
	maxBackoff     = time.Minute
)

// waitForTemporal retries prepareNamespace with exponential backoff until it succeeds, logging
// every failure.
func waitForTemporal(ctx context.Context, options Options) error {
	for wait := initialBackoff; ; wait = min(2*wait, maxBackoff) {
		err := prepareNamespace(ctx, options)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		options.Log.Warn("Temporal is not ready; trying again", "in", wait, "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}
