package cash_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"despacho/internal/cash"
	"despacho/internal/clock"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
	"despacho/workflows"
)

// Random weeks of work at one operator: refusals, partial payments, mixed ways of payment,
// corrections before and after the money was handed in and settled, undone deliveries, returns,
// requests that end in the middle, and two cashiers at once. After every day the books hold against
// the orders and against what the cashiers have counted.
func TestWeeks(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(time.Date(2026, time.April, 1, 14, 0, 0, 0, time.UTC))
		s := apptest.Boot(t, databaseURL, apptest.Options{Clock: now, NoWorker: true})
		tenant := s.NewTenant(t, func(o *models.Operator) {
			o.Rules.AttemptFee, o.Rules.ReturnFee = cents(2_00), cents(3_50)
		})
		require.NoError(t, s.App.DB.Query(t.Context()).Model(&models.Store{}).Where("id = ?", tenant.StoreB.ID).
			Updates(map[string]any{"attempt_fee_cents": 1_00, "return_fee_cents": 0}).Error)
		b := &books{t: t, s: s, tenant: tenant, cash: cash.New(s.App.DB, now)}
		for day := range 12 {
			now.Set(time.Date(2026, time.April, 1+day, 14, 0, 0, 0, time.UTC))
			var atOnce errgroup.Group
			for i := range uint64(3) {
				d := &desk{books: b, chance: rand.New(rand.NewPCG(uint64(day), i))}
				atOnce.Go(func() error { return d.work(t.Context(), 30) })
			}
			for i := range uint64(2) {
				c := &cashier{books: b, chance: rand.New(rand.NewPCG(uint64(day), 100+i)),
					Caller: cash.Caller{Operator: &tenant.Operator, UserID: uuid.New()}}
				atOnce.Go(func() error { return c.work(t.Context(), 12) })
			}
			require.NoError(t, atOnce.Wait())
			b.requireBalanced()
		}
		b.closeEverything()
		b.requireBalanced()
		b.requireSettledOnce()
		b.requireFees()
	})
}

func cents(amount money.Cents) *money.Cents { return &amount }

// books are what everybody works on, and what the cashiers remember.
type books struct {
	t      *testing.T
	s      *apptest.Service
	tenant *apptest.Tenant
	cash   *cash.Service

	mu      sync.Mutex
	orders  []uuid.UUID
	counted money.Cents // in the till and in the bank, by hand-ins
	given   money.Cents // to stores, by adjustments
}

// desk creates orders and moves them, as the transition table allows.
type desk struct {
	*books
	chance *rand.Rand
}

func (d *desk) work(ctx context.Context, steps int) error {
	for range steps {
		if err := d.move(ctx); err != nil {
			return err
		}
	}
	return nil
}

// apply applies a move. Now and then its transaction ends in the middle, or its answer is lost.
func (d *desk) apply(ctx context.Context, move workflows.ApplyMoveInput) error {
	if d.chance.IntN(4) == 0 {
		ending, end := context.WithTimeout(ctx, time.Duration(d.chance.IntN(4000))*time.Microsecond)
		defer end()
		_, err := d.s.App.Orders.Apply(ending, move)
		if err != nil && ending.Err() == nil {
			return err
		}
	}
	_, err := d.s.App.Orders.Apply(ctx, move)
	return err
}

func (d *desk) create(ctx context.Context) error {
	caller := orders.Caller{Operator: &d.tenant.Operator}
	if store := d.chance.IntN(3); store > 0 {
		caller.StoreID = &[]models.Store{d.tenant.StoreA, d.tenant.StoreB}[store-1].ID
	}
	in, err := jsonbody.Parse([]byte(`{"recipient_name":"Rosa","recipient_phone":"+51987654321","delivery_address":"Av. Larco 345",
		"location_id":"` + apptest.Miraflores.String() + `","product":"Zapatillas"}`))
	if err != nil {
		return err
	}
	created, err := d.s.App.Orders.Create(ctx, caller, in, "")
	if err == nil {
		d.mu.Lock()
		d.orders = append(d.orders, created.Order.ID)
		d.mu.Unlock()
	}
	return err
}

func (d *desk) anyOrder() (id uuid.UUID, known bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.orders) == 0 || d.chance.IntN(6) == 0 {
		return id, false
	}
	return d.orders[d.chance.IntN(len(d.orders))], true
}

