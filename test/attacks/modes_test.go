package attacks

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/dbtest"
	"despacho/test/poll"
)

// side is what one operator has in one mode, live or test, and who may see it.
type side struct {
	*victim
	test bool
	// intruders are the operator's and its store's credentials of the other mode.
	intruders map[string]attacker
}

// bothSides makes an operator with an order, a webhook and a delivery in each mode. All of them are
// of the same operator and the same store.
func bothSides(t *testing.T, s *apptest.Service) (live, test *side) {
	t.Helper()
	tenant := s.NewTenant(t)
	testKey := tenant.NewKey(t, models.APIKey{Test: true})
	testKeyA := tenant.NewKey(t, models.APIKey{Test: true, StoreID: &tenant.StoreA.ID})
	live, test = newSide(t, s, tenant, tenant.KeyA, "Viva", false), newSide(t, s, tenant, testKeyA, "Ficticia", true)
	live.intruders = map[string]attacker{
		"a test key":         {key: testKey, own: tenant},
		"a store's test key": {key: testKeyA, own: tenant},
	}
	test.intruders = map[string]attacker{
		"a live key and an administrator":          {key: tenant.Key, token: tenant.SignInAs(t, &models.User{Admin: true}), own: tenant},
		"a store's live key and one of its people": {key: tenant.KeyA, token: tenant.SignIn(t, &tenant.StoreA), own: tenant},
	}
	return live, test
}

func newSide(t *testing.T, s *apptest.Service, tenant *apptest.Tenant, key, name string, test bool) *side {
	t.Helper()
	webhook, secret := s.Register(t, key, apptest.NewReceiver(t, nil))
	order := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: key, Body: apptest.Order(map[string]any{
		"recipient_name": "Destinataria " + name, "delivery_address": "Calle " + name + " 123",
		"recipient_phone": "987650002", // a test order's is delivered with a photo
	})})
	require.Equal(t, http.StatusCreated, order.Status, order.Text)
	if test {
		deliverTestOrder(t, s, key, order.String("id"))
	}
	var delivery string
	poll.Until(t, func() error { // a later change would look like an intruder's
		deliveries := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/deliveries", Key: key}).Data["deliveries"].([]any)
		for _, one := range deliveries {
			if record := one.(map[string]any); record["status"] == "pending" {
				return fmt.Errorf("%s is still on its way", record["event"])
			}
		}
		if len(deliveries) == 0 {
			return fmt.Errorf("there is no delivery")
		}
		delivery = deliveries[0].(map[string]any)["id"].(string)
		return nil
	})
	ids := map[string]string{"order": order.String("id"), "webhook": webhook, "delivery": delivery}
	of := &side{test: test, victim: &victim{
		Tenant: tenant, s: s, ids: ids, markers: []string{secret, order.String("guide_code"), "Destinataria " + name, "Calle " + name, ids["order"], webhook, delivery},
	}}
	if test {
		photo := dbtest.Row[models.Order](t, s.App.DB, "id = ?", ids["order"]).ProofPhoto
		require.NotNil(t, photo)
		of.markers = append(of.markers, *photo)
	} else {
		ids["settlement"] = settleWithStoreA(t, s, tenant)
		of.markers = append(of.markers, ids["settlement"])
	}
	return of
}

// deliverTestOrder makes the steps of a test order; on a slow machine some make themselves.
func deliverTestOrder(t *testing.T, s *apptest.Service, key, id string) {
	t.Helper()
	for {
		step := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/test/orders/" + id + "/advance", Key: key})
		if step.Code == "no_next_step" {
			return
		}
		require.Equal(t, http.StatusOK, step.Status, step.Text)
	}
}

// mayCall reports whether an intruder has credentials for a route: a test key opens /v1 alone.
func (who attacker) mayCall(path string) bool {
	return who.token != "" || strings.HasPrefix(path, "/v1/")
}

// rowsOfMode is all that the database holds of the side: the rows of every table that tells the
// modes apart, and those that belong to them.
func (d *side) rowsOfMode(t *testing.T) map[string][]string {
	t.Helper()
	state := map[string][]string{}
	mode := fmt.Sprintf("operator_id = $ AND test = %t", d.test)
	for _, table := range []string{"orders", "webhooks", "deliveries"} {
		state[table] = d.rows(t, table, mode)
		require.NotEmpty(t, state[table], table)
	}
	state["order_events"] = d.rows(t, "order_events", "order_id IN (SELECT id FROM orders WHERE "+mode+")")
	state["delivery_attempts"] = d.rows(t, "delivery_attempts", "delivery_id IN (SELECT id FROM deliveries WHERE "+mode+")")
	return state
}

