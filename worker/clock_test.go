package worker_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/test/apptest"
)

// year is how far a clock can be off: a machine without a battery, a wrong date typed in.
const year = 365 * 24 * time.Hour

// An api whose clock is ahead: its orders' events are not held back until that time, and their
// moves stand in their sequence.
func TestClock_apiAhead(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	receiver := apptest.NewReceiver(t, nil)
	s.Register(t, s.Key, receiver)
	ahead := s.secondProcess(t, apptest.Options{Clock: lateClock(-year)})
	id := ahead.CreateOrder(t, s.Key)
	receiver.WaitFor(t, 1)
	s.receive(t, id)
	s.assign(t, id, 0)
	s.deliver(t, id)
	require.Equal(t, []string{"created", "received", "assigned", "delivered"}, s.moveTypes(t, id))
	receiver.WaitFor(t, 3)
	s.waitForOrderEnd(t, id)
}

// An order from an api whose clock was ahead, and which could not reach Temporal, does not wait for
// its workflow until that time.
func TestClock_reconcilesOrdersFromTheFuture(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	receiver := apptest.NewReceiver(t, nil)
	s.Register(t, s.Key, receiver)
	id := s.withoutTemporal(t, -year).CreateOrder(t, s.Key)
	s.reconcileUntilStarted(t, id)
	receiver.WaitFor(t, 1)
	s.receive(t, id)
}

// An api whose clock is behind by more than AUTO_CANCEL_AFTER: its orders count as old and are
// cancelled at once, and the reception revives them.
func TestClock_apiBehind(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	behind := s.secondProcess(t, apptest.Options{Clock: lateClock(year)})
	id := behind.CreateOrder(t, s.Key)
	s.waitForStatus(t, id, "cancelled")
	s.waitForOrderEnd(t, id)
	s.receive(t, id)
	s.assign(t, id, 0)
	s.deliver(t, id)
	s.waitForOrderEnd(t, id)
}

// An api whose clock is so far behind Temporal's that every move's deadline has passed moves orders
// all the same.
func TestClock_apiBehindTemporal(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	behind := s.secondProcess(t, apptest.Options{Configure: func(c *config.Config) { c.Timeouts.MoveDeadline = -time.Hour }})
	id := s.CreateOrder(t, s.Key)
	answer := behind.Do(t, moveRequest(s, id, "receive", nil))
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	require.Equal(t, []string{"created", "received"}, s.moveTypes(t, id))
}
