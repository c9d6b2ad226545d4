package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"despacho/db"
	"despacho/internal/recovered"
)

const (
	// retentionBatch and retentionOrders bound one pass over the deliveries and the orders whose
	// retention is over: the next pass, which follows at once, continues.
	retentionBatch  = 500
	retentionOrders = 50
	// testRetention is how long the recipient's data of an ended test order is kept.
	testRetention = 7 * 24 * time.Hour
)

// ApplyRetention erases what has been kept long enough: the data of old events with their
// responses, and the recipients of orders that ended long ago, which for test orders is a week.
// Orders whose events are still being sent wait for a later pass.
func (s *Service) ApplyRetention(ctx context.Context) (erased int, err error) {
	now := s.clock.Now()
	if s.options.PayloadRetention > 0 {
		deliveries, err := s.db.DeliveriesFinishedBefore(ctx, now.Add(-s.options.PayloadRetention), retentionBatch)
		if err != nil {
			return 0, err
		}
		events, err := s.db.UnerasedFeedEventsBefore(ctx, now.Add(-s.options.PayloadRetention), retentionBatch)
		if err != nil {
			return 0, err
		}
		err = s.db.InTx(ctx, func(tx *db.DB) error {
			if err := eraseDeliveries(ctx, tx, deliveries, now); err != nil {
				return err
			}
			return eraseFeedEvents(ctx, tx, events, now)
		})
		if err != nil {
			return 0, err
		}
		erased = len(deliveries) + len(events)
	}
	for _, kept := range []struct {
		age       time.Duration
		onlyTests bool
	}{{s.options.PersonalDataRetention, false}, {testRetention, true}} {
		if kept.age == 0 {
			continue
		}
		orders, endedErr := s.eraseEnded(ctx, now.Add(-kept.age), kept.onlyTests)
		erased += orders
		err = errors.Join(err, endedErr)
	}
	return erased, err
}

// eraseEnded erases the orders that have not changed since a time, as many as one pass may. Orders
// that fail, however many, do not keep later ones from their turn; only where Temporal or the
// database is unavailable does the pass end early.
func (s *Service) eraseEnded(ctx context.Context, before time.Time, onlyTests bool) (erased int, err error) {
	var after db.Position
	var failed error
	for erased < retentionOrders {
		orders, err := s.db.OrdersEndedBefore(ctx, before, onlyTests, after, retentionOrders)
		if err != nil || len(orders) == 0 {
			return erased, errors.Join(failed, err)
		}
		for i := range orders {
			after = db.Position{At: orders[i].UpdatedAt, ID: orders[i].ID}
			err := recovered.Call(ctx, s.log, func() error { return s.erase(ctx, &orders[i]) })
			switch {
			case err == nil:
				erased++
			case !errors.Is(err, ErrNotEnded):
				s.log.ErrorContext(ctx, "recipient not erased though the retention is over", "order_id", orders[i].ID, "error", err)
				failed = fmt.Errorf("recipients were not erased, the last is that of order %s: %w", orders[i].ID, err)
			}
			if IsUnavailable(err) {
				return erased, failed
			}
		}
	}
	return erased, failed
}
