package webhooks

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"despacho/internal/recovered"
	"despacho/models"
)

// The queue is the table of webhook calls. It makes every attempt but the first: retries, what
// somebody requested, what waits because webhooks are paused, a circuit is open, no slot is free or
// an earlier event of the order comes first, and first attempts that no workflow has made. Every
// worker sends what is queued, the oldest first, as slots become free. So a webhook that hangs or
// fails costs Temporal nothing for each event.

const (
	// queueInterval is the time between two passes over the queue, or minQueueInterval if
	// Slots.wakeQueue was called.
	queueInterval, minQueueInterval = 250 * time.Millisecond, 50 * time.Millisecond
	// readTimeout bounds one read of the queue: without a timeout a read from a database host that
	// has vanished blocks for a quarter of an hour.
	readTimeout = 5 * time.Second
	// queueErrorInterval is the time until the next pass after one that failed.
	queueErrorInterval = 5 * time.Second
	// takeOverInterval is the time between two looks for first attempts that no workflow has made.
	takeOverInterval = 15 * time.Second
	// internalErrorDelay is the time until a call is tried again that failed for an internal reason.
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
			log.WarnContext(ctx, "queued webhook calls not made; trying again", "in", queueErrorInterval, "error", err)
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

// SendQueued makes the queued calls that have a slot now, and returns when they have been made.
func (s *Service) SendQueued(ctx context.Context, log *slog.Logger) error {
	q := &queue{Service: s, log: log, sending: ctx}
	defer q.sends.Wait()
	_, err := q.pass(ctx)
	return err
}

// queue makes queued calls.
type queue struct {
	*Service
	log *slog.Logger
	// sending is the context of the exchanges, sends counts them.
	sending context.Context
	sends   sync.WaitGroup
	// tookOver is when the queue last took over what no workflow has begun.
	tookOver time.Time
}

// pass begins the calls that have a slot. waiting means that others are due.
func (q *queue) pass(ctx context.Context) (waiting bool, err error) {
	if q.Paused {
		return false, nil
	}
	now := q.Clock.Now()
	if age := now.Sub(q.tookOver); age < 0 || age >= takeOverInterval {
		_, err := read(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, takeOver(ctx, q.DB, now) })
		if err != nil {
			return false, err
		}
		q.tookOver = now
	}
	requested, err := q.beginRequested(ctx, now)
	if err != nil {
		return false, err
	}
	queued, err := q.beginQueued(ctx, now)
	return requested || queued, err
}

// beginRequested begins the calls that somebody has requested.
func (q *queue) beginRequested(ctx context.Context, now time.Time) (waiting bool, err error) {
	calls, err := read(ctx, func(ctx context.Context) ([]requestedCall, error) { return requestedCalls(ctx, q.DB, now) })
	for _, call := range calls {
		slot := claim{owner: slotOwner{call.OperatorID, call.Test}, store: call.OwnerStoreID, webhook: call.WebhookID, call: call.ID,
			failing: call.Failing, requested: true}
		q.begin(ctx, slot)
	}
	return len(calls) > 0, err
}

// beginQueued begins the scheduled calls.
func (q *queue) beginQueued(ctx context.Context, now time.Time) (waiting bool, err error) {
	webhooks, err := read(ctx, func(ctx context.Context) ([]queuedWebhook, error) { return queuedWebhooks(ctx, q.DB, now) })
	if err != nil {
		return false, err
	}
	for i := range webhooks {
		webhook := &webhooks[i]
		slot := claim{owner: slotOwner{webhook.OperatorID, webhook.Test}, store: webhook.OwnerStoreID, webhook: webhook.ID,
			failing: webhook.CircuitOpenedAt != nil}
		free := q.Slots.free(slot)
		if free == 0 || webhook.CircuitOpenedAt != nil && webhook.Retry && probeTimesAt(now).wait(webhook) {
			continue
		}
		// Some of those that are listed first may have a slot already.
		ids, err := read(ctx, func(ctx context.Context) ([]uuid.UUID, error) {
			return queuedCalls(ctx, q.DB, webhook.ID, now, free+perWebhook)
		})
		if err != nil {
			return false, err
		}
		for _, id := range ids {
			slot := slot
			slot.call = id
			q.begin(ctx, slot)
		}
	}
	return len(webhooks) > 0, nil
}

