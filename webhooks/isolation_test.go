package webhooks_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

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
	eachOwn(t, apptest.Options{}, func(t *testing.T, s *harness) {
		slow := &hangingReceiver{slowReceiver: newSlowReceiver()}
		defer slow.release()
		s.register(t, s.Key, startReceiver(t, slow.receive, nil), onlyCreated)
		healthy := apptest.NewReceiver(t, nil)
		s.Register(t, s.Key, healthy, onlyCreated)
		orders := 0
		create := func() {
			s.CreateOrder(t, s.Key)
			orders++
		}
		testenv.Until(t, func() error {
			for range 2 * perWebhook {
				create()
			}
			testenv.Until(t, func() error {
				if busy := slow.inside.Load() - slow.left.Load(); busy < perWebhook {
					return fmt.Errorf("only %d exchanges hang", busy)
				}
				return nil
			})
			left := slow.left.Load()
			create()
			healthy.WaitFor(t, orders)
			if slow.left.Load() > left {
				return errors.New("the hanging receiver's exchanges ended before the other one was told") // possible on a slow machine; the test retries
			}
			return nil
		})
		require.LessOrEqual(t, slow.inside.Load()-slow.left.Load(), int32(perWebhook))
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
