package webhooks_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// A store's webhook gets only that store's events, the operator's gets all, each only what it
// subscribed to. Inactive webhooks and other operators' get nothing.
func TestScope_recipients(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		other := s.secondOperator(t)
		type told struct {
			receiver *apptest.Receiver
			id, key  string
			want     []string
		}
		listen := func(s *harness, key string, more map[string]any, want ...string) *told {
			w := &told{receiver: apptest.NewReceiver(t, nil), key: s.Key, want: want}
			w.id, _ = s.Register(t, key, w.receiver, more)
			return w
		}
		fromA := []string{"order.created A", "order.created A"}
		fromB := []string{"order.created B", "order.cancelled B"}
		all := append(append([]string{"order.created none"}, fromA...), fromB...)
		everyone := []*told{
			listen(s, s.Key, nil, all...),
			listen(s, s.Key, map[string]any{"store_id": s.StoreA.ID}, fromA...),
			listen(s, s.KeyA, nil, fromA...),
			listen(s, s.KeyB, nil, fromB...),
			listen(s, s.KeyB, map[string]any{"events": []string{"order.cancelled", "order.cancelled"}}, "order.cancelled B"),
			listen(s, s.Key, map[string]any{"events": []string{"order.assigned", "order.delivered"}}),
			listen(other, other.Key, nil),
		}
		deactivated := listen(s, s.Key, nil)
		everyone = append(everyone, deactivated)
		answer := s.Do(t, apptest.Request{Method: http.MethodDelete, Path: "/v1/webhooks/" + deactivated.id, Key: s.Key})
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)

		s.CreateOrder(t, s.KeyA)
		storeStaff := s.SignIn(t, &s.StoreA)
		answer = s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders", Token: storeStaff, Body: apptest.Order()})
		require.Equal(t, http.StatusCreated, answer.Status, answer.Text)
		s.move(t, s.CreateOrder(t, s.KeyB), "cancel", nil)
		s.CreateOrder(t, s.Key)

		stores := map[any]string{s.StoreA.ID.String(): "A", s.StoreB.ID.String(): "B", nil: "none"}
		for _, w := range everyone {
			got := []string{}
			for _, event := range w.receiver.WaitFor(t, len(w.want)) {
				got = append(got, event.Event+" "+stores[event.Data["store_id"]])
			}
			require.ElementsMatch(t, w.want, got)
			// Deliveries are written with the move: what is not in the log is never sent.
			owner := s
			if w.key == other.Key {
				owner = other
			}
			require.Len(t, owner.logOf(t, w.id), len(w.want))
		}
	})
}

// A webhook gets the events of an order in sequence, however slow its receiver is.
func TestOrder_oneAfterTheOther(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		for name, more := range map[string]map[string]any{"single attempt": nil, "with retries": {"retry": true}} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := s.secondOperator(t)
				next := make(chan struct{})
				var inside, crowded atomic.Int32
				receiver := apptest.NewReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
					if inside.Add(1) > 1 {
						crowded.Add(1)
					}
					defer inside.Add(-1)
					select {
					case <-next:
					case <-r.Context().Done():
					}
				})
				webhookID, _ := s.Register(t, s.Key, receiver, more)
				s.staffToken(t)
				id := s.CreateOrder(t, s.Key)
				for i, move := range []func(){
					func() {
						s.move(t, id, "receive", nil)
						s.assign(t, id)
					},
					func() { s.move(t, id, "assign", map[string]any{"rider_id": s.Riders[1].ID}) },
					func() { s.move(t, id, "deliver", nil) },
				} {
					require.Len(t, receiver.WaitFor(t, i+1), i+1)
					move() // while the receiver handles the previous event
					require.Len(t, receiver.Events(), i+1, "the next event waits for its turn")
					next <- struct{}{}
				}
				receiver.WaitFor(t, 4)
				next <- struct{}{}

				require.Equal(t, []string{"order.created", "order.assigned", "order.assigned", "order.delivered"}, eventNames(receiver.Events()))
				require.Zero(t, crowded.Load())
				for _, d := range s.waitUntilFinished(t, webhookID, 4) {
					require.Equal(t, "delivered", d.Status)
				}
			})
		}
	})
}

// A waiting event is not sent once its webhook is inactive.
func TestScope_deactivatedWhileWaiting(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		first, second, arrived := s.deactivateWhileWaiting(t)
		require.Equal(t, "delivered", first.Status, "it was on its way")
		require.Equal(t, "failed", second.Status)
		require.Len(t, second.Attempts, 1)
		require.Equal(t, "El webhook está desactivado.", *second.Attempts[0].Error, "the log says why")
		require.Nil(t, second.Attempts[0].DurationMS)
		require.Equal(t, 1, arrived)
	})
}

// deactivateWhileWaiting deactivates a webhook while order.created is being received and
// order.cancelled waits.
func (s *harness) deactivateWhileWaiting(t *testing.T) (created, cancelled delivery, arrived int) {
	t.Helper()
	release := make(chan struct{})
	receiver := apptest.NewReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	webhookID, _ := s.Register(t, s.Key, receiver)
	s.staffToken(t)
	id := s.CreateOrder(t, s.Key)
	receiver.WaitFor(t, 1)
	s.move(t, id, "cancel", nil)
	answer := s.Do(t, apptest.Request{Method: http.MethodDelete, Path: "/v1/webhooks/" + webhookID, Key: s.Key})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	close(release)
	deliveries := s.waitUntilFinished(t, webhookID, 2)
	return deliveries[0], deliveries[1], len(receiver.Events())
}
