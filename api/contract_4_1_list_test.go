package api_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

func listOrders(t *testing.T, s *apptest.Service, key, query string) (ids []any, page map[string]any) {
	t.Helper()
	answer := get(t, s, key, "/v1/orders"+query)
	require.Equal(t, http.StatusOK, answer.Status, "%s: %s", query, answer.Text)
	return column(objects(t, answer.Data["orders"].([]any)), "id"), answer.Data
}

// The list carries orders, total, page and limit in data, newest first, 50 to a page unless asked
// otherwise.
func TestContract_4_1_newestFirstInPages(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		newest := make([]any, 5)
		for i := range newest {
			newest[len(newest)-1-i] = s.CreateOrder(t, tenant.Key)
		}
		for query, want := range map[string]struct {
			ids         []any
			page, limit int
		}{
			"":                                   {newest, 1, 50},
			"?page=&limit=":                      {newest, 1, 50},
			"?limit=2":                           {newest[:2], 1, 2},
			"?limit=2&page=2":                    {newest[2:4], 2, 2},
			"?limit=2&page=3":                    {newest[4:], 3, 2},
			"?limit=2&page=4":                    {[]any{}, 4, 2},
			"?limit=1&page=5":                    {newest[4:], 5, 1},
			"?limit=200":                         {newest, 1, 200},
			"?limit=201":                         {newest, 1, 200},
			"?limit=1000000000":                  {newest, 1, 200},
			"?limit=99999999999":                 {newest, 1, 200},
			"?limit=1" + strings.Repeat("0", 40): {newest, 1, 200},
			"?page=1000000000":                   {[]any{}, 1000000000, 50},
			"?page=1000000000&limit=1000000000":  {[]any{}, 1000000000, 200},
			"?page=1000000000000000&limit=10":    {[]any{}, math.MaxInt32, 10},
			"?page=1&algo=desconocido&limit=200": {newest, 1, 200},
		} {
			ids, page := listOrders(t, s, tenant.Key, query)
			require.Equal(t, want.ids, ids, query)
			require.EqualValues(t, 5, page["total"], query)
			require.EqualValues(t, want.page, page["page"], query)
			require.EqualValues(t, want.limit, page["limit"], query)
			require.Len(t, page, 4, "orders, total, page, limit and nothing else")
		}
	})
}

// status filters by one of the five statuses; the total counts what matches.
func TestContract_4_1_status(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		cancelled, registered := s.CreateOrder(t, tenant.Key), s.CreateOrder(t, tenant.Key)
		require.Equal(t, http.StatusOK, cancelOrder(t, s, tenant.Key, cancelled, nil).Status)
		for status, want := range map[string][]any{
			"registered": {registered}, "cancelled": {cancelled}, "received": {}, "assigned": {}, "delivered": {}, "": {registered, cancelled},
		} {
			ids, page := listOrders(t, s, tenant.Key, "?status="+status)
			require.Equal(t, want, ids, status)
			require.EqualValues(t, len(want), page["total"])
		}
	})
}

// A value that makes no sense is 400 and named; all of them at once.
func TestContract_4_1_wrongParameters(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for query, fields := range map[string][]string{
			"status=perdido":                 {"status"},
			"status=REGISTERED":              {"status"},
			"status=%00":                     {"status"},
			"page=0":                         {"page"},
			"page=-1":                        {"page"},
			"page=uno":                       {"page"},
			"page=1.5":                       {"page"},
			"page=1e3":                       {"page"},
			"page=-1000000000000000000000":   {"page"},
			"page=%00":                       {"page"},
			"limit=0":                        {"limit"},
			"limit=-50":                      {"limit"},
			"limit=todo":                     {"limit"},
			"limit=0x10":                     {"limit"},
			"from_date=ayer":                 {"from_date"},
			"from_date=2026-02-30":           {"from_date"},
			"from_date=2026-2-3":             {"from_date"},
			"from_date=03/10/2026":           {"from_date"},
			"from_date=2026-03-10T00:00:00Z": {"from_date"},
			"from_date=0000-00-00":           {"from_date"},
			"from_date=0001-01-01":           {"from_date"},
			"to_date=9999-12-31":             {"to_date"},
			"to_date=-4713-01-01":            {"to_date"},
			"to_date=294277-01-01":           {"to_date"},
			"to_date=%27%20OR%201=1":         {"to_date"},
			"from_date=2026-03-11&to_date=2026-03-10":       {"from_date"},
			"status=x&page=x&limit=x&from_date=x&to_date=x": {"status", "page", "limit", "from_date", "to_date"},
		} {
			t.Run(query, func(t *testing.T) { requireWrongFields(t, get(t, s, tenant.Key, "/v1/orders?"+query), fields...) })
		}
	})
}

