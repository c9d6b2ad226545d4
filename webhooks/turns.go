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
	// freed gets a value when a turn has ended.
	freed chan struct{}
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
	return &Turns{operators: map[uuid.UUID]*operatorTurns{}, sending: map[uuid.UUID]bool{}, freed: make(chan struct{}, 1)}
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
		select {
		case t.freed <- struct{}{}:
		default: // it has one already
		}
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
