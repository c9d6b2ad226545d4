package webhooks

import (
	"sync"

	"github.com/google/uuid"
)

// Receivers share hosts, so the bounds on concurrent exchanges are by webhook, by store and by
// operator. They hold for one worker process. However many webhooks a store has registered, and
// however slowly they answer, they leave most slots to the operator's own and the other stores'.
const (
	perWebhook  = 8
	perStore    = 8
	perOperator = 32
	// The webhooks of one operator whose circuit is open share a few slots, one for each webhook, so
	// that they leave the others to those that answer. What somebody requested has as many of its
	// own, one after the other for each webhook: behind the queue of a receiver that hangs it would
	// wait for hours.
	perFailingWebhook  = 1
	perFailingStore    = 2
	perFailingOperator = 8
)

// Slots bounds the exchanges of one worker process. What gets no slot waits in the queue.
type Slots struct {
	mu        sync.Mutex
	operators map[slotOwner]*operatorSlots
	// sending are the calls that have a slot.
	sending map[uuid.UUID]bool
	// waiting means that calls wait for a slot to end.
	waiting bool
	// wake gets a value when RunQueue has to make a pass: a slot has ended that calls wait for,
	// or new ones are queued.
	wake chan struct{}
}

// slotOwner is an operator. Its test webhooks have slots of their own: the receiver of somebody who
// tries something must not hold up what is real.
type slotOwner struct {
	operator uuid.UUID
	test     bool
}

// operatorSlots exists while the operator has taken slots.
type operatorSlots struct {
	taken    int
	webhooks map[webhookSlots]int
	stores   map[uuid.UUID]int
	// few are the slots that somebody requested, and the others of webhooks whose circuit is open:
	// those of each store, and under the zero id of all.
	few map[fewSlots]int
}

// fewSlots identifies the few slots of a store that somebody requested, or the others.
type fewSlots struct {
	store     uuid.UUID
	requested bool
}

// webhookSlots identifies the slots of a webhook that somebody requested, or the others.
type webhookSlots struct {
	webhook   uuid.UUID
	requested bool
}

// claim identifies a webhook call that needs a slot.
type claim struct {
	owner         slotOwner
	webhook, call uuid.UUID
	// store owns the webhook; zero if the operator does.
	store uuid.UUID
	// failing means that the webhook's circuit is open, requested that somebody waits for the outcome.
	failing, requested bool
}

// isOfFew reports whether the claim is for one of the few slots.
func (c claim) isOfFew() bool { return c.failing || c.requested }

func (c claim) ofWebhook() webhookSlots { return webhookSlots{c.webhook, c.requested} }

// NewSlots returns slots of which none is taken.
func NewSlots() *Slots {
	return &Slots{operators: map[slotOwner]*operatorSlots{}, sending: map[uuid.UUID]bool{}, wake: make(chan struct{}, 1)}
}

// take returns nil if there is no slot for the call, or it has one already. Otherwise call done
// once when it has been sent.
func (t *Slots) take(c claim) (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left(c) == 0 || t.sending[c.call] {
		return nil
	}
	operator := t.operators[c.owner]
	if operator == nil {
		operator = &operatorSlots{webhooks: map[webhookSlots]int{}, stores: map[uuid.UUID]int{}, few: map[fewSlots]int{}}
		t.operators[c.owner] = operator
	}
	t.sending[c.call] = true
	operator.add(c, 1)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.sending, c.call)
		if operator.add(c, -1); operator.taken == 0 {
			delete(t.operators, c.owner)
		}
		if t.waiting {
			t.wakeQueue()
		}
	}
}

// setWaiting tells whether calls wait for a slot to end.
func (t *Slots) setWaiting(waiting bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = waiting
}

// wakeQueue makes RunQueue make its next pass.
func (t *Slots) wakeQueue() {
	select {
	case t.wake <- struct{}{}:
	default: // it has been told already
	}
}

func (o *operatorSlots) add(c claim, count int) {
	o.taken += count
	o.stores[c.store] += count
	if c.isOfFew() {
		o.few[fewSlots{uuid.Nil, c.requested}] += count
		if c.store != uuid.Nil {
			o.few[fewSlots{c.store, c.requested}] += count
		}
	}
	if o.webhooks[c.ofWebhook()] += count; o.webhooks[c.ofWebhook()] == 0 {
		delete(o.webhooks, c.ofWebhook())
	}
}

// free returns how many slots are left for calls like the given one.
func (t *Slots) free(c claim) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left(c)
}

func (t *Slots) left(c claim) int {
	operator := t.operators[c.owner]
	if operator == nil {
		operator = &operatorSlots{}
	}
	ofWebhook := operator.webhooks[webhookSlots{c.webhook, true}] + operator.webhooks[webhookSlots{c.webhook, false}]
	left := min(perOperator-operator.taken, perWebhook-ofWebhook)
	if c.store != uuid.Nil {
		left = min(left, perStore-operator.stores[c.store])
	}
	if c.isOfFew() {
		left = min(left, perFailingOperator-operator.few[fewSlots{uuid.Nil, c.requested}], perFailingWebhook-operator.webhooks[c.ofWebhook()])
		if c.store != uuid.Nil {
			left = min(left, perFailingStore-operator.few[fewSlots{c.store, c.requested}])
		}
	}
	return max(left, 0)
}
