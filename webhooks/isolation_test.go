package webhooks_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/apptest"
	"despacho/internal/guard"
	"despacho/internal/testenv"
	"despacho/internal/webhook"
	"despacho/models"
)

// tolerated is how much later, at the median, an event may arrive because another receiver hangs.
const tolerated = 100 * time.Millisecond

// clocked is an operator with a receiver that notes when it hears of each order.
type clocked struct {
	*stage
	arrivals chan arrival
	delays   []time.Duration
}

type arrival struct {
	orderID string
	at      time.Time
}

func newClocked(t *testing.T, s *stage) *clocked {
	t.Helper()
	c := &clocked{stage: s, arrivals: make(chan arrival, 100)}
	url := startReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
		now := time.Now()
		var event struct {
			Data struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		if json.NewDecoder(r.Body).Decode(&event) == nil {
			c.arrivals <- arrival{event.Data.ID, now}
		}
	}, nil)
	s.register(t, s.Key, url, onlyCreated)
	return c
}

// measure creates an order and notes how long after the request its receiver heard of it.
func (c *clocked) measure(t *testing.T) {
	t.Helper()
	began := time.Now()
	id := c.CreateOrder(t, c.Key)
	select {
	case a := <-c.arrivals:
		require.Equal(t, id, a.orderID)
		c.delays = append(c.delays, a.at.Sub(began))
	case <-time.After(soon):
		t.Fatal("the event did not arrive")
	}
}

func (c *clocked) median() time.Duration {
	sorted := slices.Sorted(slices.Values(c.delays))
	return sorted[len(sorted)/2]
}

// A receiver that hangs delays the arrival at another one, told of the very same orders, by less than 100 ms at the median, compared with one beside a receiver that
// answers. The test is not parallel, so that what it measures is not the other tests.
func TestIsolation_aReceiverThatHangs(t *testing.T) {
	for name, open := range map[string]func(testing.TB) string{"sqlite": testenv.SQLite, "postgres": testenv.Postgres} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, apptest.Boot(t, open(t), apptest.Options{}))
			slow := newPatient()
			t.Cleanup(slow.release)
			calm, disturbed := newClocked(t, s), newClocked(t, s.another(t))
			calm.register(t, calm.Key, startReceiver(t, answering(200, ""), nil), onlyCreated)
			hanging, _ := disturbed.register(t, disturbed.Key, startReceiver(t, slow.hang, nil), onlyCreated)
			const orders = 24
			testenv.Within(t, tolerated, func() time.Duration {
				calm.delays, disturbed.delays = nil, nil
				for range orders {
					calm.measure(t)
					disturbed.measure(t)
				}
				t.Logf("median from request to arrival over %d orders each: %s beside one that answers, %s beside one that hangs", orders, calm.median(), disturbed.median())
				return disturbed.median() - calm.median()
			})
			for _, d := range disturbed.logOf(t, hanging) {
				require.NotEqual(t, "delivered", d.Status, "it really was hanging")
			}
		})
	}
}

// A delivery does not wait long for a host that is busy with others: it makes room in the worker and says when it comes back.
func TestIsolation_nobodyWaitsLongForABusyHost(t *testing.T) {
	eachByHand(t, func(t *testing.T, s *byHand) {
		slow := newPatient()
		t.Cleanup(slow.release)
		receiver := apptest.NewReceiver(t, slow.hang)
		s.sending = s.stage.sending(t, s.now, func(o *guard.Options) { o.Timeout = 2 * soon }) // the host is busy for as long as the test needs
		webhookID, _ := s.Register(t, s.Key, receiver, onlyCreated)
		late := s.pending(t, webhookID)
		var busy sync.WaitGroup
		for range webhook.DefaultPerHost {
			id := s.pending(t, webhookID)
			busy.Go(func() { _ = s.sending.Send(t.Context(), id, models.CauseAuto) })
		}
		receiver.WaitFor(t, webhook.DefaultPerHost)

		said := s.send(t, late, models.CauseAuto)
		require.InDelta(t, 5, said.again.Seconds(), 1)
		row, attempts := s.deliveryRow(t, late.String())
		require.Empty(t, attempts, "nothing was sent")
		require.Equal(t, models.DeliveryPending, row.Status)
		require.WithinDuration(t, s.now.Now().Add(said.again), *row.NextAttemptAt, time.Millisecond, "it is not abandoned")

		s.now.Advance(time.Minute)
		require.InDelta(t, 60, s.send(t, late, models.CauseAuto).again.Seconds(), 12, "it stays away longer and longer")

		slow.release()
		busy.Wait()
		require.Equal(t, verdict{}, s.send(t, late, models.CauseAuto))
		require.Len(t, receiver.Events(), webhook.DefaultPerHost+1)
	})
}
