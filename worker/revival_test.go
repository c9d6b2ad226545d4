package worker_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
	"despacho/test/testenv"
)

// A reception after the auto-cancel revives the order: same id and guide code, no reception event,
// the next event is order.assigned, and the cancellation stays in the timeline (contract 3).
func TestRevival_lateReception(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := boot(t, databaseURL, apptest.Options{Configure: withAutoCancelAfter(1500 * time.Millisecond)})
		receiver := apptest.NewReceiver(t, nil)
		s.Register(t, s.Key, receiver)
		created := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: s.KeyA, Body: apptest.Order()})
		require.Equal(t, http.StatusCreated, created.Status, created.Text)
		id := created.String("id")

		cancelled := s.waitForStatus(t, id, "cancelled")
		require.Equal(t, map[string]any{"by": "auto", "reason": nil, "note": nil}, cancelled.Data["cancellation"])
		require.NotNil(t, cancelled.Data["cancelled_at"])
		_, first := s.waitForOrderEnd(t, id)

		revived := s.receive(t, id)
		require.Equal(t, "received", revived.String("status"))
		require.Equal(t, id, revived.String("id"))
		require.Equal(t, created.String("guide_code"), revived.String("guide_code"))
		require.Nil(t, revived.Data["cancellation"])
		require.Nil(t, revived.Data["cancelled_at"])
		require.Equal(t, http.StatusConflict, s.move(t, id, "receive", nil).Status, "it is received once")
		refused := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id + "/cancel", Key: s.KeyA})
		require.Equal(t, http.StatusBadRequest, refused.Status, "the package is with the operator")

		s.assign(t, id, 0)
		s.deliver(t, id)
		var events []string
		for _, event := range receiver.WaitFor(t, 4) {
			events = append(events, event.Event)
			require.Equal(t, id, event.Data["id"])
		}
		require.Equal(t, []string{"order.created", "order.cancelled", "order.assigned", "order.delivered"}, events)
		require.Equal(t, []string{"created", "cancelled", "received", "assigned", "delivered"}, s.moveTypes(t, id))
		_, second := s.waitForOrderEnd(t, id)
		require.NotEqual(t, first, second, "a new run of the same workflow")
	})
}

// A cancel by a person is final: a reception is refused and starts no run.
func TestRevival_notAfterAPersonsCancel(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := s.CreateOrder(t, s.KeyA)
		answer := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id + "/cancel", Key: s.KeyA})
		require.Equal(t, http.StatusOK, answer.Status)
		_, runID := s.waitForOrderEnd(t, id)
		require.Equal(t, http.StatusConflict, s.move(t, id, "receive", nil).Status)
		_, after := s.waitForOrderEnd(t, id)
		require.Equal(t, runID, after)
	})
}
