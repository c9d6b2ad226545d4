package webhooks_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

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