// requireHidden leaves out what the intruder itself has sent: an answer may repeat it.
func (d *side) requireHidden(t *testing.T, what, sent, text string) {
	t.Helper()
	for _, mark := range d.markers {
		if !strings.Contains(sent, mark) {
			require.NotContains(t, text, mark, what)
		}
	}
}

// Every route that takes an id, with every id of one mode and every credential of the other:
// nothing is read and nothing changes.
func TestModes_idsOfTheOther(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		live, test := bothSides(t, s)
		for _, of := range []*side{live, test} {
			before, tried := of.state(t), 0
			for _, route := range routes(t) {
				if !strings.Contains(route.Path, ":id") {
					continue
				}
				for name, who := range of.intruders {
					for kind, id := range of.ids {
						if !who.mayCall(route.Path) {
							continue
						}
						what := fmt.Sprintf("%s: %s %s with the id of the other mode's %s", name, route.Method, route.Path, kind)
						path := strings.ReplaceAll(route.Path, ":id", id)
						status, text := who.call(t, s, route.Method, path, bodyNaming(who.own))
						require.Contains(t, []int{http.StatusForbidden, http.StatusNotFound}, status, "%s: %s", what, text)
						of.requireHidden(t, what, path, text)
						tried++
					}
				}
			}
			require.Greater(t, tried, 40)
			require.Equal(t, before, of.state(t))
		}
	})
}

// Every route without an id, with what is the other mode's in the body and the query: it is neither
// shown nor changed. That the lists show something at all is seen from the intruder's own side.
func TestModes_listsOfTheOther(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		for _, ofTests := range []bool{false, true} {
			of, own := bothSides(t, s) // the intruders create much of their own
			if ofTests {
				of, own = own, of
			}
			before, shown := of.rowsOfMode(t), 0
			members := bodyNaming(of.Tenant)
			for _, name := range []string{"code", "guide_code", "q"} {
				members[name] = of.markers[1]
			}
			members["id"], members["order_id"], members["webhook_id"] = []string{of.ids["order"]}, of.ids["order"], of.ids["webhook"]
			query := url.Values{"order_id": {of.ids["order"]}, "webhook_id": {of.ids["webhook"]}, "id": {of.ids["order"]}}
			for _, route := range routes(t) {
				// Tracking is for whoever has the guide code, and the audit log names what keys have done.
				if strings.Contains(route.Path, ":") || isSignInOrOut(route.Path) || strings.HasPrefix(route.Path, "/track") || isAudit(route.Path) {
					continue
				}
				for name, who := range of.intruders {
					if !who.mayCall(route.Path) {
						continue
					}
					what := name + ": " + route.Method + " " + route.Path
					for _, path := range []string{route.Path, route.Path + "?" + query.Encode()} {
						status, text := who.call(t, s, route.Method, path, members)
						require.Less(t, status, 500, "%s: %s", what, text)
						sent := path
						if route.Method != http.MethodGet {
							sent += fmt.Sprint(members)
						}
						of.requireHidden(t, what, sent, text)
						if strings.Contains(text, own.markers[1]) {
							shown++
						}
					}
				}
			}
			require.Greater(t, shown, 1, "an own order is in the lists")
			require.Equal(t, before, of.rowsOfMode(t))
		}
	})
}

