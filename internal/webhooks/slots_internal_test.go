package webhooks

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// takeSlots takes slots for claims that all get one, and returns how to end them.
func takeSlots(t *testing.T, slots *Slots, claims ...claim) (ends []func()) {
	t.Helper()
	for _, c := range claims {
		require.Positive(t, slots.free(c))
		done := slots.take(c)
		require.NotNil(t, done)
		ends = append(ends, done)
	}
	return ends
}

// requireNoSlot checks that a claim gets no slot.
func requireNoSlot(t *testing.T, slots *Slots, c claim) {
	t.Helper()
	require.Zero(t, slots.free(c))
	require.Nil(t, slots.take(c))
}

// claimsOf are claims of different webhooks of an operator.
func claimsOf(operator uuid.UUID, count int, change func(*claim)) []claim {
	claims := make([]claim, count)
	for i := range claims {
		claims[i] = claim{owner: slotOwner{operator: operator}, webhook: uuid.New(), call: uuid.New()}
		if change != nil {
			change(&claims[i])
		}
	}
	return claims
}

func TestSlots_bounds(t *testing.T) {
	t.Parallel()
	slots, operator, other, webhook := NewSlots(), uuid.New(), uuid.New(), uuid.New()
	sameWebhook := func(c *claim) { c.webhook = webhook }
	ends := takeSlots(t, slots, claimsOf(operator, perWebhook, sameWebhook)...)
	requireNoSlot(t, slots, claimsOf(operator, 1, sameWebhook)[0])
	ends = append(ends, takeSlots(t, slots, claimsOf(operator, perOperator-perWebhook, nil)...)...)
	requireNoSlot(t, slots, claimsOf(operator, 1, nil)[0])
	ends = append(ends, takeSlots(t, slots, claimsOf(other, perOperator, nil)...)...) // another operator's are its own
	ends = append(ends, takeSlots(t, slots, claimsOf(operator, perOperator, func(c *claim) { c.owner.test = true })...)...)

	ends[0]()
	require.Empty(t, slots.wake, "nothing waits")
	slots.setWaiting(true)
	ends[1]()
	require.Len(t, slots.wake, 1)
	takeSlots(t, slots, claimsOf(operator, 1, sameWebhook)[0])
	for _, end := range ends[2:] {
		end()
	}
	require.Len(t, slots.operators, 1, "an idle operator is forgotten")
}

// The webhooks whose circuit is open share few slots and leave the others to those that answer.
func TestSlots_failing(t *testing.T) {
	t.Parallel()
	slots, operator := NewSlots(), uuid.New()
	failing := func(c *claim) { c.failing = true }
	open := claimsOf(operator, perFailingOperator, failing)
	takeSlots(t, slots, open[0])
	requireNoSlot(t, slots, claim{owner: slotOwner{operator: operator}, webhook: open[0].webhook, call: uuid.New(), failing: true})
	takeSlots(t, slots, open[1:]...)
	requireNoSlot(t, slots, claimsOf(operator, 1, failing)[0])
	takeSlots(t, slots, claimsOf(operator, perOperator-perFailingOperator, nil)...)
}

// However many webhooks a store has, they leave slots of every kind to the operator's own and to
// those of another store.
func TestSlots_ofAStore(t *testing.T) {
	t.Parallel()
	for _, kind := range []claim{{}, {failing: true}, {requested: true}, {failing: true, requested: true}} {
		slots, operator, store, other := NewSlots(), uuid.New(), uuid.New(), uuid.New()
		of := func(store uuid.UUID) func(*claim) {
			return func(c *claim) { c.store, c.failing, c.requested = store, kind.failing, kind.requested }
		}
		ofStore, all := perStore, perOperator
		if kind.isOfFew() {
			ofStore, all = perFailingStore, perFailingOperator
		}
		taken := claimsOf(operator, ofStore, of(store))
		ends := takeSlots(t, slots, taken...)
		requireNoSlot(t, slots, claimsOf(operator, 1, of(store))[0])
		takeSlots(t, slots, claimsOf(operator, ofStore, of(other))...)
		takeSlots(t, slots, claimsOf(operator, all-2*ofStore, of(uuid.Nil))...)
		requireNoSlot(t, slots, claimsOf(operator, 1, of(uuid.Nil))[0])
		ends[0]()
		takeSlots(t, slots, taken[0])
	}
}

// What somebody requested does not wait behind what is queued for a receiver that hangs. Its slots
// are as few as those of the queue.
func TestSlots_requested(t *testing.T) {
	t.Parallel()
	slots, operator := NewSlots(), uuid.New()
	failing := func(c *claim) { c.failing = true }
	requested := func(c *claim) { c.failing, c.requested = true, true }
	takeSlots(t, slots, claimsOf(operator, perFailingOperator, failing)...)
	asked := claimsOf(operator, perFailingOperator, requested)
	ends := takeSlots(t, slots, asked...)
	requireNoSlot(t, slots, claimsOf(operator, 1, requested)[0])
	requireNoSlot(t, slots, claimsOf(operator, 1, failing)[0])
	ends[0]()
	requireNoSlot(t, slots, claim{owner: slotOwner{operator: operator}, webhook: asked[1].webhook, call: uuid.New(), failing: true, requested: true})
	takeSlots(t, slots, asked[0])
	takeSlots(t, slots, claimsOf(operator, perOperator-2*perFailingOperator, nil)...)
}

// A call that is being made gets no second slot.
func TestSlots_oneForEachCall(t *testing.T) {
	t.Parallel()
	slots, c := NewSlots(), claimsOf(uuid.New(), 1, nil)[0]
	end := takeSlots(t, slots, c)[0]
	require.Nil(t, slots.take(c))
	end()
	takeSlots(t, slots, c)
}
