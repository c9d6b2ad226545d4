package orders_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// What is kept of each day stays exact, whatever changes on whichever day, also across a change of
// the clocks' offset.
func TestDays_summaryAndTotalsStayExact(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(time.Date(2026, time.April, 20, 15, 0, 0, 0, time.UTC))
		s := apptest.Boot(t, databaseURL, apptest.Options{Clock: now, NoWorker: true})
		tenant := s.NewTenant(t, func(o *models.Operator) { o.Timezone = "America/Santiago" }) // its offset changes on 5 April
		chance := rand.New(rand.NewPCG(1, 2))
		var rows []models.Order
		add := func(count int, within time.Duration) {
			fresh := make([]models.Order, count)
			for i := range fresh {
				fresh[i] = tenant.Row(now.Now().Add(-time.Duration(chance.Int64N(int64(within)))))
				fresh[i].UpdatedAt = now.Now()
				if chance.IntN(2) == 0 {
					fresh[i].StoreID = &tenant.StoreB.ID
				}
			}
			tenant.InsertRows(t, fresh)
			rows = append(rows, fresh...)
		}
		add(1_200, 40*24*time.Hour)
		for round := range 25 {
			for range chance.IntN(12) {
				row := &rows[chance.IntN(len(rows))]
				before := *row
				changeAtRandom(row, tenant, chance)
				row.Seq, row.UpdatedAt = row.Seq+1, now.Now()
				entry := models.TimelineEntry{ID: uuid.New(), OrderID: row.ID, Seq: &row.Seq, Type: string(row.Status), Status: row.Status, By: string(models.ByOperator), At: now.Now()}
				require.NoError(t, s.App.DB.SaveMove(t.Context(), &before, row, &entry))
			}
			if round%3 == 0 {
				add(chance.IntN(4), time.Minute)
			}
			requireExact(t, s, tenant, rows, now.Now())
			now.Advance(time.Duration(chance.IntN(100)) * time.Second)
		}
		now.Advance(2 * time.Hour)
		requireExact(t, s, tenant, rows, now.Now())
	})
}

// What is kept of a day includes rows that were committed after a look with a time before it, rows
// that were written after the clock was set back, and, an hour later, the end of deleted rows. The
// days of test orders are kept apart.
func TestDays_lateWritesModesAndDeletedRows(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(time.Date(2026, time.April, 20, 15, 0, 0, 0, time.UTC))
		s := apptest.Boot(t, databaseURL, apptest.Options{Clock: now, NoWorker: true})
		tenant := s.NewTenant(t)
		day := 0
		add := func(written time.Time, test bool) models.Order { // each on a day of its own
			day++
			row := tenant.Row(now.Now().AddDate(0, 0, -day), func(o *models.Order) { o.Test = test })
			row.UpdatedAt = written
			tenant.InsertRows(t, []models.Order{row})
			return row
		}
		requireCount := func(want int64, test bool) {
			t.Helper()
			today := time.Date(2026, time.April, 20, 0, 0, 0, 0, time.UTC)
			summary, err := s.App.Orders.Summary(t.Context(), orders.Caller{Operator: &tenant.Operator, Test: test}, today.AddDate(0, 0, -6), today, nil)
			require.NoError(t, err)
			require.Equal(t, want, summary.Counts[models.StatusRegistered])
		}
		first := add(now.Now(), false)
		requireCount(1, false)
		requireCount(0, true)
		add(now.Now(), true)
		requireCount(1, false)
		requireCount(1, true)

		now.Advance(5 * time.Minute)
		requireCount(1, false)
		add(now.Now().Add(-30*time.Second), false)
		requireCount(2, false)
		now.Advance(-10 * time.Minute)
		add(now.Now(), false)
		requireCount(3, false)

		_, err := s.App.DB.SQL().Exec("DELETE FROM order_events; DELETE FROM orders WHERE guide_code = '" + first.GuideCode + "'")
		require.NoError(t, err)
		now.Advance(time.Hour)
		requireCount(2, false)
	})
}

// A list whose first read failed knows no day, whichever days that read was for.
func TestDays_firstReadFails(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(time.Date(2026, time.April, 20, 15, 0, 0, 0, time.UTC))
		s := apptest.Boot(t, databaseURL, apptest.Options{Clock: now, NoWorker: true})
		today := time.Date(2026, time.April, 20, 0, 0, 0, 0, time.UTC)
		for name, narrow := range map[string][2]time.Time{
			"then its end":       {today.AddDate(0, 0, -1), today},
			"then its beginning": {today.AddDate(0, 0, -6), today.AddDate(0, 0, -5)},
			"then other days":    {today.AddDate(0, 0, -9), today.AddDate(0, 0, -8)},
		} {
			t.Run(name, func(t *testing.T) {
				tenant := s.NewTenant(t)
				var rows []models.Order
				for day := range 10 {
					row := tenant.Row(now.Now().AddDate(0, 0, -day))
					row.UpdatedAt = row.CreatedAt
					rows = append(rows, row)
				}
				tenant.InsertRows(t, rows)
				caller := orders.Caller{Operator: &tenant.Operator}
				left, leave := context.WithCancel(t.Context())
				leave()
				_, err := s.App.Orders.Summary(left, caller, today.AddDate(0, 0, -6), today, nil)
				require.ErrorIs(t, err, context.Canceled)
				for _, days := range [][2]time.Time{narrow, {today.AddDate(0, 0, -9), today}} {
					summary, err := s.App.Orders.Summary(t.Context(), caller, days[0], days[1], nil)
					require.NoError(t, err)
					require.EqualValues(t, len(summary.Days), summary.Created())
				}
			})
		}
	})
}

