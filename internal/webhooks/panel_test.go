package webhooks_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// The panel manages webhooks like the API: a store's users their own, the operator's users all of
// the operator's.
func TestPanel_webhooks(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := apptest.NewReceiver(t, nil)
		operator, storeA, storeB, stranger := s.staffToken(t), s.SignIn(t, &s.StoreA), s.SignIn(t, &s.StoreB), s.secondOperator(t).staffToken(t)
		do := func(token, method, path string, body any, status int) *apptest.Answer {
			t.Helper()
			answer := s.Do(t, apptest.Request{Method: method, Path: "/panel/api/webhooks" + path, Token: token, Body: body})
			require.Equal(t, status, answer.Status, answer.Text)
			return answer
		}
		registered := do(storeA, http.MethodPost, "", map[string]any{
			"url": receiver.URL, "events": []models.Event{models.EventCreated}, "store_id": s.StoreB.ID,
		}, http.StatusCreated)
		id := registered.String("id")
		require.Equal(t, s.StoreA.ID.String(), registered.String("store_id"), "a store's webhook is its own, whatever it says")
		for token, seen := range map[string]int{operator: 1, storeA: 1, storeB: 0, stranger: 0} {
			list := do(token, http.MethodGet, "", nil, http.StatusOK).List
			require.Len(t, list, seen)
			for _, entry := range list {
				require.NotContains(t, entry, "secret", "it is shown once")
			}
		}

		for _, token := range []string{storeB, stranger} {
			do(token, http.MethodDelete, "/"+id, nil, http.StatusNotFound)
			do(token, http.MethodPost, "/"+id+"/rotate", nil, http.StatusNotFound)
			do(token, http.MethodPost, "/"+id+"/test", nil, http.StatusNotFound)
			do(token, http.MethodPost, "/"+id+"/redeliver", wholeDay(), http.StatusNotFound)
		}
		rotated := do(operator, http.MethodPost, "/"+id+"/rotate", nil, http.StatusOK)
		s.CreateOrder(t, s.KeyA)
		requireSigned(t, receiver.WaitFor(t, 1)[0], rotated.String("secret"), registered.String("secret"))

		do(storeA, http.MethodDelete, "/"+id, nil, http.StatusOK)
		do(storeA, http.MethodDelete, "/"+id, nil, http.StatusNotFound)
		require.Empty(t, s.activeWebhooks(t))
		over := do(storeA, http.MethodGet, "", nil, http.StatusOK).List[0].(map[string]any)
		require.Equal(t, false, over["active"])
		require.Equal(t, "Desactivado por su dueño.", over["deactivated_reason"], "the panel says why")
		require.NotNil(t, over["deactivated_at"])
	})
}
