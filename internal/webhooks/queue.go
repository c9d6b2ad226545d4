package webhooks

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"

	"despacho/internal/db"
	"despacho/internal/recovered"
	"despacho/models"
)

// A delivery that cannot be sent at once is queued in the database: webhooks are paused, the
// circuit of its webhook is open, it has no slot, or others of its webhook wait already. Every
// worker sends what is queued, the oldest first, as slots become free. So a webhook that hangs or
// fails costs Temporal nothing for each event: an activity that waits and comes back is several
// writes there, every time, and delays the tasks of all operators.

const (
	// queueInterval is the time between two passes over the queue, or minQueueInterval if
	// Slots.wakeQueue was called.
	queueInterval, minQueueInterval = 250 * time.Millisecond, 50 * time.Millisecond
	// readTimeout bounds one read of the queue: without a timeout a read from a database host that
	// has vanished blocks for a quarter of an hour.
	readTimeout = 5 * time.Second
	// queueErrorInterval is the time until the next pass after one that failed.
	queueErrorInterval = 5 * time.Second
	// internalErrorDelay is the time until a delivery is tried again that failed for an internal
	// reason.
	internalErrorDelay = time.Minute
	// maxInSequence is how many events of an order are sent one after the other before the other
	// orders of the webhook get a slot.
	maxInSequence = 100
)

// RunQueue sends what is queued until ctx ends. Then it finishes what it is sending; after grace
// that is interrupted.
func (s *Service) RunQueue(ctx context.Context, log *slog.Logger, grace time.Duration) {
	sending, interrupt := context.WithCancel(context.WithoutCancel(ctx))
	defer interrupt()
	q := &queue{Service: s, log: log, sending: sending}
	defer func() {
		defer time.AfterFunc(grace, interrupt).Stop()
		q.sends.Wait()
	}()
	for {
		pause, waiting := minQueueInterval, false
		err := recovered.Call(ctx, log, func() (err error) {
			waiting, err = q.pass(ctx)
			return err
		})
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "queued webhook deliveries not sent; trying again", "in", queueErrorInterval, "error", err)
			pause = queueErrorInterval
		}
		s.Slots.setWaiting(waiting)
		if !sleep(ctx, pause, nil) || !sleep(ctx, queueInterval-minQueueInterval, s.Slots.wake) {
			return
		}
	}
}

// sleep returns after d or when there is a value; false when ctx ends.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-wake:
	case <-time.After(d):
	}
	return true
}

// SendQueued sends the queued deliveries that have a slot now, and returns when they have been
// sent.
func (s *Service) SendQueued(ctx context.Context, log *slog.Logger) error {
	q := &queue{Service: s, log: log, sending: ctx}
	defer q.sends.Wait()
	_, err := q.pass(ctx)
	return err
}

// queue sends queued deliveries.
type queue struct {
	*Service
	log *slog.Logger
	// sending is the context of the exchanges, sends counts them.
	sending context.Context
	sends   sync.WaitGroup
}

// pass begins to send the queued deliveries that have a slot. waiting means that others are due.
func (q *queue) pass(ctx context.Context) (waiting bool, err error) {
	if q.Paused {
		return false, nil
	}
	now := q.Clock.Now()
	webhooks, err := read(ctx, func(ctx context.Context) ([]db.QueuedWebhook, error) { return q.DB.QueuedWebhooks(ctx, now) })
	if err != nil {
		return false, err
	}
	for i := range webhooks {
		webhook := &webhooks[i]
		slot := claim{operator: webhook.OperatorID, webhook: webhook.ID, failing: webhook.CircuitOpenedAt != nil}
		free := q.Slots.free(slot)
		if free == 0 || waitsForProbe(webhook, now) {
			continue
		}
		// Some of those that are listed first may have a slot already.
		ids, err := read(ctx, func(ctx context.Context) ([]uuid.UUID, error) {
			return q.DB.QueuedDeliveries(ctx, webhook, queueTimes(now), free+perWebhook)
		})
		if err != nil {
			return false, err
		}
		for _, id := range ids {
			slot := slot
			slot.delivery = id
			if done := q.Slots.take(slot); done != nil {
				q.sends.Go(func() {
					// What panics is logged, and the next pass finds what it left.
					_ = recovered.Call(ctx, q.log, func() error {
						q.sendInSlot(ctx, webhook, slot, done)
						return nil
					})
				})
			}
		}
	}
	return len(webhooks) > 0, nil
}