// changeAtRandom gives an order another status.
func changeAtRandom(row *models.Order, tenant *apptest.Tenant, chance *rand.Rand) {
	row.Status, row.RiderID, row.ReceivedAt, row.AssignedAt, row.DeliveredAt, row.CancelledAt = models.StatusRegistered, nil, nil, nil, nil, nil
	row.CancelledBy, row.CancelReason, row.ActualAmountCollected = nil, nil, nil
	switch chance.IntN(4) {
	case 0:
		apptest.ReceivedAfter(time.Hour)(row)
	case 1:
		apptest.ReceivedAfter(time.Duration(chance.IntN(100)) * time.Minute)(row)
		apptest.DeliveredAfter(tenant.Riders[chance.IntN(2)], time.Duration(chance.IntN(300))*time.Minute)(row)
		collected := money.Cents(chance.IntN(10_000))
		row.ActualAmountCollected = &collected
	case 2:
		apptest.CancelledBy(models.ByStore, []string{"Desistió", "No estaba", ""}[chance.IntN(3)])(row)
	}
}

// requireExact holds summaries and totals against the rows.
func requireExact(t *testing.T, s *apptest.Service, tenant *apptest.Tenant, rows []models.Order, now time.Time) {
	t.Helper()
	zone := tenant.Operator.TimeZone()
	caller := orders.Caller{Operator: &tenant.Operator}
	to := now.In(zone)
	to = time.Date(to.Year(), to.Month(), to.Day(), 0, 0, 0, 0, time.UTC)
	for _, days := range []int{7, 30, 90} {
		for _, store := range []*uuid.UUID{nil, &tenant.StoreB.ID} {
			from := to.AddDate(0, 0, 1-days)
			summary, err := s.App.Orders.Summary(t.Context(), caller, from, to, store)
			require.NoError(t, err)
			want := map[models.Status]int64{}
			byDay := map[string]map[models.Status]int64{}
			reasons, riders := map[string]int64{}, map[uuid.UUID]int64{}
			var collected money.Cents
			var deliveries int64
			for _, row := range rows {
				day := row.CreatedAt.In(zone).Format(time.DateOnly)
				if day < from.Format(time.DateOnly) || store != nil && *row.StoreID != *store {
					continue
				}
				want[row.Status]++
				if byDay[day] == nil {
					byDay[day] = map[models.Status]int64{}
				}
				byDay[day][row.Status]++
				if row.CancelReason != nil {
					reasons[*row.CancelReason]++
				}
				if row.ActualAmountCollected != nil {
					collected += *row.ActualAmountCollected
				}
				if row.RiderID != nil {
					riders[*row.RiderID]++
					deliveries++
				}
			}
			require.Equal(t, want, summary.Counts)
			require.Equal(t, collected, summary.Collected)
			require.Equal(t, deliveries, summary.SinceReception.Count)
			require.Equal(t, deliveries, summary.SinceCreation.Count)
			for _, day := range summary.Days {
				if counts := byDay[day.Day.Format(time.DateOnly)]; counts != nil {
					require.Equal(t, counts, day.Counts, day.Day)
				} else {
					require.Empty(t, day.Counts, day.Day)
				}
			}
			got := map[string]int64{}
			for _, reason := range summary.Reasons {
				got[reason.Reason] = reason.Count
			}
			require.Equal(t, reasons, got)
			delivered := map[uuid.UUID]int64{}
			for _, rider := range summary.Riders {
				require.NotEmpty(t, rider.Name)
				delivered[rider.RiderID] = rider.Count
			}
			require.Equal(t, riders, delivered)
			for status, count := range want {
				page, err := s.App.Orders.List(t.Context(), caller, orders.Query{Status: status, From: &from, To: &to, StoreID: store, Page: 1, Limit: 1})
				require.NoError(t, err)
				require.Equal(t, count, page.Total, "%s of %d days", status, days)
			}
			counted, err := s.App.Orders.ListWithCounts(t.Context(), caller, orders.Query{StoreID: store, Page: 1, Limit: 1})
			require.NoError(t, err)
			require.Equal(t, ordersOf(rows, store), counted.Total)
		}
	}
}

// ordersOf is how many orders a store has, or all stores, whenever they were created.
func ordersOf(rows []models.Order, store *uuid.UUID) (count int64) {
	for _, row := range rows {
		if store == nil || *row.StoreID == *store {
			count++
		}
	}
	return count
}
