package webhooks_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

func ids(list []delivery) []string {
	found := []string{}
	for _, d := range list {
		found = append(found, d.ID)
	}
	return found
}

// The log lists every delivery, newest first, with filters and pages.
func TestLog_filtersAndPages(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		good, bad := apptest.NewReceiver(t, respondWith(200, "gracias")), apptest.NewReceiver(t, respondWith(500, strings.Repeat("ñ", 1000)))
		goodID, _ := s.Register(t, s.Key, good, onlyCreated)
		badID, _ := s.Register(t, s.Key, bad, onlyCreated)
		var orders []string
		for range 3 {
			orders = append(orders, s.CreateOrder(t, s.Key))
		}
		s.waitUntilFinished(t, goodID, 3)
		s.waitUntilFinished(t, badID, 3)

		all := s.log(t, s.Key, nil)
		require.Equal(t, logPage{Deliveries: all.Deliveries, Total: 6, Page: 1, Limit: 50}, all)
		require.True(t, slices.IsSortedFunc(all.Deliveries, func(a, b delivery) int { return b.CreatedAt.Compare(a.CreatedAt) }), "newest first")
		for parameter, want := range map[string]int{
			"webhook_id=" + goodID:                           3,
			"webhook_id=" + goodID + "&status=failed":        0,
			"webhook_id=" + badID + "&status=failed":         3,
			"status=delivered":                               3,
			"status=pending":                                 0,
			"order_id=" + orders[1]:                          2,
			"order_id=" + orders[1] + "&status=delivered":    1,
			"order_id=" + uuid.NewString():                   0,
			"order_id=" + orders[0] + "&webhook_id=" + badID: 1,
		} {
			query, err := url.ParseQuery(parameter)
			require.NoError(t, err)
			page := s.log(t, s.Key, query)
			require.Equal(t, want, page.Total, parameter)
			require.Len(t, page.Deliveries, want, parameter)
		}

		var paged []string
		for _, page := range []string{"1", "2", "3"} {
			part := s.log(t, s.Key, url.Values{"page": {page}, "limit": {"4"}})
			require.Equal(t, 6, part.Total)
			paged = append(paged, ids(part.Deliveries)...)
		}
		require.Equal(t, ids(all.Deliveries), paged, "no entry twice, none left out, and the page past the end is empty")
		require.Equal(t, 200, s.log(t, s.Key, url.Values{"limit": {"5000"}}).Limit)

		d := s.logOf(t, goodID)[0]
		require.Equal(t, orders[0], *d.OrderID)
		require.Equal(t, "gracias", *d.Attempts[0].Response)
		answer := *s.logOf(t, badID)[0].Attempts[0].Response
		require.Equal(t, strings.Repeat("ñ", 512), answer, "the first KiB of what the receiver said")

		for parameter, field := range map[string]string{
			"status=lost": "status", "webhook_id=1": "webhook_id", "order_id=x": "order_id", "page=0": "page", "limit=-1": "limit", "limit=many": "limit",
		} {
			for _, path := range []string{"/v1/deliveries?", "/panel/api/deliveries?"} {
				wrong := s.Do(t, apptest.Request{Method: http.MethodGet, Path: path + parameter, Key: s.Key, Token: s.staffToken(t)})
				require.Equal(t, http.StatusBadRequest, wrong.Status, wrong.Text)
				require.Equal(t, []string{field}, wrong.Fields)
			}
		}
	})
}

// A store sees the deliveries of its own webhooks, an operator those of all, in the API and in the
// panel.
func TestLog_ownersAlone(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		receiver := apptest.NewReceiver(t, respondWith(200, "solo para su dueño"))
		operators, _ := s.Register(t, s.Key, receiver, onlyCreated)
		storeA, _ := s.Register(t, s.KeyA, receiver, onlyCreated)
		storeB, _ := s.Register(t, s.KeyB, receiver, onlyCreated)
		s.CreateOrder(t, s.KeyA)
		s.CreateOrder(t, s.KeyB)
		s.waitUntilFinished(t, operators, 2)
		s.waitUntilFinished(t, storeA, 1)
		s.waitUntilFinished(t, storeB, 1)
		other := s.secondOperator(t)

		for _, c := range []struct {
			key, token string
			sees       []string
		}{
			{s.Key, s.staffToken(t), []string{operators, operators, storeA, storeB}},
			{s.KeyA, s.SignIn(t, &s.StoreA), []string{storeA}},
			{s.KeyB, s.SignIn(t, &s.StoreB), []string{storeB}},
			{other.Key, other.staffToken(t), []string{}},
			{other.KeyA, other.SignIn(t, &other.StoreA), []string{}},
		} {
			for _, request := range []apptest.Request{{Path: "/v1/deliveries", Key: c.key}, {Path: "/panel/api/deliveries", Token: c.token}} {
				request.Method = http.MethodGet
				seen := []string{}
				for _, d := range readData[logPage](t, s.Do(t, request)).Deliveries {
					seen = append(seen, d.WebhookID)
				}
				require.ElementsMatch(t, c.sees, seen)
			}
		}
		require.Empty(t, s.log(t, s.KeyB, url.Values{"webhook_id": {storeA}}).Deliveries)

		foreign := s.logOf(t, storeA)[0].ID
		for _, key := range []string{s.KeyB, other.Key, other.KeyA} {
			s.post(t, key, "/v1/deliveries/"+foreign+"/redeliver", nil, http.StatusNotFound)
			s.post(t, key, "/v1/webhooks/"+storeA+"/test", nil, http.StatusNotFound)
			s.post(t, key, "/v1/webhooks/"+storeA+"/redeliver", wholeDay(), http.StatusNotFound)
		}
		require.Len(t, receiver.Events(), 4)
	})
}