// read makes one read of the queue.
func read[T any](ctx context.Context, from func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return from(ctx)
}

// waitedForUntil is the time until which an event waits for the next attempt at an earlier one of
// its order: for one that comes back after an internal error, by the clock of any worker. Of the
// times between retries only the first is that short.
func waitedForUntil(now time.Time) time.Time { return now.Add(internalErrorDelay + dueTolerance) }

// queueTimes are the times that decide about queued deliveries.
func queueTimes(now time.Time) db.QueueTimes {
	return db.QueueTimes{Now: now, Soon: waitedForUntil(now), BegunAfter: now.Add(-abandonedAfter), BegunBefore: now.Add(abandonedAfter)}
}

// waitsForProbe reports whether the deliveries of a webhook wait until the next probe of its
// circuit.
func waitsForProbe(webhook *db.QueuedWebhook, now time.Time) bool {
	return webhook.CircuitOpenedAt != nil && webhook.Retry && probeTimes(now).Wait(webhook)
}

// sendInSlot sends the delivery that has a slot and, as long as they arrive, those that follow it
// in its order: they wait for each other, so that each would take a pass over the queue of its own.
func (q *queue) sendInSlot(ctx context.Context, webhook *db.QueuedWebhook, slot claim, done func()) {
	for sent := 1; ; sent++ {
		orderID := q.send(slot.delivery, done)
		if orderID == nil || sent == maxInSequence {
			return
		}
		next, err := read(ctx, func(ctx context.Context) (uuid.UUID, error) {
			return q.DB.QueuedDeliveryOf(ctx, *orderID, webhook, queueTimes(q.Clock.Now()))
		})
		if err != nil || next == uuid.Nil {
			return // after an error the next pass finds it
		}
		slot.delivery, slot.failing = next, false
		if done = q.Slots.take(slot); done == nil {
			return
		}
	}
}

// send sends a queued delivery and ends its slot. If it arrived and belongs to an order, that order
// is returned. What failed for an internal reason comes back later.
func (q *queue) send(id uuid.UUID, done func()) (orderID *uuid.UUID) {
	defer done()
	err := recovered.Call(q.sending, q.log, func() (err error) {
		orderID, err = q.attemptQueued(id)
		return err
	})
	var outcome *temporal.ApplicationError
	if err == nil || errors.As(err, &outcome) {
		return orderID // the outcome is in the database
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.sending), abandonedAfter/2)
	defer cancel()
	err = errors.Join(err, q.setNextAttempt(ctx, id, q.Clock.Now().Add(internalErrorDelay)))
	q.log.ErrorContext(ctx, "queued webhook delivery not sent; it comes back later", "delivery_id", id, "error", err)
	return nil
}

// attemptQueued makes an attempt at a queued delivery. It takes no longer than abandonedAfter,
// after which another worker makes the next one.
func (q *queue) attemptQueued(id uuid.UUID) (orderID *uuid.UUID, err error) {
	ctx, cancel := context.WithTimeout(q.sending, abandonedAfter)
	defer cancel()
	t, err := q.target(ctx, id, models.CauseAuto)
	if err != nil || t == nil || q.isPaused(t) {
		return nil, err // what was paused meanwhile stays queued
	}
	if err := q.attempt(ctx, t); err != nil {
		return nil, err
	}
	return t.delivery.OrderID, nil
}
