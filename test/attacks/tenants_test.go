package attacks

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// A session is no way around the limits of keys, neither with one user nor with many.
func TestTenant_sessionsAreLimited(t *testing.T) {
	const perUser, perOperator = 20, 50
	apptest.EachOwn(t, apptest.Options{NoWorker: true, Clock: clock.NewManual(apptest.FrozenAt), Configure: func(c *config.Config) {
		c.PanelUserLimit, c.PanelOperatorLimit = perUser, perOperator
	}}, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t, apptest.OnPlan(models.PlanBasic))
		read := func(token, path string) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: http.MethodGet, Path: path, Token: token})
		}
		user := &models.User{}
		first := tenant.SignInAs(t, user)
		second := guess(t, s, user.Email, apptest.Password, nil).String("token")
		statuses := map[int]int{}
		for i := range 2 * perUser {
			token, path := first, "/panel/api/orders"
			if i%2 == 0 {
				token, path = second, "/panel/api/keys"
			}
			statuses[read(token, path).Status]++
		}
		require.Equal(t, map[int]int{http.StatusOK: perUser, http.StatusTooManyRequests: perUser}, statuses, "both sessions of a user count together")
		limited := read(first, "/panel/api/orders")
		require.Equal(t, "rate_limited", limited.Code)
		require.Equal(t, "30", limited.Header.Get("Retry-After"))
		page := read(first, "/panel/pedidos")
		require.Equal(t, http.StatusTooManyRequests, page.Status, "pages too")
		require.Equal(t, "30", page.Header.Get("Retry-After"))

		// The refused requests count as well: 2*perUser and two are the operator's now.
		colleague := tenant.SignIn(t, &tenant.StoreA)
		for range perOperator - 2*perUser - 2 {
			require.Equal(t, http.StatusOK, read(colleague, "/panel/api/orders").Status)
		}
		require.Equal(t, http.StatusTooManyRequests, read(colleague, "/panel/api/orders").Status, "all users of an operator together")
		require.Equal(t, http.StatusOK, read(s.NewTenant(t).SignIn(t, nil), "/panel/api/orders").Status, "a neighbour is not affected")
	})
}

// Keys cannot be multiplied to multiply their limit, not even all at once.
func TestTenant_keysAreBounded(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t, apptest.OnPlan(models.PlanPro)) // with three keys
		token := tenant.SignIn(t, nil)
		create := apptest.Request{Method: http.MethodPost, Path: "/panel/api/keys", Token: token, Body: map[string]any{"name": "Otra", "scopes": []string{"read:orders"}}}
		var mu sync.Mutex
		var all sync.WaitGroup
		statuses, revocable := map[int]int{}, ""
		for range 60 {
			all.Go(func() {
				answer, err := s.Try(create)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					statuses[0]++
					return
				}
				statuses[answer.Status]++
				if answer.Status == http.StatusCreated {
					revocable = answer.String("id")
				}
			})
		}
		all.Wait()
		require.Equal(t, map[int]int{http.StatusCreated: 7, http.StatusConflict: 53}, statuses)
		require.Equal(t, "too_many_keys", s.Do(t, create).Code)
		revoked := s.Do(t, apptest.Request{Method: http.MethodDelete, Path: "/panel/api/keys/" + revocable, Token: token})
		require.Equal(t, http.StatusOK, revoked.Status, revoked.Text)
		require.Equal(t, http.StatusCreated, s.Do(t, create).Status, "a revoked key makes room")
	})
}

// A deactivated store has nothing left to call: neither its keys nor its people read or write. Its
// people still reach their own account.
func TestTenant_inactiveStore(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		seller, operator := tenant.SignIn(t, &tenant.StoreA), tenant.SignIn(t, nil)
		call := func(method, path, key, token string) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: method, Path: path, Key: key, Token: token})
		}
		closed := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/panel/api/stores/" + tenant.StoreA.ID.String(), Token: operator, Body: map[string]any{"active": false}})
		require.Equal(t, http.StatusOK, closed.Status, closed.Text)
		for _, path := range []string{"/v1/orders", "/v1/stores", "/v1/webhooks", "/v1/deliveries"} {
			answer := call(http.MethodGet, path, tenant.KeyA, "")
			require.Equal(t, http.StatusForbidden, answer.Status, path)
			require.Equal(t, "store_inactive", answer.Code, path)
			require.Empty(t, answer.Header.Get("RateLimit"), "it is not counted")
		}
		for _, path := range []string{"/panel/api/orders", "/panel/api/webhooks", "/panel/api/deliveries"} {
			answer := call(http.MethodGet, path, "", seller)
			require.Equal(t, http.StatusForbidden, answer.Status, path)
			require.Equal(t, "store_inactive", answer.Code, path)
		}
		require.Equal(t, http.StatusOK, call(http.MethodGet, "/panel/api/session", "", seller).Status)
		require.Equal(t, http.StatusOK, call(http.MethodGet, "/v1/orders", tenant.KeyB, "").Status, "the other store goes on")
		require.Equal(t, http.StatusOK, call(http.MethodDelete, "/panel/api/session", "", seller).Status)
	})
}