// What is limited or has to be different is so in each mode for itself: an Idempotency-Key, a
// store's number of an order, a place in the event feed, the number of webhooks.
func TestModes_countForThemselves(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		for _, ofTests := range []bool{false, true} {
			tenant := s.NewTenant(t)
			one, other := tenant.Key, tenant.NewKey(t, models.APIKey{Test: true})
			if ofTests {
				one, other = other, one
			}
			create := apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: one, Body: apptest.Order(map[string]any{"external_id": "venta " + one[:9]}), Header: map[string]string{"Idempotency-Key": "venta " + one[:9]}}
			first := s.Do(t, create)
			create.Key = other
			second := s.Do(t, create)
			require.Equal(t, []int{http.StatusCreated, http.StatusCreated}, []int{first.Status, second.Status}, "%s %s", first.Text, second.Text)
			require.Empty(t, second.Header.Get("Idempotent-Replayed"))
			require.NotEqual(t, first.String("id"), second.String("id"))
			read := func(key, path string) *apptest.Answer {
				return s.Do(t, apptest.Request{Method: http.MethodGet, Path: path, Key: key})
			}
			found := read(one, "/v1/orders?external_id="+url.QueryEscape("venta "+one[:9]))
			require.NotContains(t, found.Text, second.String("id"))
			require.EqualValues(t, 1, found.Data["total"])

			for range 20 {
				s.Register(t, one, apptest.NewReceiver(t, nil))
			}
			register := func(key string) *apptest.Answer {
				return s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/webhooks", Key: key, Body: map[string]any{"url": "https://receptor.example", "events": []string{"order.created"}}})
			}
			require.Equal(t, http.StatusConflict, register(one).Status)
			hook := register(other)
			require.Equal(t, http.StatusCreated, hook.Status, hook.Text)
			require.Equal(t, http.StatusOK, s.Do(t, apptest.Request{Method: http.MethodDelete, Path: "/v1/webhooks/" + hook.String("id"), Key: other}).Status)

			var cursor string
			poll.Until(t, func() error {
				if cursor = read(one, "/v1/events").String("cursor"); cursor == "" || read(other, "/v1/events").String("cursor") == "" {
					return fmt.Errorf("the events are not published yet")
				}
				return nil
			})
			require.Equal(t, "event_cursor_unknown", read(other, "/v1/events?after="+cursor).Code)
		}
	})
}

// A minute's requests with a test key leave those of a live key alone.
func TestModes_rateLimits(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t, apptest.OnPlan(models.PlanPro))
		testKey := tenant.NewKey(t, models.APIKey{Test: true})
		statuses := map[int]int{}
		for range 101 {
			statuses[s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/stores", Key: testKey}).Status]++
		}
		require.Equal(t, map[int]int{http.StatusOK: 100, http.StatusTooManyRequests: 1}, statuses)
		require.Contains(t, s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/stores", Key: tenant.Key}).Header.Get("RateLimit"), "r=99")
	})
}

// isSignInOrOut names the routes that change the intruder's own session or password.
func isSignInOrOut(path string) bool {
	for _, ending := range []string{"/session", "/salir", "/password", "/ingreso", "/cuenta"} {
		if strings.HasSuffix(path, ending) {
			return true
		}
	}
	return false
}

// Whatever the live side can look at, counts and files included, is byte for byte the same before
// and after there are test orders.
func TestModes_liveSideIsTheSame(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		live, _ := bothSides(t, s)
		testKey := live.NewKey(t, models.APIKey{Test: true})
		who := attacker{key: live.Key, token: live.SignInAs(t, &models.User{Admin: true})}
		look := func() map[string]string {
			texts := map[string]string{}
			for _, route := range routes(t) {
				if route.Method != http.MethodGet || strings.Contains(route.Path, ":") || isAboutKeysOrHealth(route.Path) || isAudit(route.Path) {
					continue
				}
				status, text := who.call(t, s, http.MethodGet, route.Path, nil)
				require.Less(t, status, 500, "%s: %s", route.Path, text)
				texts[route.Path] = passing.ReplaceAllString(text, "")
			}
			return texts
		}
		before := look()
		for range 3 {
			deliverTestOrder(t, s, testKey, s.CreateOrder(t, testKey, map[string]any{"amount_to_collect": 12}))
		}
		after := look()
		for path, text := range before {
			require.Equal(t, text, after[path], path)
		}
		require.Greater(t, len(before), 30)
	})
}

// passing is what a page has another of each time it is shown: the token of a form, and the time.
var passing = regexp.MustCompile(`name="ficha" value="[^"]*"|data-since="[^<]*<|desde hace [^<]*<|class="printed">.*</p>`)

// isAudit names the routes of the audit log.
func isAudit(path string) bool {
	return strings.Contains(path, "/audit") || strings.Contains(path, "/registro")
}

// isAboutKeysOrHealth names the routes that show when a key was last used, or the state of the
// process.
func isAboutKeysOrHealth(path string) bool {
	for _, part := range []string{"/keys", "/claves", "/healthz", "/readyz", "/docs", "/openapi.yaml"} {
		if strings.Contains(path, part) {
			return true
		}
	}
	return false
}