// begin makes a call if it gets the slot.
func (q *queue) begin(ctx context.Context, slot claim) {
	done := q.Slots.take(slot)
	if done == nil {
		return
	}
	q.sends.Go(func() {
		// What panics is logged, and the next pass finds what it left.
		_ = recovered.Call(ctx, q.log, func() error {
			q.sendInSlot(ctx, slot, done)
			return nil
		})
	})
}

// read makes one read of the queue.
func read[T any](ctx context.Context, from func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return from(ctx)
}

// sendInSlot makes the call that has a slot and, as long as they arrive, those that follow it in
// its order: they wait for each other, so that each would take a pass over the queue of its own.
func (q *queue) sendInSlot(ctx context.Context, slot claim, done func()) {
	for sent := 1; ; sent++ {
		orderID := q.send(slot, done)
		if orderID == nil || slot.requested || sent == maxInSequence {
			return
		}
		next, err := read(ctx, func(ctx context.Context) (uuid.UUID, error) {
			return queuedCallOf(ctx, q.DB, *orderID, slot.webhook, q.Clock.Now())
		})
		if err != nil || next == uuid.Nil {
			return // after an error the next pass finds it
		}
		slot.call, slot.failing = next, false
		if done = q.Slots.take(slot); done == nil {
			return
		}
	}
}

// send makes a queued call and ends its slot. If it arrived and belongs to an order, that order is
// returned. What failed for an internal reason comes back later.
func (q *queue) send(slot claim, done func()) (orderID *uuid.UUID) {
	defer done()
	cause := models.CauseAuto
	if slot.requested {
		cause = models.CauseRedelivery
	}
	err := recovered.Call(q.sending, q.log, func() (err error) {
		orderID, err = q.attemptQueued(slot.call, cause)
		return err
	})
	if err == nil {
		return orderID
	}
	err = errors.Join(err, q.postpone(q.sending, slot.call, cause))
	q.log.ErrorContext(q.sending, "webhook call not made; it comes back later", "delivery_id", slot.call, "error", err)
	return nil
}

// attemptQueued makes an attempt at a call of the queue. It takes no longer than abandonedAfter,
// after which another worker makes the next one. It returns the order of a call that arrived.
func (q *queue) attemptQueued(id uuid.UUID, cause models.AttemptCause) (orderID *uuid.UUID, err error) {
	ctx, cancel := context.WithTimeout(q.sending, abandonedAfter)
	defer cancel()
	t, outcome, err := q.target(ctx, id, cause)
	if err != nil || outcome != "" || q.isPaused(t) {
		return nil, err // what was paused meanwhile stays queued
	}
	if outcome, err = q.attempt(ctx, t); err != nil || outcome != OutcomeDelivered {
		return nil, err
	}
	return t.call.OrderID, nil
}

// postpone puts off a call that could not be made for an internal reason, and queues it.
func (s *Service) postpone(ctx context.Context, id uuid.UUID, cause models.AttemptCause) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonedAfter/2)
	defer cancel()
	next := s.Clock.Now().Add(internalErrorDelay)
	call := s.DB.Query(ctx).Model(&models.WebhookDelivery{})
	if cause == models.CauseRedelivery {
		return call.Where("id = ? AND requested_at IS NOT NULL", id).UpdateColumn("requested_at", next).Error
	}
	return call.Where("id = ? AND "+isPending, id).UpdateColumns(map[string]any{"queued": true, "next_attempt_at": next}).Error
}
