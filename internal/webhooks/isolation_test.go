package webhooks_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// hangingReceiver never responds, and counts its requests.
type hangingReceiver struct {
	*slowReceiver
	inside, left atomic.Int32
}

func (h *hangingReceiver) receive(w http.ResponseWriter, r *http.Request) {
	h.inside.Add(1)
	defer h.left.Add(1)
	h.hang(w, r)
}

// perWebhook is how many deliveries to one webhook are sent at once.
const perWebhook = 8

// A hanging receiver does not delay another one with the same events: the event arrives while all
// slots of the hanging webhook are taken and more deliveries wait for one.
func TestIsolation_aReceiverThatHangs(t *testing.T) {
	// The exchanges hang until their activities time out: the first ones that end open the circuit.
	patient := apptest.Options{Configure: func(c *config.Config) { c.Timeouts.Exchange = poll.Deadline }}
	eachOwn(t, patient, func(t *testing.T, s *harness) {
		poll.Until(t, func() error { // on a busy machine the activities may time out before all is told
			if ended := s.secondOperator(t).endedBesideHealthy(t); ended >= perWebhook {
				return fmt.Errorf("%d exchanges ended before the healthy receiver was told everything", ended)
			}
			return nil
		})
	})
}

// endedBesideHealthy is how many exchanges with a hanging receiver end until another has all
// events.
func (s *harness) endedBesideHealthy(t *testing.T) int32 {
	t.Helper()
	slow := &hangingReceiver{slowReceiver: newSlowReceiver()}
	defer slow.release()
	s.register(t, s.Key, startReceiver(t, slow.receive, nil), onlyCreated)
	healthy := apptest.NewReceiver(t, nil)
	s.Register(t, s.Key, healthy, onlyCreated)
	for range 2 * perWebhook {
		s.CreateOrder(t, s.Key)
	}
	poll.Until(t, func() error {
		if busy := slow.inside.Load(); busy < perWebhook {
			return fmt.Errorf("only %d exchanges hang", busy)
		}
		return nil
	})
	left := slow.left.Load()
	s.CreateOrder(t, s.Key)
	const orders = 2*perWebhook + 1
	healthy.WaitFor(t, orders)
	ended := slow.left.Load() - left
	told := map[any]bool{}
	for _, event := range healthy.Events() {
		told[event.Data["id"]] = true
	}
	require.Len(t, told, orders, "every order, once")
	require.Len(t, healthy.Events(), orders)
	return ended
}
