package webhooks

import (
	"sync"

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
)

// Turns bounds the exchanges of one worker process. What gets no turn waits in the queue.
type Turns struct {
	mu        sync.Mutex
	operators map[uuid.UUID]*operatorTurns
	// sending are the deliveries that have a turn.
	sending map[uuid.UUID]bool
	// waiting means that deliveries wait for a turn to end.
	waiting bool
	// look gets a value when it is time to look at the queue: a turn has ended that deliveries wait
	// for, or new ones are queued.
	look chan struct{}
}

// operatorTurns exists while the operator has taken turns.
type operatorTurns struct {
	taken, failing int
	webhooks       map[uuid.UUID]int
}

// claim identifies a delivery that needs a turn.
type claim struct {
	operator, webhook, delivery uuid.UUID
	// failing means that the webhook's circuit is open.
	failing bool
}

// NewTurns returns turns of which none is taken.
func NewTurns() *Turns {
	return &Turns{operators: map[uuid.UUID]*operatorTurns{}, sending: map[uuid.UUID]bool{}, look: make(chan struct{}, 1)}
}

// take returns nil if there is no turn for the delivery, or it has one already. Otherwise call done
// once when it has been sent.
func (t *Turns) take(c claim) (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left(c) == 0 || t.sending[c.delivery] {
		return nil
	}
	operator := t.operators[c.operator]
	if operator == nil {
		operator = &operatorTurns{webhooks: map[uuid.UUID]int{}}
		t.operators[c.operator] = operator
	}
	t.sending[c.delivery] = true
	operator.add(c, 1)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.sending, c.delivery)
		if operator.add(c, -1); operator.taken == 0 {
			delete(t.operators, c.operator)
		}
		if t.waiting {
			t.wakeQueue()
		}
	}
}

// setWaiting tells whether deliveries wait for a turn to end.
func (t *Turns) setWaiting(waiting bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = waiting
}

// wakeQueue makes RunQueue look at the queue.
func (t *Turns) wakeQueue() {
	select {
	case t.look <- struct{}{}:
	default: // it has been told already
	}
}

func (o *operatorTurns) add(c claim, count int) {
	o.taken += count
	if c.failing {
		o.failing += count
	}
	if o.webhooks[c.webhook] += count; o.webhooks[c.webhook] == 0 {
		delete(o.webhooks, c.webhook)
	}
}

// free returns how many turns are left for deliveries like the given one.
func (t *Turns) free(c claim) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left(c)
}

func (t *Turns) left(c claim) int {
	operator := t.operators[c.operator]
	if operator == nil {
		operator = &operatorTurns{}
	}
	left := min(perOperator-operator.taken, perWebhook-operator.webhooks[c.webhook])
	if c.failing {
		left = min(left, perFailingOperator-operator.failing, perFailingWebhook-operator.webhooks[c.webhook])
	}
	return max(left, 0)
}
