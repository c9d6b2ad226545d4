package orders_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"despacho/internal/clock"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
	"despacho/workflows"
)

// The totals are those of the orders, while others create, move, correct and erase some, folded or
// not, on either side of a change of the clocks' offset. Test orders have totals of their own.
func TestTotals_areThoseOfTheOrders(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(time.Date(2026, time.April, 20, 15, 0, 0, 0, time.UTC))
		s := apptest.Boot(t, databaseURL, apptest.Options{Clock: now, NoWorker: true})
		tenant := s.NewTenant(t, func(o *models.Operator) { o.Timezone = "America/Santiago" }) // its offset changes on 5 April
		people := make([]*person, 6)
		for i := range people {
			people[i] = &person{s: s, tenant: tenant, chance: rand.New(rand.NewPCG(1, uint64(i))), test: i%3 == 2}
		}
		for _, day := range []time.Duration{-20, -16, -15, -1, 0} { // of creation; the moves may come days later
			now.Set(time.Date(2026, time.April, 20, 3, 30, 0, 0, time.UTC).Add(day * 24 * time.Hour))
			var atOnce errgroup.Group
			for _, p := range people {
				atOnce.Go(func() error { return p.work(t.Context(), 25) })
			}
			for range 2 {
				atOnce.Go(func() error { return s.App.Orders.FoldTotals(t.Context()) })
			}
			require.NoError(t, atOnce.Wait())
			for _, test := range []bool{false, true} {
				requireExact(t, s, tenant, test, now.Now())
			}
		}
		require.NoError(t, s.App.Orders.FoldTotals(t.Context()))
		require.NoError(t, s.App.Orders.FoldTotals(t.Context()), "of nothing")
		requireExact(t, s, tenant, false, now.Now())
		for table, want := range map[string]string{"order_total_changes": "", "order_totals": " WHERE amount = 0"} {
			var left int64
			require.NoError(t, s.App.DB.SQL().QueryRow("SELECT COUNT(*) FROM "+table+want).Scan(&left))
			require.Zero(t, left, table)
		}
	})
}

// person creates orders and moves them, as the transition table allows.
type person struct {
	s      *apptest.Service
	tenant *apptest.Tenant
	chance *rand.Rand
	test   bool
	ids    []uuid.UUID
}