// from_date and to_date are whole days in the operator's time zone, both included, on creation.
func TestContract_4_1_wholeDaysOfTheOperator(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		// Lima is five hours behind UTC: its March 10 begins at 05:00 UTC.
		midnight := time.Date(2026, time.March, 10, 5, 0, 0, 0, time.UTC)
		manual := clock.NewManual(midnight)
		s := apptest.Boot(t, databaseURL, apptest.Options{Clock: manual, NoWorker: true})
		lima := s.NewTenant(t)
		tokyo := s.NewTenant(t, func(o *models.Operator) { o.Timezone = "Asia/Tokyo" })

		at := map[string]string{}
		for _, moment := range []struct {
			name string
			at   time.Time
		}{
			{"last of the 9th", midnight.Add(-time.Microsecond)},
			{"first of the 10th", midnight},
			{"last of the 10th", midnight.Add(24*time.Hour - time.Microsecond)},
			{"first of the 11th", midnight.Add(24 * time.Hour)},
		} {
			manual.Set(moment.at)
			at[moment.name] = s.CreateOrder(t, lima.Key)
			s.CreateOrder(t, tokyo.Key)
		}
		ids := func(names ...string) []any {
			list := make([]any, len(names))
			for i, name := range names {
				list[i] = at[name]
			}
			return list
		}
		for query, want := range map[string][]any{
			"from_date=2026-03-10&to_date=2026-03-10": ids("last of the 10th", "first of the 10th"),
			"from_date=2026-03-09&to_date=2026-03-09": ids("last of the 9th"),
			"from_date=2026-03-11":                    ids("first of the 11th"),
			"to_date=2026-03-09":                      ids("last of the 9th"),
			"from_date=2026-03-10":                    ids("first of the 11th", "last of the 10th", "first of the 10th"),
			"from_date=2026-03-10&limit=1&page=2":     ids("last of the 10th"),
			"from_date=2026-03-12":                    {},
			"from_date=2000-01-01&to_date=2100-12-31": ids("first of the 11th", "last of the 10th", "first of the 10th", "last of the 9th"),
			"status=cancelled&from_date=2026-03-10":   {},
		} {
			got, _ := listOrders(t, s, lima.Key, "?"+query)
			require.Equal(t, want, got, query)
		}
		// 05:00 UTC is 14:00 in Tokyo: the moment before midnight in Lima and the one after are the
		// same day there.
		_, page := listOrders(t, s, tokyo.Key, "?from_date=2026-03-10&to_date=2026-03-10")
		require.EqualValues(t, 2, page["total"])
		for name, day := range map[string]string{"last of the 9th": "2026-03-09", "first of the 10th": "2026-03-10", "first of the 11th": "2026-03-11"} {
			require.Equal(t, day, get(t, s, lima.Key, "/v1/orders/"+at[name]).String("operative_day"), "the operator's local date of creation")
		}
	})
}

// GET /orders/<order_id>: what is not there, or not an id, is 404.
func TestContract_4_1_readUnknown(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant, stranger := s.NewTenant(t), s.NewTenant(t)
		id := s.CreateOrder(t, stranger.Key)
		for _, unknown := range []string{id, uuid.NewString(), uuid.Nil.String(), "1", "no-es-un-id", "%00", "%ff", fmt.Sprintf("%036d", 0)} {
			requireRefused(t, get(t, s, tenant.Key, "/v1/orders/"+unknown), http.StatusNotFound, "order_not_found")
		}
	})
}
