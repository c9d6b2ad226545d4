package webhooks_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/safehttp"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
	"despacho/webhooks/sender"
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

// A hanging receiver does not delay another one with the same events: the event arrives while all
// slots of the hanging host are taken and more deliveries wait for one.
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
			for range 2 * sender.DefaultPerHost {
				create()
			}
			testenv.Until(t, func() error {
				if busy := slow.inside.Load() - slow.left.Load(); busy < sender.DefaultPerHost {
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
		require.LessOrEqual(t, slow.inside.Load()-slow.left.Load(), int32(sender.DefaultPerHost))
		told := map[any]bool{}
		for _, event := range healthy.Events() {
			told[event.Data["id"]] = true
		}
		require.Len(t, told, orders, "every order, once")
		require.Len(t, healthy.Events(), orders)
	})
}

// A delivery waits only briefly for a busy host: it frees its activity slot and returns a retry
// delay.
func TestIsolation_busyHostDefersDeliveries(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		slow := newSlowReceiver()
		defer slow.release()
		receiver := apptest.NewReceiver(t, slow.hang)
		s.service = s.harness.newSendService(t, s.now, func(o *safehttp.Options) { o.Timeout = 2 * testenv.Deadline }) // the host stays busy for the whole test
		webhookID, _ := s.Register(t, s.Key, receiver, onlyCreated)
		late := s.createPending(t, webhookID)
		var busy sync.WaitGroup
		for range sender.DefaultPerHost {
			id := s.createPending(t, webhookID)
			busy.Go(func() { _ = s.service.Send(t.Context(), id, models.CauseAuto) })
		}
		receiver.WaitFor(t, sender.DefaultPerHost)

		deferred := s.send(t, late, models.CauseAuto)
		require.InDelta(t, 5, deferred.again.Seconds(), 1)
		row, attempts := s.deliveryRow(t, late.String())
		require.Empty(t, attempts, "nothing was sent")
		require.Equal(t, models.WebhookDeliveryPending, row.Status)
		require.WithinDuration(t, s.now.Now().Add(deferred.again), *row.NextAttemptAt, time.Millisecond, "it is not abandoned")

		s.now.Advance(time.Minute)
		require.InDelta(t, 60, s.send(t, late, models.CauseAuto).again.Seconds(), 12, "it stays away longer and longer")

		slow.release()
		busy.Wait()
		s.now.Advance(72 * time.Second)
		require.Equal(t, sendOutcome{}, s.send(t, late, models.CauseAuto))
		require.Len(t, receiver.Events(), sender.DefaultPerHost+1)
	})
}
