package webhooks_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/webhooks/sender"
	"despacho/test/apptest"
)

// The operator's other webhooks that subscribe to it are told when the service deactivates one;
// another store's are not.
func TestDisabled_isAnnounced(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		gone := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
		told, ofStore, strange := apptest.NewReceiver(t, nil), apptest.NewReceiver(t, nil), apptest.NewReceiver(t, nil)
		disabled, _ := s.Register(t, s.KeyA, gone)
		subscribe := map[string]any{"events": []string{"webhook.disabled"}}
		_, secret := s.Register(t, s.Key, told, subscribe)
		s.Register(t, s.KeyA, ofStore, subscribe)
		s.Register(t, s.KeyB, strange, subscribe)
		s.CreateOrder(t, s.KeyA)
		event := told.WaitFor(t, 1)[0]
		require.Equal(t, "webhook.disabled", event.Event)
		require.NoError(t, sender.Verify(event.Header, event.Body, time.Now(), secret))
		require.Equal(t, disabled, event.Data["webhook_id"])
		require.Equal(t, gone.URL+"/hook", event.Data["url"])
		require.NotEmpty(t, event.Data["reason"])
		require.Equal(t, event.Data, ofStore.WaitFor(t, 1)[0].Data, "the same store's own")
		require.Empty(t, strange.Events())
		require.Empty(t, s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/deliveries", Key: s.KeyB}).Data["deliveries"])
	})
}

// Everything since a time is sent again, under the same ids.
func TestRedeliver_everythingSince(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := apptest.NewReceiver(t, nil)
		since := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		id, _ := s.Register(t, s.Key, receiver, onlyCreated)
		path := "/v1/webhooks/" + id + "/redeliver"
		for range 2 {
			s.CreateOrder(t, s.Key)
		}
		before := receiver.WaitFor(t, 2)
		health := func() map[string]any {
			days := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/webhooks/" + id + "/health", Key: s.Key}).Data["days"].([]any)
			require.Len(t, days, 7)
			counted := map[string]any{}
			for _, day := range days { // the test may run over midnight
				for name, count := range day.(map[string]any) {
					if number, isCount := count.(float64); isCount {
						earlier, _ := counted[name].(float64)
						counted[name] = earlier + number
					}
				}
			}
			return counted
		}
		delivered := map[string]any{"delivered": 2.0, "failed": 0.0, "pending": 0.0}
		until(t, "the outcomes are not stored", func() bool { return health()["delivered"] == 2.0 })
		require.Equal(t, delivered, health())

		require.EqualValues(t, 0, s.post(t, s.Key, path, map[string]any{"from": since, "to": since, "all": true}, http.StatusOK).Data["redelivering"])
		require.EqualValues(t, 2, s.post(t, s.Key, path, map[string]any{"from": since, "all": true}, http.StatusOK).Data["redelivering"])
		again := receiver.WaitFor(t, 4)[2:]
		sent := func(events []apptest.Received) (ids []string) {
			for _, event := range events {
				ids = append(ids, event.Header.Get(sender.HeaderStandardID))
			}
			return ids
		}
		require.ElementsMatch(t, sent(before), sent(again))
		until(t, "they are not delivered again", func() bool { return health()["delivered"] == 2.0 })
		require.Equal(t, []string{"from"}, s.post(t, s.Key, path, map[string]any{"all": true}, http.StatusBadRequest).Fields)
		s.post(t, s.KeyA, path, map[string]any{"from": since, "all": true}, http.StatusNotFound)
	})
}

// What was sent to a webhook can be read after it was deactivated, which is when somebody looks for
// what went wrong; nothing more is sent to it.
func TestDeactivated_staysReadable(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := apptest.NewReceiver(t, nil)
		id, _ := s.Register(t, s.KeyA, receiver)
		delivery := s.post(t, s.KeyA, "/v1/webhooks/"+id+"/test", nil, http.StatusOK).String("id")
		deactivated := s.Do(t, apptest.Request{Method: http.MethodDelete, Path: "/v1/webhooks/" + id, Key: s.KeyA})
		require.Equal(t, http.StatusOK, deactivated.Status, deactivated.Text)

		for _, path := range []string{"/v1/webhooks/" + id, "/v1/webhooks/" + id + "/health", "/v1/deliveries/" + delivery} {
			read := s.Do(t, apptest.Request{Method: http.MethodGet, Path: path, Key: s.KeyA})
			require.Equal(t, http.StatusOK, read.Status, path+read.Text)
			foreign := s.Do(t, apptest.Request{Method: http.MethodGet, Path: path, Key: s.KeyB})
			require.Equal(t, http.StatusNotFound, foreign.Status, path+foreign.Text)
		}
		s.post(t, s.KeyA, "/v1/deliveries/"+delivery+"/redeliver", nil, http.StatusNotFound)
		s.post(t, s.KeyA, "/v1/webhooks/"+id+"/test", nil, http.StatusNotFound)
		require.Len(t, receiver.Events(), 1)
	})
}
