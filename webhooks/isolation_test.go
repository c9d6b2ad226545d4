package webhooks_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"despacho/internal/config"
	"despacho/internal/safehttp"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
	"despacho/webhooks"
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
// turns of the hanging webhook are taken and more deliveries wait for one.
func TestIsolation_aReceiverThatHangs(t *testing.T) {
	// The exchanges hang until their activities time out: the first ones that end open the circuit.
	patient := apptest.Options{Configure: func(c *config.Config) { c.Timeouts.Exchange = testenv.Deadline }}
	eachOwn(t, patient, func(t *testing.T, s *harness) {
		slow := &hangingReceiver{slowReceiver: newSlowReceiver()}
		defer slow.release()
		s.register(t, s.Key, startReceiver(t, slow.receive, nil), onlyCreated)
		healthy := apptest.NewReceiver(t, nil)
		s.Register(t, s.Key, healthy, onlyCreated)
		for range 2 * perWebhook {
			s.CreateOrder(t, s.Key)
		}
		testenv.Until(t, func() error {
			if busy := slow.inside.Load(); busy < perWebhook {
				return fmt.Errorf("only %d exchanges hang", busy)
			}
			return nil
		})
		left := slow.left.Load()
		s.CreateOrder(t, s.Key)
		const orders = 2*perWebhook + 1
		healthy.WaitFor(t, orders)
		require.Less(t, slow.left.Load()-left, int32(perWebhook), "the hanging exchanges did not have to end")
		told := map[any]bool{}
		for _, event := range healthy.Events() {
			told[event.Data["id"]] = true
		}
		require.Len(t, told, orders, "every order, once")
		require.Len(t, healthy.Events(), orders)
	})
}

// A delivery that has to wait for its turn is sent when one ends. A worker that stops hands over what
// waits: nothing was sent, and the delivery is not abandoned.
func TestIsolation_waitingDeliveries(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		slow := newSlowReceiver()
		defer slow.release()
		receiver := apptest.NewReceiver(t, slow.hang)
		s.service = s.harness.newSendService(t, s.now, func(o *safehttp.Options) { o.Timeout = 2 * testenv.Deadline }) // the turns stay taken for the whole test
		webhookID, _ := s.Register(t, s.Key, receiver, onlyCreated)
		late := s.createPending(t, webhookID)
		var busy sync.WaitGroup
		for range perWebhook {
			id := s.createPending(t, webhookID)
			busy.Go(func() { _ = s.sendAndWait(t.Context(), id, models.CauseAuto) })
		}
		receiver.WaitFor(t, perWebhook)

		activity, end := context.WithCancel(t.Context())
		outcome := make(chan error, 1)
		require.ErrorIs(t, s.service.Send(activity, late, models.CauseAuto, func(err error) { outcome <- err }), webhooks.ErrWaiting)
		end() // as the activity's context does when it has returned
		closed := make(chan struct{})
		go func() { s.service.Turns.Close(); close(closed) }()
		var handedOver *temporal.ApplicationError
		require.ErrorAs(t, <-outcome, &handedOver)
		require.InDelta(t, 5, handedOver.NextRetryDelay().Seconds(), 1)
		row, attempts := s.deliveryRow(t, late.String())
		require.Empty(t, attempts, "nothing was sent")
		require.Equal(t, models.WebhookDeliveryPending, row.Status)
		require.WithinDuration(t, s.now.Now().Add(handedOver.NextRetryDelay()), *row.NextAttemptAt, time.Millisecond, "it is not abandoned")
		<-closed

		s.now.Advance(handedOver.NextRetryDelay())
		another := s.harness.newSendService(t, s.now, nil)
		another.Turns = webhooks.NewTurns()
		s.service = another
		slow.release()
		busy.Wait()
		require.Equal(t, sendOutcome{}, s.send(t, late, models.CauseAuto))
		require.Len(t, receiver.Events(), perWebhook+1)
	})
}
