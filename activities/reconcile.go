package activities

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/errgroup"

	"despacho/internal/db"
	"despacho/internal/orders"
	"despacho/internal/recovered"
)

const (
	// ReconcilePage is how many rows are read at once.
	ReconcilePage = 500
	// passInterval is the time between the passes of one run.
	passInterval = 5 * time.Second
)

// Reconcile makes passes over the orders without a confirmed workflow until the duration is over or
// the worker stops. A pass that is not done by then ends after its current page; the next run,
// which follows at once, goes on. The other work of firstPass is done once in a run.
func (a *Activities) Reconcile(ctx context.Context, duration time.Duration) error {
	runTime, endRunTime := context.WithTimeout(ctx, duration)
	defer endRunTime()
	stopping := activity.GetWorkerStopChannel(ctx)
	outOfTime := func() bool {
		select {
		case <-stopping:
			return true
		default:
			return runTime.Err() != nil
		}
	}
	passes, cancel := context.WithTimeout(ctx, duration+a.LastPass)
	defer cancel()
	// It runs concurrently with the passes: erasing may take the whole run.
	erased := make(chan error, 1)
	go func() {
		erased <- recovered.Call(passes, a.Log, func() error { return a.applyRetention(passes, outOfTime) })
	}()
	failed := a.firstPass(passes, outOfTime)
	for !outOfTime() {
		select {
		case <-stopping:
		case <-runTime.Done():
		case <-time.After(passInterval):
			if _, err := a.startUnconfirmed(passes, outOfTime); err != nil {
				failed = errors.Join(failed, err)
			}
		}
	}
	failed = errors.Join(failed, <-erased)
	if passes.Err() != nil {
		return nil // the next run continues
	}
	return failed
}

// applyRetention erases what has passed its retention until nothing erasable is left or the run is
// over.
func (a *Activities) applyRetention(ctx context.Context, outOfTime func() bool) error {
	_, err := a.Orders.ApplyRetention(ctx, outOfTime)
	return err
}

// firstPass starts what is missing, overdue or stuck, and does the work that is done once in a run.
func (a *Activities) firstPass(ctx context.Context, outOfTime func() bool) error {
	_, startErr := a.StartMissing(ctx, outOfTime)
	_, clearErr := clearExpired(ctx, a.DB, a.Clock.Now())
	return errors.Join(startErr, clearErr, a.Orders.FoldTotals(ctx))
}

// StartMissing reconciles the orders whose workflow is unconfirmed, cannot go on, or should have
// cancelled them long ago.
func (a *Activities) StartMissing(ctx context.Context, outOfTime func() bool) (started int, err error) {
	started, err = a.startUnconfirmed(ctx, outOfTime)
	overdue, overdueErr := a.startAll(ctx, outOfTime, a.Orders.Reconcile, a.Orders.Overdue)
	replaced, stuckErr := a.replaceStuck(ctx)
	return started + overdue + replaced, errors.Join(err, overdueErr, stuckErr)
}

func (a *Activities) startUnconfirmed(ctx context.Context, outOfTime func() bool) (int, error) {
	return a.startAll(ctx, outOfTime, a.Orders.ReconcileUnconfirmed, a.Orders.Unconfirmed)
}

// replaceStuck replaces workflows that cannot go on.
func (a *Activities) replaceStuck(ctx context.Context) (replaced int, err error) {
	ids, err := a.Orders.Stuck(ctx)
	if err != nil {
		return 0, err
	}
	replaced, _, err = a.eachOrder(ctx, "order's workflow not replaced", ids,
		func(id uuid.UUID) error { return a.Orders.ReplaceStuck(ctx, id) })
	return replaced, err
}

// startAll calls start for every order that the pages list, oldest first. Orders that fail, however
// many, do not stop the pass. It ends early only if Temporal or the database is unavailable, or
// after a page when the run is over.
func (a *Activities) startAll(
	ctx context.Context, outOfTime func() bool, start func(context.Context, uuid.UUID) error,
	page func(ctx context.Context, after db.Position, limit int) ([]db.Position, error),
) (started int, failed error) {
	var after db.Position
	for {
		found, err := page(ctx, after, ReconcilePage)
		if err != nil || len(found) == 0 {
			return started, errors.Join(failed, err)
		}
		ids := make([]uuid.UUID, len(found))
		for i, order := range found {
			ids[i] = order.ID
		}
		count, unavailable, err := a.eachOrder(ctx, "order not started", ids, func(id uuid.UUID) error { return start(ctx, id) })
		started += count
		if err != nil {
			failed = err
		}
		if unavailable || outOfTime() {
			return started, failed
		}
		after = found[len(found)-1]
	}
}

// eachOrder calls do for every order, several at once, and counts those that succeeded. A failure
// is logged with the problem and skipped. unavailable means that a call failed because Temporal or
// the database was unavailable: others would fail as well.
func (a *Activities) eachOrder(
	ctx context.Context, problem string, ids []uuid.UUID, do func(id uuid.UUID) error,
) (succeeded int, unavailable bool, failed error) {
	var successes atomic.Int64
	var outage atomic.Bool
	var calls errgroup.Group
	calls.SetLimit(orders.StartsAtOnce)
	for _, id := range ids {
		calls.Go(func() error {
			if err := recovered.Call(ctx, a.Log, func() error { return do(id) }); err != nil {
				a.Log.WarnContext(ctx, problem, "order_id", id, "error", err)
				if orders.IsUnavailable(err) {
					outage.Store(true)
				}
				return fmt.Errorf("%s, the first is %s: %w", problem, id, err)
			}
			successes.Add(1)
			return nil
		})
	}
	failed = calls.Wait()
	return int(successes.Load()), outage.Load(), failed
}