func (d *desk) move(ctx context.Context) error {
	id, known := d.anyOrder()
	if !known {
		return d.create(ctx)
	}
	caller := orders.Caller{Operator: &d.tenant.Operator}
	order, err := d.s.App.Orders.Find(ctx, caller, id)
	if err != nil {
		return err
	}
	collections := d.collections()
	if order.Status == models.StatusDelivered && d.chance.IntN(3) > 0 {
		parts := ""
		for i, c := range collections {
			parts += []string{"", ","}[min(i, 1)] + fmt.Sprintf(`{"method":%q,"amount":%s}`, c.Method, c.Amount)
		}
		in, err := jsonbody.Parse([]byte(`{"reason":"Contado de nuevo","collections":[` + parts + `]}`))
		if err != nil {
			return err
		}
		_, err = d.s.App.Orders.CorrectDelivery(ctx, caller, id, in, nil)
		if errors.Is(err, orders.ErrCorrectionRefused) {
			return nil // another desk has undone the delivery meanwhile, or it was corrected very often
		}
		return err
	}
	moves := slices.Clone(models.Moves)
	d.chance.Shuffle(len(moves), func(i, j int) { moves[i], moves[j] = moves[j], moves[i] })
	if order.Substatus != nil && d.chance.IntN(2) == 0 { // otherwise hardly any package gets back to its store
		moves = slices.Insert(moves, 0, models.MoveHandBack, models.MoveReturn, models.MoveReceive)
	}
	for _, name := range moves {
		move := workflows.ApplyMoveInput{OrderID: id, EntryID: uuid.New(), Seq: order.Seq + 1, Move: name, By: models.ByOperator,
			At: d.s.App.Clock().Now()}
		switch name {
		case models.MoveAssign:
			move.Message = models.Message{RiderID: &d.tenant.Riders[d.chance.IntN(2)].ID}
		case models.MoveDeliver:
			total := collections.Total()
			move.Message = models.Message{Collections: collections, ActualAmountCollected: &total}
		case models.MoveFail:
			move.Message = models.Message{Reason: "absent"}
		case models.MoveCancel:
			if d.chance.IntN(3) > 0 {
				continue
			}
		}
		after, verdict := order.State().Decide(name, move.By, move.Message.RiderID)
		if verdict != models.Applied {
			continue
		}
		move.To, move.Substatus = after.Status, after.Substatus
		return d.apply(ctx, move)
	}
	return nil
}

func (d *desk) collections() (parts models.Collections) {
	for range d.chance.IntN(3) {
		parts = append(parts, models.Collection{Method: models.Methods[d.chance.IntN(3)], Amount: money.Cents(d.chance.IntN(10_000))})
	}
	if len(parts) == 0 {
		return models.Collections{{Method: models.PaidInCash}}
	}
	return parts
}

// cashier takes money from riders and pays stores.
type cashier struct {
	*books
	chance *rand.Rand
	cash.Caller
}

func (c *cashier) work(ctx context.Context, steps int) error {
	for range steps {
		var err error
		switch c.chance.IntN(5) {
		case 0, 1:
			err = c.handIn(ctx, c.tenant.Riders[c.chance.IntN(2)].ID)
		case 2:
			err = c.settle(ctx)
		case 3:
			err = c.pay(ctx)
		case 4:
			err = c.adjust(ctx)
		}
		// Others have worked meanwhile, or there is nothing to do.
		expected := []error{cash.ErrAmountsChanged, cash.ErrNothingDue, cash.ErrNothingToSettle, cash.ErrAlreadyPaid}
		if err != nil && !slices.ContainsFunc(expected, func(e error) bool { return errors.Is(err, e) }) {
			return err
		}
	}
	return nil
}

func (c *cashier) handIn(ctx context.Context, rider uuid.UUID) error {
	due, err := c.books.cash.Due(ctx, c.Operator, rider)
	if err != nil {
		return err
	}
	request := &cash.HandInRequest{Counted: max(due.Cash(), 0), Seen: map[cash.DueKey]bool{}}
	for _, line := range due.OtherLines() {
		request.Seen[line.Key()] = c.chance.IntN(2) == 0
	}
	switch c.chance.IntN(4) {
	case 0:
		request.OnAccount, request.Counted = true, money.Cents(1+c.chance.IntN(5000))
	case 1:
		request.Counted = max(request.Counted+money.Cents(c.chance.IntN(2000)-1000), 0)
	}
	in, difference, err := c.books.cash.HandIn(ctx, c.Caller, rider, request)
	if cash.IsDifference(err) {
		expected := max(difference.Expected, 0)
		request.Expected, request.Reason = &expected, "Falta un billete"
		request.BorneBy = []models.BorneBy{models.BorneByRider, models.BorneByOperator}[c.chance.IntN(2)]
		in, _, err = c.books.cash.HandIn(ctx, c.Caller, rider, request)
	}
	if err != nil {
		return err
	}
	cashIn, total := money.Cents(0), in.Total()
	for _, part := range in.ByMethod {
		if part.Method == models.PaidInCash {
			cashIn = part.Amount
		}
	}
	if cashIn != request.Counted {
		return fmt.Errorf("counted %s, written %s", request.Counted, cashIn)
	}
	c.mu.Lock()
	c.counted += total
	c.mu.Unlock()
	return nil
}

