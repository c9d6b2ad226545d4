package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"despacho/internal/db"
	"despacho/internal/recovered"
	"despacho/models"
)

const (
	// retentionBatch and retentionOrders bound one pass over the events and the orders whose retention
	// is over: the next pass, which follows at once, continues. So neither waits for all of the other.
	retentionBatch  = 500
	retentionOrders = 50
	// testRetention is how long the recipient's data of an ended test order is kept.
	testRetention = 7 * 24 * time.Hour
)

// ApplyRetention erases what has been kept long enough: the data of old events with their
// responses, and the recipients of orders that ended long ago, which for test orders is a week. It
// makes passes until nothing is left that can be erased, or over reports that its time is. Orders
// whose events are still being sent, and orders that fail, wait for a later call.
func (s *Service) ApplyRetention(ctx context.Context, over func() bool) (erased int, err error) {
	now := s.clock.Now()
	var ended []*endedOrders
	for _, kept := range []struct {
		age       time.Duration
		onlyTests bool
	}{{s.options.PersonalDataRetention, false}, {testRetention, true}} {
		if kept.age > 0 {
			ended = append(ended, &endedOrders{before: now.Add(-kept.age), onlyTests: kept.onlyTests})
		}
	}
	for {
		inPass, err := s.eraseOldEvents(ctx, now)
		if err != nil {
			return erased, errors.Join(err, failures(ended))
		}
		unavailable := false
		for _, orders := range ended {
			count, err := s.eraseEnded(ctx, orders)
			inPass += count
			unavailable = unavailable || err != nil
		}
		erased += inPass
		if inPass == 0 || unavailable || over() {
			return erased, failures(ended)
		}
	}
}

// eraseOldEvents erases the data of events whose retention is over, as many as one pass may.
func (s *Service) eraseOldEvents(ctx context.Context, now time.Time) (erased int, err error) {
	if s.options.PayloadRetention == 0 {
		return 0, nil
	}
	before := now.Add(-s.options.PayloadRetention)
	var deliveries []models.WebhookDelivery
	err = s.db.Query(ctx).Where("finished_at < ? AND erased_at IS NULL",
		before).Order("finished_at").Limit(retentionBatch).Find(&deliveries).Error
	if err != nil {
		return 0, err
	}
	var events []models.FeedEvent
	err = s.db.Query(ctx).Where("created_at < ? AND erased_at IS NULL",
		before).Order("created_at").Limit(retentionBatch).Find(&events).Error
	if err != nil {
		return 0, err
	}
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		return rewriteEvents(ctx, tx, deliveries, events, erasedData, &now)
	})
	return len(deliveries) + len(events), err
}

// endedOrders are the orders, or the test orders, that have not changed since a time.
type endedOrders struct {
	before    time.Time
	onlyTests bool
	// after is the last order that was tried. The next pass goes on behind it: orders that cannot be
	// erased would be tried once more in every pass, before those that can.
	after db.Position
	// failed is about the last order that failed.
	failed error
}

// failures joins what failed in all passes.
func failures(all []*endedOrders) error {
	var errs []error
	for _, orders := range all {
		errs = append(errs, orders.failed)
	}
	return errors.Join(errs...)
}

// eraseEnded erases ended orders, as many as one pass may. Orders that fail, however many, do not
// keep later ones from their turn; only where Temporal or the database is unavailable does the pass
// end early, with an error that is also in failed.
func (s *Service) eraseEnded(ctx context.Context, ended *endedOrders) (erased int, unavailable error) {
	for erased < retentionOrders {
		query := s.db.Query(ctx).Where("status IN ? AND erased_at IS NULL AND updated_at < ?", models.EndedStatuses, ended.before)
		if ended.onlyTests {
			query = query.Where("test")
		}
		var orders []models.Order
		err := query.Where("(updated_at, id) > (?, ?)", ended.after.At, ended.after.ID).
			Order("updated_at, id").Limit(retentionOrders).Find(&orders).Error
		if err != nil {
			ended.failed = errors.Join(ended.failed, err)
			return erased, err
		}
		if len(orders) == 0 {
			return erased, nil
		}
		for i := range orders {
			ended.after = db.Position{At: orders[i].UpdatedAt, ID: orders[i].ID}
			err := recovered.Call(ctx, s.log, func() error { return s.erase(ctx, &orders[i]) })
			switch {
			case err == nil:
				erased++
			case !errors.Is(err, ErrNotEnded):
				s.log.ErrorContext(ctx, "recipient not erased though the retention is over", "order_id", orders[i].ID, "error",
					err)
				ended.failed = fmt.Errorf("recipients were not erased, the last is that of order %s: %w", orders[i].ID, err)
			}
			if IsUnavailable(err) {
				return erased, err
			}
		}
	}
	return erased, nil
}