func (p *person) work(ctx context.Context, steps int) error {
	for range steps {
		act := p.move
		if len(p.ids) == 0 || p.chance.IntN(4) == 0 {
			act = p.create
		}
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *person) create(ctx context.Context) error {
	caller := orders.Caller{Operator: &p.tenant.Operator, Test: p.test}
	key := ""
	switch p.chance.IntN(3) {
	case 0:
		caller.StoreID = &p.tenant.StoreA.ID
	case 1:
		caller.StoreID, key = &p.tenant.StoreB.ID, uuid.NewString()
	}
	in, err := jsonbody.Parse([]byte(`{"recipient_name":"Rosa","recipient_phone":"+51987654321","delivery_address":"Av. Larco 345",
		"location_id":"` + apptest.Miraflores.String() + `","product":"Zapatillas"}`))
	if err != nil {
		return err
	}
	created, err := p.s.App.Orders.Create(ctx, caller, in, key)
	if err == nil {
		p.ids = append(p.ids, created.Order.ID)
	}
	return err
}

func (p *person) move(ctx context.Context) error {
	caller := orders.Caller{Operator: &p.tenant.Operator, Test: p.test}
	order, err := p.s.App.Orders.Find(ctx, caller, p.ids[p.chance.IntN(len(p.ids))])
	if err != nil {
		return err
	}
	amount := money.Cents(p.chance.IntN(10_000))
	switch {
	case order.Status == models.StatusDelivered:
		in, err := jsonbody.Parse(fmt.Appendf(nil, `{"reason":"Contado de nuevo","actual_amount_collected":%d}`, amount/100))
		if err != nil {
			return err
		}
		_, err = p.s.App.Orders.CorrectDelivery(ctx, caller, order.ID, in, nil)
		return err
	case order.Status == models.StatusCancelled && p.chance.IntN(3) == 0:
		return orders.EraseRow(ctx, p.s.App.DB, &order.Order, p.s.App.Clock().Now())
	}
	riders := p.tenant.Riders
	if p.test {
		riders = orders.TestRiders(p.tenant.Operator.ID, order.CreatedAt)
		if err := p.s.App.DB.InsertMissing(ctx, &riders); err != nil {
			return err
		}
	}
	move := workflows.ApplyMoveInput{
		OrderID: order.ID, EntryID: uuid.New(), Seq: order.Seq + 1, By: models.ByOperator,
		At: p.s.App.Clock().Now().Add(time.Duration(p.chance.IntN(300)) * time.Minute),
	}
	moves := slices.Clone(models.Moves)
	p.chance.Shuffle(len(moves), func(i, j int) { moves[i], moves[j] = moves[j], moves[i] })
	for _, move.Move = range moves {
		move.By, move.Message = models.ByOperator, models.Message{}
		switch move.Move {
		case models.MoveAssign:
			move.Message = models.Message{RiderID: &riders[p.chance.IntN(2)].ID}
		case models.MoveDeliver:
			move.Message = models.Message{ActualAmountCollected: &amount}
		case models.MoveFail:
			move.Message = models.Message{Reason: string(models.FailureReasons[p.chance.IntN(3)])}
		case models.MoveUndo:
			if order.Status == models.StatusDelivered || p.chance.IntN(3) > 0 {
				continue
			}
		case models.MoveCancel:
			move.Message = models.Message{Reason: []string{"Desistió", "No estaba", ""}[p.chance.IntN(3)]}
			if order.Status == models.StatusRegistered && p.chance.IntN(2) == 0 {
				move.By, move.Message = models.ByAuto, models.Message{}
			}
		}
		rider := move.Message.RiderID
		after, verdict := order.State().Decide(move.Move, move.By, rider)
		if verdict != models.Applied {
			continue
		}
		move.To, move.Substatus = after.Status, after.Substatus
		result, err := p.s.App.Orders.Apply(ctx, move)
		if err == nil && result.Refused != "" && move.Move != models.MoveUndo {
			err = fmt.Errorf("%s refused: %s", move.Move, result.Refused)
		}
		if err == nil && p.chance.IntN(5) == 0 {
			_, err = p.s.App.Orders.Apply(ctx, move) // once more, as after a lost answer
		}
		return err
	}
	return nil
}

// requireExact holds summaries and lists against the orders of a mode.
func requireExact(t *testing.T, s *apptest.Service, tenant *apptest.Tenant, test bool, now time.Time) {
	t.Helper()
	var rows []models.Order
	require.NoError(t, s.App.DB.Query(t.Context()).Where("operator_id = ? AND test = ?", tenant.Operator.ID, test).Find(&rows).Error)
	require.NotEmpty(t, rows)
	caller := orders.Caller{Operator: &tenant.Operator, Test: test}
	zone := tenant.Operator.TimeZone()
	local := now.In(zone)
	to := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	for _, days := range []int{1, 7, 30} {
		for _, store := range []*uuid.UUID{nil, &tenant.StoreB.ID} {
			from := to.AddDate(0, 0, 1-days)
			want := expectedSummary{counts: map[models.Status]int64{}, byDay: map[string]map[models.Status]int64{},
				cancelledBy: map[models.Actor]int64{}, reasons: map[string]int64{}, riders: map[uuid.UUID]int64{}}
			var all int64
			for i := range rows {
				if store != nil && (rows[i].StoreID == nil || *rows[i].StoreID != *store) {
					continue
				}
				all++
				if day := rows[i].CreatedAt.In(zone).Format(time.DateOnly); from.Format(time.DateOnly) <= day && day <= to.Format(time.DateOnly) {
					want.add(&rows[i], day)
				}
			}
			summary, err := s.App.Orders.Summary(t.Context(), caller, from, to, store)
			require.NoError(t, err)
			want.require(t, summary)
			collected, err := s.App.Orders.Collected(t.Context(), caller,
				orders.Query{Status: models.StatusDelivered, From: &from, To: &to, StoreID: store})
			require.NoError(t, err)
			require.Equal(t, want.collected, collected)
			ofStore := orders.Caller{Operator: caller.Operator, Test: test, StoreID: store}
			for _, status := range models.Statuses {
				page, err := s.App.Orders.List(t.Context(), ofStore, orders.Query{Status: status, From: &from, To: &to, Page: 1, Limit: 200})
				require.NoError(t, err)
				require.Equal(t, want.counts[status], page.Total, "%s of %d days", status, days)
				require.Len(t, page.Orders, int(min(page.Total, 200)))
			}
			counted, err := s.App.Orders.ListWithCounts(t.Context(), caller, orders.Query{StoreID: store, From: &from, To: &to, Page: 1, Limit: 1})
			require.NoError(t, err)
			require.Equal(t, want.counts, counted.Counts)
			page, err := s.App.Orders.List(t.Context(), ofStore, orders.Query{StoreID: store, Page: 1, Limit: 1})
			require.NoError(t, err)
			require.Equal(t, all, page.Total)
		}
	}
}

// expectedSummary is what the orders themselves say.
type expectedSummary struct {
	counts                        map[models.Status]int64
	byDay                         map[string]map[models.Status]int64
	cancelledBy                   map[models.Actor]int64
	reasons                       map[string]int64
	riders                        map[uuid.UUID]int64
	collected                     money.Cents
	sinceReception, sinceCreation []time.Duration
}

func (e *expectedSummary) add(order *models.Order, day string) {
	e.counts[order.Status]++
	if e.byDay[day] == nil {
		e.byDay[day] = map[models.Status]int64{}
	}
	e.byDay[day][order.Status]++
	if order.CancelledBy != nil {
		e.cancelledBy[*order.CancelledBy]++
	}
	if order.CancelReason != nil {
		e.reasons[*order.CancelReason]++
	}
	if order.ActualAmountCollected != nil {
		e.collected += *order.ActualAmountCollected
	}
	if order.Status == models.StatusDelivered {
		e.riders[*order.RiderID]++
		e.sinceReception = append(e.sinceReception, order.DeliveredAt.Truncate(time.Second).Sub(order.ReceivedAt.Truncate(time.Second)).Truncate(time.Minute))
		e.sinceCreation = append(e.sinceCreation, order.DeliveredAt.Truncate(time.Second).Sub(order.CreatedAt.Truncate(time.Second)).Truncate(time.Minute))
	}
}

func (e *expectedSummary) require(t *testing.T, summary *orders.Summary) {
	t.Helper()
	require.Equal(t, e.counts, summary.Counts)
	require.Equal(t, e.cancelledBy, summary.CancelledBy)
	for _, day := range summary.Days {
		if counts := e.byDay[day.Day.Format(time.DateOnly)]; counts != nil {
			require.Equal(t, counts, day.Counts, day.Day)
		} else {
			require.Empty(t, day.Counts, day.Day)
		}
	}
	reasons := map[string]int64{}
	for _, reason := range summary.Reasons {
		reasons[reason.Reason] = reason.Count
	}
	require.Equal(t, e.reasons, reasons)
	delivered := map[uuid.UUID]int64{}
	for _, rider := range summary.Riders {
		require.NotEmpty(t, rider.Name)
		delivered[rider.RiderID] = rider.Count
	}
	require.Equal(t, e.riders, delivered)
	for _, c := range []struct {
		took []time.Duration
		got  orders.Durations
	}{{e.sinceReception, summary.SinceReception}, {e.sinceCreation, summary.SinceCreation}} {
		require.EqualValues(t, len(c.took), c.got.Count)
		if len(c.took) > 0 {
			slices.Sort(c.took)
			require.Equal(t, c.took[(len(c.took)-1)/2], c.got.Median())
		}
	}
}
