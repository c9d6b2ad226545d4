package webhooks

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// takeTurns takes turns for claims that all get one, and returns how to end them.
func takeTurns(t *testing.T, turns *Turns, claims ...claim) (ends []func()) {
	t.Helper()
	for _, c := range claims {
		done, delay := turns.take(c, nil)
		require.NotNil(t, done)
		require.Zero(t, delay)
		ends = append(ends, done)
	}
	return ends
}

// claimsOf are claims of different webhooks of an operator.
func claimsOf(operator uuid.UUID, count int, change func(*claim)) []claim {
	claims := make([]claim, count)
	for i := range claims {
		claims[i] = claim{operator: operator, webhook: uuid.New(), delivery: uuid.New(), created: time.Now()}
		if change != nil {
			change(&claims[i])
		}
	}
	return claims
}

// waits makes a claim that has to wait, and returns a channel that gets what it is resumed with.
func waits(t *testing.T, turns *Turns, c claim) <-chan time.Duration {
	t.Helper()
	resumed := make(chan time.Duration, 1)
	done, delay := turns.take(c, func(delay time.Duration) { resumed <- delay })
	require.Nil(t, done)
	require.Zero(t, delay)
	return resumed
}

func TestTurns_bounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns, operator, other, webhook := NewTurns(), uuid.New(), uuid.New(), uuid.New()
		sameWebhook := func(c *claim) { c.webhook = webhook }
		takeTurns(t, turns, claimsOf(operator, perWebhook, sameWebhook)...)
		waits(t, turns, claimsOf(operator, 1, sameWebhook)[0])
		takeTurns(t, turns, claimsOf(operator, perOperator-perWebhook, nil)...)
		waits(t, turns, claimsOf(operator, 1, nil)[0])
		takeTurns(t, turns, claimsOf(other, perOperator, nil)...) // another operator's are its own

		failing := func(c *claim) { c.failing = true }
		turns = NewTurns()
		open := claimsOf(operator, perFailingOperator, failing)
		takeTurns(t, turns, open...)
		waits(t, turns, claimsOf(operator, 1, failing)[0])
		takeTurns(t, turns, claimsOf(operator, perOperator-perFailingOperator, nil)...) // left to those that answer
		turns.Close()

		turns = NewTurns()
		takeTurns(t, turns, open[0])
		waits(t, turns, claim{operator: operator, webhook: open[0].webhook, failing: true})
		turns.Close()
	})
}

func TestTurns_oldestFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns, operator, webhook, began := NewTurns(), uuid.New(), uuid.New(), time.Now()
		sameWebhook := func(c *claim) { c.webhook = webhook }
		ends := takeTurns(t, turns, claimsOf(operator, perWebhook, sameWebhook)...)
		order := make(chan int, 5)
		for _, age := range []int{3, 1, 4, 0, 2} { // created at
			done, delay := turns.take(claim{operator: operator, webhook: webhook, delivery: uuid.New(), created: began.Add(time.Duration(age))},
				func(time.Duration) { order <- age; time.Sleep(time.Second) })
			require.Nil(t, done)
			require.Zero(t, delay)
		}
		for i := range 2 {
			ends[i]()
			synctest.Wait()
		}
		require.Equal(t, 0, <-order)
		require.Equal(t, 1, <-order)
		require.Empty(t, order, "one for each turn that ended")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, 5, 2+len(order)+1, "the turns of those two go to the next two")
		require.ElementsMatch(t, []int{2, 3}, []int{<-order, <-order})
		for _, end := range ends[2:] {
			end()
		}
		turns.Close()
		require.Equal(t, 4, <-order)
		require.Empty(t, turns.operators, "an idle operator is forgotten")
	})
}

// What cannot have its turn soon comes back when it can be expected, one after the other, and what
// waited in vain comes back less and less often.
func TestTurns_reschedules(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns, operator, webhook := NewTurns(), uuid.New(), uuid.New()
		sameWebhook := func(c *claim) { c.webhook = webhook }
		next := func() claim { return claimsOf(operator, 1, sameWebhook)[0] }
		takeTurns(t, turns, next()) // lasts for the whole test, so that the webhook is not forgotten
		for range 8 {               // so that the mean is near the duration of an exchange
			ends := takeTurns(t, turns, claimsOf(operator, perWebhook-1, sameWebhook)...)
			time.Sleep(5 * time.Second)
			for _, end := range ends {
				end()
			}
		}
		takeTurns(t, turns, claimsOf(operator, perWebhook-1, sameWebhook)...)
		waiting, delays := 0, []time.Duration{}
		for range 100 {
			if done, delay := turns.take(next(), func(time.Duration) {}); delay > 0 {
				require.Nil(t, done)
				delays = append(delays, delay)
			} else {
				waiting++
			}
		}
		require.InDelta(t, 16, waiting, 2, "as many as have their turn within waitLimit")
		require.True(t, slices.IsSorted(delays), "first come, first served")
		require.Greater(t, delays[0], waitLimit)
		require.InDelta(t, 100*5/8, delays[len(delays)-1].Seconds(), 5, "when its turn can be expected")

		returning := next()
		returning.returning, returning.created = true, time.Now().Add(-time.Minute)
		resumed := waits(t, turns, returning)
		time.Sleep(waitLimit)
		synctest.Wait()
		require.GreaterOrEqual(t, <-resumed, time.Minute+waitLimit, "it has waited in vain for a minute")
		turns.Close()
	})
}

// A process that stops hands over what waits and finishes what has begun.
func TestTurns_close(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns, operator, webhook := NewTurns(), uuid.New(), uuid.New()
		sameWebhook := func(c *claim) { c.webhook = webhook }
		ends := takeTurns(t, turns, claimsOf(operator, perWebhook, sameWebhook)...)
		finished := false
		done, delay := turns.take(claimsOf(operator, 1, sameWebhook)[0], func(delay time.Duration) {
			require.Zero(t, delay)
			time.Sleep(5 * time.Second)
			finished = true
		})
		require.Nil(t, done)
		require.Zero(t, delay)
		time.Sleep(time.Millisecond)
		resumed := waits(t, turns, claimsOf(operator, 1, sameWebhook)[0])
		ends[0]()
		synctest.Wait()
		turns.Close()
		require.True(t, finished)
		require.Equal(t, minDeferral, <-resumed)
		takeTurns(t, turns, claimsOf(operator, 1, sameWebhook)[0])
		_, delay = turns.take(claimsOf(operator, 1, sameWebhook)[0], nil)
		require.Equal(t, minDeferral, delay, "nothing waits in a process that has stopped")
	})
}