func (c *cashier) store() *uuid.UUID {
	return []*uuid.UUID{nil, &c.tenant.StoreA.ID, &c.tenant.StoreB.ID}[c.chance.IntN(3)]
}

func (c *cashier) settle(ctx context.Context) error {
	store, to := c.store(), c.s.App.Clock().Now().Format(time.DateOnly)
	draft, err := c.books.cash.Draft(ctx, c.Operator, store, to)
	if err != nil {
		return err
	}
	settled, err := c.books.cash.Issue(ctx, c.Caller, store, to, draft.Net())
	if err == nil && settled.Net() != draft.Net() {
		err = fmt.Errorf("settled %s, shown %s", settled.Net(), draft.Net())
	}
	return err
}

func (c *cashier) pay(ctx context.Context) error {
	list, _, err := c.books.cash.Settlements(ctx, c.Operator, nil, 5, 0)
	if err != nil || len(list) == 0 {
		return err
	}
	payment := &cash.Payment{From: []models.Account{models.AccountTill, models.AccountBank}[c.chance.IntN(2)]}
	_, err = c.books.cash.Pay(ctx, c.Caller, list[c.chance.IntN(len(list))].ID, payment)
	return err
}

func (c *cashier) adjust(ctx context.Context) error {
	a := &cash.Adjustment{Kind: cash.AdjustStore, Amount: money.Cents(1 + c.chance.IntN(500)), Less: c.chance.IntN(2) == 0, Reason: "Acuerdo"}
	if store := c.store(); store != nil {
		a.OwnerID = *store
	}
	err := c.books.cash.Adjust(ctx, c.Caller, a)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if a.Less {
			c.given -= a.Amount
		} else {
			c.given += a.Amount
		}
	}
	return err
}

// sum adds up what a query selects.
func (b *books) sum(query string, values ...any) (sum money.Cents) {
	b.t.Helper()
	require.NoError(b.t, b.s.App.DB.Query(b.t.Context()).Raw("SELECT COALESCE(SUM("+query, values...).Scan(&sum).Error)
	return sum
}

func (b *books) posted(where string, values ...any) money.Cents {
	b.t.Helper()
	return b.sum("amount_cents), 0) FROM ledger_postings JOIN ledger_entries ON ledger_entries.id = entry_id WHERE "+where, values...)
}

// fees are what the stores are charged for the orders.
func feesOf(order *models.Order) (fees money.Cents) {
	if order.Status == models.StatusDelivered {
		fees = order.ShippingCost
	}
	for _, attempt := range order.Attempts {
		fees += attempt.Fee
	}
	return fees + order.ReturnFee
}

func (b *books) rows() []models.Order {
	b.t.Helper()
	var rows []models.Order
	require.NoError(b.t, b.s.App.DB.Query(b.t.Context()).Where("operator_id = ?", b.tenant.Operator.ID).Find(&rows).Error)
	return rows
}

func (b *books) requireBalanced() {
	b.t.Helper()
	var unbalanced []string
	require.NoError(b.t, b.s.App.DB.Query(b.t.Context()).
		Raw("SELECT entry_id FROM ledger_postings GROUP BY entry_id HAVING SUM(amount_cents) <> 0").Scan(&unbalanced).Error)
	require.Empty(b.t, unbalanced)

	var collected, fees money.Cents
	for _, order := range b.rows() {
		fees += feesOf(&order)
		if order.Status == models.StatusDelivered && order.ActualAmountCollected != nil {
			collected += *order.ActualAmountCollected
		}
	}
	handedIn := -b.posted("account = 'rider' AND kind = 'hand_in' AND order_id <> ?", uuid.Nil)
	require.Equal(b.t, collected, b.posted("account = 'rider' AND order_id <> ?", uuid.Nil)+handedIn,
		"what riders owe and what was handed in is what was collected")
	require.Equal(b.t, b.counted, b.posted("account IN ('till', 'bank') AND kind = 'hand_in'"), "what was counted is in the till and in the bank")
	var paid money.Cents
	list, _, err := b.cash.Settlements(b.t.Context(), &b.tenant.Operator, nil, 10_000, 0)
	require.NoError(b.t, err)
	for i, settled := range list {
		if settled.Status == models.SettlementPaid {
			paid += settled.Net()
		}
		require.Equal(b.t, len(list)-i, settled.Number, "numbers have no gaps")
	}
	balance, err := b.cash.Balance(b.t.Context(), &b.tenant.Operator, nil)
	require.NoError(b.t, err)
	require.Equal(b.t, handedIn-fees+b.given, balance.Unsettled+balance.Unpaid+paid,
		"what stores are owed and were paid is what was handed in for them less what it costs")
	require.Equal(b.t, collected-handedIn, balance.Pending)
	require.Equal(b.t, fees, -b.posted("account = 'income'"))
}

