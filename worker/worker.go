// Package worker registers workflows and activities and runs them until told to stop.
package worker

import (
	"context"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"despacho/activities"
	"despacho/workflows"
)

// Options are what a worker is made of.
type Options struct {
	Temporal  client.Client
	TaskQueue string
	Namespace string
	Log       *slog.Logger
	// StopTimeout is how long tasks in flight may take to finish when the worker stops.
	StopTimeout time.Duration
	// Started is called once the worker takes tasks; nil if nobody needs to know.
	Started func()
}

// Run works until ctx ends, then stops polling and finishes the tasks it has. While Temporal cannot
// be reached it keeps trying.
func Run(ctx context.Context, a *activities.Activities, options Options) error {
	if err := waitForTemporal(ctx, options); err != nil {
		return nil // told to stop before Temporal came
	}
	worker.SetStickyWorkflowCacheSize(stickyCacheSize)
	w := worker.New(options.Temporal, options.TaskQueue, workerOptions(options.StopTimeout))
	Register(w)
	a.Register(w)
	if err := w.Start(); err != nil {
		return err
	}
	options.Log.Info("worker started", "task_queue", options.TaskQueue)
	if options.Started != nil {
		options.Started()
	}
	<-ctx.Done()
	w.Stop()
	options.Log.Info("worker stopped")
	return nil
}

// Register gives every workflow the name that it is started by.
func Register(w worker.WorkflowRegistry) {
	w.RegisterWorkflowWithOptions(workflows.Order, workflow.RegisterOptions{Name: workflows.OrderWorkflowName})
	w.RegisterWorkflowWithOptions(workflows.Delivery, workflow.RegisterOptions{Name: workflows.DeliveryWorkflowName})
	w.RegisterWorkflowWithOptions(workflows.Redelivery, workflow.RegisterOptions{Name: workflows.RedeliveryWorkflowName})
	w.RegisterWorkflowWithOptions(workflows.Reconcile, workflow.RegisterOptions{Name: workflows.ReconcileWorkflowName})
}

// workflowPollers is how many wait for workflow tasks at the least.
const workflowPollers = 16

// ordersInMemory is how many orders' workflows a worker keeps ready, each at some 45 KB. Most open
// orders wait for hours: one that is not kept costs its next move a reading of its history, which
// is short.
const stickyCacheSize = 2_000

// tuning: with the SDK's two workflow pollers, or with pollers that scale from few to many, the
// first updates after a start wait for seconds under load; from sixteen on they do not
// (BenchmarkFirstUpdate shows it).
func workerOptions(stopTimeout time.Duration) worker.Options {
	return worker.Options{
		WorkflowTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{
			InitialNumberOfPollers: workflowPollers, MinimumNumberOfPollers: workflowPollers,
		}),
		ActivityTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		WorkerStopTimeout:          stopTimeout,
		// How long an order waits for the worker that knows it before another takes over: less than
		// the caller of a move waits, so that a worker that died does not cost every move a 503.
		StickyScheduleToStartTimeout: 2 * time.Second,
	}
}

const (
	initialBackoff = time.Second
	maxBackoff     = time.Minute
)

// waitForTemporal returns when Temporal answers and the namespace is ready for orders. It logs one
// line for each try, at growing intervals.
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
