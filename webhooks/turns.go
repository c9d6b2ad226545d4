package webhooks

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Receivers share hosts, so the bounds on concurrent exchanges are by webhook and by operator. They
// hold for one worker process.
const (
	perWebhook  = 8
	perOperator = 32
	// The webhooks of one operator whose circuit is open share a few turns, one for each webhook, so
	// that they leave the others to those that answer.
	perFailingWebhook  = 1
	perFailingOperator = 8

	// waitLimit is how long a delivery waits for its turn in the process. One that would have to
	// wait longer is rescheduled.
	waitLimit = 10 * time.Second
	// maxWaiting bounds the waiting deliveries of one operator.
	maxWaiting = 500
	// A delivery is rescheduled for when its turn can be expected, within these bounds.
	minDeferral, maxDeferral = 5 * time.Second, 10 * time.Minute
)

// Turns decides when the deliveries of one worker process are sent: a bounded number at once for
// each webhook and each operator, and among those that wait the oldest first. A waiting delivery
// holds no activity slot.
type Turns struct {
	mu        sync.Mutex
	closed    bool
	operators map[uuid.UUID]*operatorTurns
	// resuming counts the waiting deliveries and those that waited and are being sent.
	resuming sync.WaitGroup
}

// operatorTurns exists while the operator has something to remember.
type operatorTurns struct {
	taken    int
	failing  lane
	webhooks map[uuid.UUID]*lane
	// waiting is in the order of the deliveries' creation.
	waiting []*waiter
}

// lane is a number of turns that deliveries share.
type lane struct {
	taken int
	// mean is the moving average of how long a turn lasts.
	mean time.Duration
	// expected is when the latest of those that had to wait can expect its turn.
	expected time.Time
}

// claim identifies a delivery that wants its turn.
type claim struct {
	operator, webhook, delivery uuid.UUID
	created                     time.Time
	// failing means that the webhook's circuit is open.
	failing bool
	// returning means that the delivery was rescheduled before: it waits without being rescheduled
	// at once.
	returning bool
}

// waiter is a delivery that waits in the process.
type waiter struct {
	claim
	resume resume
	limit  *time.Timer
}

// resume goes on with a delivery that waited: it sends it, or with a delay reschedules it.
type resume func(delay time.Duration)

// NewTurns returns turns of which none is taken.
func NewTurns() *Turns { return &Turns{operators: map[uuid.UUID]*operatorTurns{}} }

// take returns done if it is the delivery's turn; call done once when it has been sent. Otherwise it
// returns the delay after which the delivery should come back, or zero if it waits: then resume is
// called later, from another goroutine.
func (t *Turns) take(c claim, resume resume) (done func(), delay time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	operator := t.operators[c.operator]
	if operator == nil {
		operator = &operatorTurns{webhooks: map[uuid.UUID]*lane{}}
		t.operators[c.operator] = operator
	}
	if operator.webhooks[c.webhook] == nil {
		operator.webhooks[c.webhook] = &lane{}
	}
	if operator.hasTurn(c) {
		return t.begin(operator, c), 0
	}
	expected := operator.expect(c)
	if t.closed || len(operator.waiting) >= maxWaiting || (expected > waitLimit && !c.returning) {
		return nil, min(max(expected, minDeferral), maxDeferral)
	}
	w := &waiter{claim: c, resume: resume}
	at, _ := slices.BinarySearchFunc(operator.waiting, w, compareAge)
	operator.waiting = slices.Insert(operator.waiting, at, w)
	t.resuming.Add(1)
	w.limit = time.AfterFunc(waitLimit, func() { t.expire(w) })
	return nil, 0
}

func compareAge(a, b *waiter) int {
	if byTime := a.created.Compare(b.created); byTime != 0 {
		return byTime
	}
	return bytes.Compare(a.delivery[:], b.delivery[:])
}

// hasTurn reports whether a delivery may be sent now.
func (o *operatorTurns) hasTurn(c claim) bool {
	bound := perWebhook
	if c.failing {
		bound = perFailingWebhook
	}
	return o.taken < perOperator && o.webhooks[c.webhook].taken < bound && (!c.failing || o.failing.taken < perFailingOperator)
}

// expect returns how long a delivery that has to wait can expect to, behind those that came before.
func (o *operatorTurns) expect(c claim) time.Duration {
	lane, bound := o.webhooks[c.webhook], perWebhook
	if c.failing {
		lane, bound = &o.failing, perFailingOperator
	}
	now := time.Now()
	if lane.expected.Before(now) {
		lane.expected = now
	}
	if !c.returning {
		lane.expected = lane.expected.Add(lane.mean / time.Duration(bound))
	}
	return lane.expected.Sub(now)
}

// begin takes a turn. The returned function ends it and gives the turn to those that wait.
func (t *Turns) begin(o *operatorTurns, c claim) (done func()) {
	began, webhook := time.Now(), o.webhooks[c.webhook]
	o.taken++
	webhook.taken++
	if c.failing {
		o.failing.taken++
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		o.taken--
		webhook.end(began)
		if c.failing {
			o.failing.end(began)
		}
		t.resumeWaiting(o)
		t.forget(c.operator, o)
	}
}

// end ends a turn of the lane.
func (l *lane) end(began time.Time) {
	l.taken--
	const weight = 4
	l.mean += (time.Since(began) - l.mean) / weight
}

// resumeWaiting gives the free turns to those that wait, the oldest first.
func (t *Turns) resumeWaiting(o *operatorTurns) {
	o.waiting = slices.DeleteFunc(o.waiting, func(w *waiter) bool {
		if !o.hasTurn(w.claim) {
			return false
		}
		w.limit.Stop()
		done := t.begin(o, w.claim)
		go func() {
			defer t.resuming.Done()
			defer done()
			w.resume(0)
		}()
		return true
	})
}

// expire reschedules a delivery that has waited for waitLimit.
func (t *Turns) expire(w *waiter) {
	t.mu.Lock()
	o := t.operators[w.operator]
	at := -1
	if o != nil {
		at = slices.Index(o.waiting, w)
	}
	if at < 0 {
		t.mu.Unlock()
		return // its turn has come
	}
	o.waiting = slices.Delete(o.waiting, at, at+1)
	// Twice as late each time, so that what cannot be sent comes back less and less often.
	delay := min(max(o.expect(w.claim), time.Since(w.created), minDeferral), maxDeferral)
	t.mu.Unlock()
	defer t.resuming.Done()
	w.resume(delay)
}

// forget drops what is not needed any more.
func (t *Turns) forget(id uuid.UUID, o *operatorTurns) {
	if o.taken > 0 || len(o.waiting) > 0 {
		return
	}
	now := time.Now()
	for webhook, lane := range o.webhooks {
		if lane.expected.Before(now) {
			delete(o.webhooks, webhook)
		}
	}
	if len(o.webhooks) == 0 && o.failing.expected.Before(now) {
		delete(t.operators, id)
	}
}

// Close reschedules the deliveries that wait, for another process, and returns when those that
// waited and are being sent have ended.
func (t *Turns) Close() {
	t.mu.Lock()
	t.closed = true
	for _, o := range t.operators {
		for _, w := range o.waiting {
			w.limit.Stop()
			go func() {
				defer t.resuming.Done()
				w.resume(minDeferral)
			}()
		}
		o.waiting = nil
	}
	t.mu.Unlock()
	t.resuming.Wait()
}
