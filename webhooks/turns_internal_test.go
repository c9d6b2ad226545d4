package webhooks

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// takeTurns takes turns for claims that all get one, and returns how to end them.
func takeTurns(t *testing.T, turns *Turns, claims ...claim) (ends []func()) {
	t.Helper()
	for _, c := range claims {
		require.Positive(t, turns.free(c))
		done := turns.take(c)
		require.NotNil(t, done)
		ends = append(ends, done)
	}
	return ends
}

// requireNoTurn checks that a claim gets no turn.
func requireNoTurn(t *testing.T, turns *Turns, c claim) {
	t.Helper()
	require.Zero(t, turns.free(c))
	require.Nil(t, turns.take(c))
}

// claimsOf are claims of different webhooks of an operator.
func claimsOf(operator uuid.UUID, count int, change func(*claim)) []claim {
	claims := make([]claim, count)
	for i := range claims {
		claims[i] = claim{operator: operator, webhook: uuid.New(), delivery: uuid.New()}
		if change != nil {
			change(&claims[i])
		}
	}
	return claims
}

func TestTurns_bounds(t *testing.T) {
	t.Parallel()
	turns, operator, other, webhook := NewTurns(), uuid.New(), uuid.New(), uuid.New()
	sameWebhook := func(c *claim) { c.webhook = webhook }
	ends := takeTurns(t, turns, claimsOf(operator, perWebhook, sameWebhook)...)
	requireNoTurn(t, turns, claimsOf(operator, 1, sameWebhook)[0])
	ends = append(ends, takeTurns(t, turns, claimsOf(operator, perOperator-perWebhook, nil)...)...)
	requireNoTurn(t, turns, claimsOf(operator, 1, nil)[0])
	ends = append(ends, takeTurns(t, turns, claimsOf(other, perOperator, nil)...)...) // another operator's are its own

	ends[0]()
	require.Empty(t, turns.wake, "nothing waits")
	turns.setWaiting(true)
	ends[1]()
	require.Len(t, turns.wake, 1)
	takeTurns(t, turns, claimsOf(operator, 1, sameWebhook)[0])
	for _, end := range ends[2:] {
		end()
	}
	require.Len(t, turns.operators, 1, "an idle operator is forgotten")
}

// The webhooks whose circuit is open share few turns and leave the others to those that answer.
func TestTurns_failing(t *testing.T) {
	t.Parallel()
	turns, operator := NewTurns(), uuid.New()
	failing := func(c *claim) { c.failing = true }
	open := claimsOf(operator, perFailingOperator, failing)
	takeTurns(t, turns, open[0])
	requireNoTurn(t, turns, claim{operator: operator, webhook: open[0].webhook, delivery: uuid.New(), failing: true})
	takeTurns(t, turns, open[1:]...)
	requireNoTurn(t, turns, claimsOf(operator, 1, failing)[0])
	takeTurns(t, turns, claimsOf(operator, perOperator-perFailingOperator, nil)...)
}

// What somebody requested does not wait behind what is queued for a receiver that hangs. Its turns
// are as few as those of the queue.
func TestTurns_requested(t *testing.T) {
	t.Parallel()
	turns, operator := NewTurns(), uuid.New()
	failing := func(c *claim) { c.failing = true }
	requested := func(c *claim) { c.failing, c.requested = true, true }
	takeTurns(t, turns, claimsOf(operator, perFailingOperator, failing)...)
	asked := claimsOf(operator, perFailingOperator, requested)
	ends := takeTurns(t, turns, asked...)
	requireNoTurn(t, turns, claimsOf(operator, 1, requested)[0])
	requireNoTurn(t, turns, claimsOf(operator, 1, failing)[0])
	ends[0]()
	requireNoTurn(t, turns, claim{operator: operator, webhook: asked[1].webhook, delivery: uuid.New(), failing: true, requested: true})
	takeTurns(t, turns, asked[0])
	takeTurns(t, turns, claimsOf(operator, perOperator-2*perFailingOperator, nil)...)
}

// A delivery that is being sent gets no second turn.
func TestTurns_oneForEachDelivery(t *testing.T) {
	t.Parallel()
	turns, c := NewTurns(), claimsOf(uuid.New(), 1, nil)[0]
	end := takeTurns(t, turns, c)[0]
	require.Nil(t, turns.take(c))
	end()
	takeTurns(t, turns, c)
}
