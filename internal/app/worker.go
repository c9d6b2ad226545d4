package app

import (
	"context"
	"sync"

	"despacho/activities"
	"despacho/internal/webhooks"
	"despacho/internal/webhooks/sender"
	"despacho/worker"
)

// RunWorker runs workflows and activities until ctx ends, then finishes its running tasks. started,
// if not nil, is called once it polls for tasks.
func (a *App) RunWorker(ctx context.Context, started func()) error {
	sending := *a.webhooks
	sending.Sender, sending.Slots = sender.NewSender(sender.Options{HTTP: a.safeHTTPOptions(), Now: a.clock.Now}),
		webhooks.NewSlots()
	if sending.Paused {
		a.log.Warn("webhooks are paused: events are stored, and sent once WEBHOOKS_PAUSED is unset")
	}
	options := worker.Options{
		Temporal: a.Temporal, Tasks: a.tasks, TaskQueue: a.Config.TaskQueue, Namespace: a.namespace, Log: a.log,
		BuildID: a.buildID, Only: a.only,
		LocalActivitySlots: a.Config.DatabaseMaxConns,
		StopTimeout:        a.Config.ShutdownTimeout, Started: started, Polling: a.polling.Store, Rebuild: a.rebuildWorkflows,
		SchedulePaused: a.reconcilePaused.Store, DeadlockTimeout: a.Config.Timeouts.Deadlock,
	}
	queueing, stopQueue := context.WithCancel(ctx)
	var queue sync.WaitGroup
	if options.Serves(worker.PartOut) {
		queue.Go(func() { sending.RunQueue(queueing, a.log, a.Config.ShutdownTimeout) })
	}
	if options.Serves(worker.PartOrders) {
		queue.Go(func() { a.events.RunPublisher(queueing) })
	}
	defer queue.Wait()
	defer stopQueue()
	a.runsWorker.Store(true)
	return worker.Run(ctx, &activities.Activities{
		Orders: a.Orders, DB: a.DB, Clock: a.clock, Log: a.log,
		Webhooks: &sending,
		Identity: a.identity,
		MapLinks: a.mapLinks,
		LastPass: a.Config.Timeouts.LastPass,
	}, options)
}

// rebuildWorkflows makes the reconcile workflow start the workflow of every open order again.
func (a *App) rebuildWorkflows(ctx context.Context) error {
	count, err := a.Orders.UnconfirmOpenOrders(ctx)
	if err == nil && count > 0 {
		a.log.Warn("Temporal had no reconcile schedule: every open order gets its workflow again", "orders", count)
	}
	return err
}