// closeEverything has every rider hand in everything and settles with every store.
func (b *books) closeEverything() {
	b.t.Helper()
	c := &cashier{books: b, Caller: cash.Caller{Operator: &b.tenant.Operator, UserID: uuid.New()}}
	for i := range b.tenant.Riders {
		due, err := b.cash.Due(b.t.Context(), c.Operator, b.tenant.Riders[i].ID)
		require.NoError(b.t, err)
		if len(due.Lines) == 0 && due.Carried == 0 {
			continue
		}
		request := &cash.HandInRequest{Counted: max(due.Cash(), 0), Seen: map[cash.DueKey]bool{}, BorneBy: models.BorneByOperator, Reason: "Cierre"}
		for _, line := range due.OtherLines() {
			request.Seen[line.Key()] = true
		}
		in, _, err := b.cash.HandIn(b.t.Context(), c.Caller, b.tenant.Riders[i].ID, request)
		require.NoError(b.t, err)
		b.counted += in.Total()
		due, err = b.cash.Due(b.t.Context(), c.Operator, b.tenant.Riders[i].ID)
		require.NoError(b.t, err)
		require.Zero(b.t, due.Total())
		require.Empty(b.t, due.Lines)
	}
	to := b.s.App.Clock().Now().Format(time.DateOnly)
	for _, store := range []*uuid.UUID{nil, &b.tenant.StoreA.ID, &b.tenant.StoreB.ID} {
		draft, err := b.cash.Draft(b.t.Context(), c.Operator, store, to)
		require.NoError(b.t, err)
		if len(draft.Lines) == 0 {
			continue
		}
		_, err = b.cash.Issue(b.t.Context(), c.Caller, store, to, draft.Net())
		require.NoError(b.t, err)
	}
}

// requireSettledOnce holds what all settlements have of each order against the order.
func (b *books) requireSettledOnce() {
	b.t.Helper()
	list, _, err := b.cash.Settlements(b.t.Context(), &b.tenant.Operator, nil, 10_000, 0)
	require.NoError(b.t, err)
	require.NotEmpty(b.t, list)
	settled, again := map[uuid.UUID]money.Cents{}, 0
	for _, row := range list {
		full, err := b.cash.FindSettlement(b.t.Context(), &b.tenant.Operator, row.StoreID, row.ID)
		require.NoError(b.t, err)
		var net money.Cents
		for _, line := range full.Lines {
			net += line.Net()
			settled[line.OrderID] += line.Net()
			if line.Again {
				again++
			}
		}
		require.Equal(b.t, full.Net(), net)
	}
	require.Equal(b.t, b.given, settled[uuid.Nil], "adjustments")
	require.NotZero(b.t, again, "no order was corrected after its settlement")
	for _, order := range b.rows() {
		want := -feesOf(&order)
		if order.Status == models.StatusDelivered && order.ActualAmountCollected != nil {
			want += *order.ActualAmountCollected
		}
		require.Equal(b.t, want, settled[order.ID], "order %s", order.ID)
	}
}

// requireFees holds what failed attempts and returns have cost against what was agreed.
func (b *books) requireFees() {
	b.t.Helper()
	charged := map[money.Cents]bool{}
	for _, order := range b.rows() {
		attempt, back := money.Cents(2_00), money.Cents(3_50)
		if order.StoreID != nil && *order.StoreID == b.tenant.StoreB.ID {
			attempt, back = 1_00, 0
		}
		for _, failed := range order.Attempts {
			require.Equal(b.t, attempt, failed.Fee)
			charged[attempt] = true
		}
		if order.CancelReason == nil || *order.CancelReason != string(models.SubstatusReturned) {
			back = 0
		}
		require.Equal(b.t, back, order.ReturnFee)
		charged[back] = true
	}
	require.Equal(b.t, map[money.Cents]bool{0: true, 1_00: true, 2_00: true, 3_50: true}, charged)
}