// The webhooks that a store registered get nothing while the store is closed, neither what happens
// to its orders nor what somebody requests. The operator's own go on. Once the store is open again
// it can have what it missed sent.
func TestTenant_webhooksOfAnInactiveStore(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		ofStore, ofOperator := apptest.NewReceiver(t, nil), apptest.NewReceiver(t, nil)
		hook, _ := s.Register(t, tenant.KeyA, ofStore)
		s.Register(t, tenant.Key, ofOperator, map[string]any{"store_id": tenant.StoreA.ID})
		order := s.CreateOrder(t, tenant.KeyA)
		ofStore.WaitFor(t, 1)
		call := func(method, path string, body any) *apptest.Answer {
			answer := s.Do(t, apptest.Request{Method: method, Path: "/panel/api" + path, Token: token, Body: body})
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
			return answer
		}
		call(http.MethodPatch, "/stores/"+tenant.StoreA.ID.String(), map[string]any{"active": false})
		call(http.MethodPost, "/orders/"+order+"/cancel", map[string]any{"reason": "La tienda cerró"})
		ofOperator.WaitFor(t, 2)
		var failed string
		poll.Until(t, func() error {
			for _, d := range deliveriesOf(t, s, apptest.Request{Path: "/panel/api/deliveries?webhook_id=" + hook, Token: token}) {
				if d["status"] == "failed" {
					failed = d["id"].(string)
					return nil
				}
			}
			return errors.New("the event of the cancel is still on its way")
		})
		require.Contains(t, call(http.MethodGet, "/deliveries/"+failed, nil).Text, "La tienda del webhook está desactivada.")
		for _, path := range []string{"/deliveries/" + failed + "/redeliver", "/webhooks/" + hook + "/test"} {
			require.Contains(t, call(http.MethodPost, path, nil).Text, "La tienda del webhook está desactivada.")
		}
		require.Len(t, ofStore.Events(), 1, "only what happened before")

		call(http.MethodPatch, "/stores/"+tenant.StoreA.ID.String(), map[string]any{"active": true})
		call(http.MethodPost, "/deliveries/"+failed+"/redeliver", nil)
		require.Equal(t, "order.cancelled", ofStore.WaitFor(t, 2)[1].Event)
	})
}

// An administrator who creates users learns nothing of those of other operators, and cannot search
// for them.
func TestTenant_emailsOfOthers(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true, Clock: clock.NewManual(apptest.FrozenAt)}, func(t *testing.T, s *apptest.Service) {
		tenant, other := s.NewTenant(t), s.NewTenant(t)
		self, strangers := &models.User{Admin: true}, make([]models.User, 21)
		token := tenant.SignInAs(t, self)
		for i := range strangers {
			other.SignInAs(t, &strangers[i])
		}
		create := func(email string) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/users", Token: token, Body: map[string]any{"name": "Ana", "email": email, "role": "operator"}})
		}
		require.Equal(t, "email_taken", create(strings.ToUpper(self.Email)).Code, "of one's own users everything is known")
		own := create(uuid.NewString() + "@prueba.example")
		require.Equal(t, http.StatusCreated, own.Status, own.Text)
		for i := range 19 {
			answer := create(strangers[i].Email)
			require.Equal(t, http.StatusConflict, answer.Status)
			require.Equal(t, "email_unavailable", answer.Code)
			require.NotContains(t, answer.Error, "Ya hay")
		}
		changed := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/panel/api/users/" + own.String("id"), Token: token, Body: map[string]any{"email": strangers[19].Email}})
		require.Equal(t, "email_unavailable", changed.Code, "nor by a change")
		for _, email := range []string{strangers[20].Email, uuid.NewString() + "@prueba.example", self.Email} {
			answer := create(email)
			require.Equal(t, http.StatusTooManyRequests, answer.Status, "after twenty in a day nothing is told")
			require.NotEmpty(t, answer.Header.Get("Retry-After"))
		}
		renamed := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/panel/api/users/" + own.String("id"), Token: token, Body: map[string]any{"name": "Luz"}})
		require.Equal(t, http.StatusOK, renamed.Status, renamed.Text)
	})
}
