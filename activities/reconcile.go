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

	"despacho/db"
	"despacho/internal/recovered"
	"despacho/orders"
	"despacho/webhooks"
)

const (
	// reconcilePage is how many rows are read at once.
	reconcilePage = 500
	// passInterval is the time between the passes of one run.
	passInterval = 5 * time.Second
	// lastPassTimeout is how long the last pass may take after the run's time is over.
	lastPassTimeout = 20 * time.Second
)

// Reconcile makes passes over the orders without a confirmed workflow until the time is over or the
// worker stops. A pass that is not done by then ends with the page that it is at: the next run,
// which follows at once, goes on. What is overdue for longer than that is looked at once.
func (a *Activities) Reconcile(ctx context.Context, duration time.Duration) error {
	looking, stopLooking := context.WithTimeout(ctx, duration)
	defer stopLooking()
	stopping := activity.GetWorkerStopChannel(ctx)
	over := func() bool {
		select {
		case <-stopping:
			return true
		default:
			return looking.Err() != nil
		}
	}
	passes, cancel := context.WithTimeout(ctx, duration+lastPassTimeout)
	defer cancel()
	erasing := make(chan error, 1)
	// Beside the passes: what there is to erase may take the whole run.
	go func() {
		erasing <- recovered.Call(passes, a.Log, func() error { return a.applyRetention(passes, over) })
	}()
	failed := a.firstPass(passes, over)
	for !over() {
		select {
		case <-stopping:
		case <-looking.Done():
		case <-time.After(passInterval):
			if _, err := a.startUnconfirmed(passes, over); err != nil {
				failed = errors.Join(failed, err)
			}
		}
	}
	failed = errors.Join(failed, <-erasing)
	if passes.Err() != nil {
		return nil // the next run continues
	}
	return failed
}

// applyRetention erases until nothing is left that can be erased and whose retention is over, or
// the run is over.
func (a *Activities) applyRetention(ctx context.Context, over func() bool) error {
	for {
		erased, err := a.Orders.ApplyRetention(ctx)
		if erased == 0 || over() {
			return err
		}
	}
}

// firstPass is what a run does once.
func (a *Activities) firstPass(ctx context.Context, over func() bool) error {
	compareErr := a.compareHourly(ctx)
	_, startErr := a.startMissing(ctx, over)
	_, driveErr := a.DriveAbandonedDeliveries(ctx)
	_, clearErr := a.ClearExpiredRecords(ctx)
	_, encryptErr := a.Orders.EncryptDocuments(ctx)
	return errors.Join(compareErr, startErr, driveErr, clearErr, encryptErr)
}

// StartMissingOrders reconciles the orders whose workflow is unconfirmed, and those that should
// have been auto-cancelled long ago.
func (a *Activities) StartMissingOrders(ctx context.Context) (started int, err error) {
	return a.startMissing(ctx, func() bool { return false })
}

func (a *Activities) startMissing(ctx context.Context, over func() bool) (started int, err error) {
	started, err = a.startUnconfirmed(ctx, over)
	overdue := a.Clock.Now().Add(-orders.OverdueAfter)
	more, overdueErr := a.startAll(ctx, over, a.Orders.StartMissing, func(after db.Position) ([]db.Position, error) {
		return a.DB.OverdueOrders(ctx, overdue, after, reconcilePage)
	})
	return started + more, errors.Join(err, overdueErr)
}

func (a *Activities) startUnconfirmed(ctx context.Context, over func() bool) (int, error) {
	now := a.Clock.Now()
	return a.startAll(ctx, over, a.Orders.StartUnconfirmed, func(after db.Position) ([]db.Position, error) {
		return a.DB.OrdersMissingWorkflow(ctx, now, orders.StartGracePeriod, after, reconcilePage)
	})
}

// startAll calls start for every order that the pages list, oldest first. Orders that fail, however
// many, do not keep later ones from their turn; only where Temporal or the database is unavailable,
// or after a page when the run is over, does the pass end early.
func (a *Activities) startAll(ctx context.Context, over func() bool, start func(context.Context, uuid.UUID) error, page func(after db.Position) ([]db.Position, error)) (int, error) {
	var started atomic.Int64
	var unavailable atomic.Bool
	var after db.Position
	var failed error
	for {
		found, err := page(after)
		if err != nil || len(found) == 0 {
			return int(started.Load()), errors.Join(failed, err)
		}
		var starts errgroup.Group
		starts.SetLimit(orders.MaxStartConcurrency)
		for _, order := range found {
			starts.Go(func() error {
				if err := recovered.Call(ctx, a.Log, func() error { return start(ctx, order.ID) }); err != nil {
					a.Log.WarnContext(ctx, "order not started", "order_id", order.ID, "error", err)
					if orders.IsUnavailable(err) {
						unavailable.Store(true)
					}
					return fmt.Errorf("orders were not started, the first is %s: %w", order.ID, err)
				}
				started.Add(1)
				return nil
			})
		}
		if err := starts.Wait(); err != nil {
			failed = err
		}
		if unavailable.Load() || over() {
			return int(started.Load()), failed
		}
		after = found[len(found)-1]
	}
}

// DriveAbandonedDeliveries makes a workflow send each abandoned delivery: that of its order, which
// sends what it is not sending yet, or else one of its own. Queued deliveries are sent by the
// workers; those that a wrong clock holds back are released.
func (a *Activities) DriveAbandonedDeliveries(ctx context.Context) (driven int, err error) {
	now := a.Clock.Now()
	released, err := a.DB.ReleaseQueued(ctx, now, now.Add(webhooks.LongestWait))
	driven = int(released)
	told := map[uuid.UUID]bool{} // orders' workflows: a run takes at most 10,000 signals
	var after db.Position
	for {
		targets, readErr := a.DB.AbandonedDeliveries(ctx, now.Add(-orders.OverdueAfter), now.Add(webhooks.LongestWait), after, reconcilePage)
		if readErr != nil || len(targets) == 0 {
			return driven, errors.Join(err, readErr)
		}
		for _, target := range targets {
			if target.OrderID == nil || !told[*target.OrderID] {
				byOrder, driveErr := a.Webhooks.Drive(ctx, target)
				if driveErr != nil {
					err = driveErr
					continue
				}
				if byOrder {
					told[*target.OrderID] = true
				}
			}
			driven++
		}
		last := targets[len(targets)-1]
		after = db.Position{At: *last.NextAttemptAt, ID: last.ID}
	}
}

// ClearExpiredRecords deletes expired rows.
func (a *Activities) ClearExpiredRecords(ctx context.Context) (int, error) {
	cleared, err := a.DB.ClearExpired(ctx, a.Clock.Now())
	return int(cleared.Total()), err
}
