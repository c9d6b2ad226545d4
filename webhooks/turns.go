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
	// that they leave the others to those that answer. What somebody requested has as many of its
	// own: behind the queue of a receiver that hangs it would wait for hours.
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
	// wake gets a value when RunQueue has to make a pass: a turn has ended that deliveries wait for,
	// or new ones are queued.
	wake chan struct{}
}

// operatorTurns exists while the operator has taken turns.
type operatorTurns struct {
	taken    int
	webhooks map[webhookTurns]int
	// failing are the turns of the webhooks whose circuit is open, by whether somebody requested them.
	failing map[bool]int
}

// webhookTurns identifies the turns of a webhook that somebody requested, or the others.
type webhookTurns struct {
	webhook   uuid.UUID
	requested bool
}

// claim identifies a delivery that needs a turn.
type claim struct {
	operator, webhook, delivery uuid.UUID
	// failing means that the webhook's circuit is open, requested that somebody waits for the outcome.
	failing, requested bool
}

func (c claim) ofWebhook() webhookTurns { return webhookTurns{c.webhook, c.requested} }

// NewTurns returns turns of which none is taken.
func NewTurns() *Turns {
	return &Turns{operators: map[uuid.UUID]*operatorTurns{}, sending: map[uuid.UUID]bool{}, wake: make(chan struct{}, 1)}
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
		operator = &operatorTurns{webhooks: map[webhookTurns]int{}, failing: map[bool]int{}}
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

// wakeQueue makes RunQueue make its next pass.
func (t *Turns) wakeQueue() {
	select {
	case t.wake <- struct{}{}:
	default: // it has been told already
	}
}

func (o *operatorTurns) add(c claim, count int) {
	o.taken += count
	if c.failing {
		o.failing[c.requested] += count
	}
	if o.webhooks[c.ofWebhook()] += count; o.webhooks[c.ofWebhook()] == 0 {
		delete(o.webhooks, c.ofWebhook())
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
	ofWebhook := operator.webhooks[webhookTurns{c.webhook, true}] + operator.webhooks[webhookTurns{c.webhook, false}]
	left := min(perOperator-operator.taken, perWebhook-ofWebhook)
	if c.failing {
		left = min(left, perFailingOperator-operator.failing[c.requested], perFailingWebhook-operator.webhooks[c.ofWebhook()])
	}
	return max(left, 0)
}
