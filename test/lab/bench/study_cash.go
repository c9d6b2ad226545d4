package bench

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"despacho/internal/cash"
	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/dev"
	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/lab/cluster"
	"despacho/workflows"
)

const (
	// cashRiders carry money of cashOrders. The first half of them has handInOrders each, the others
	// have the rest. The orders are of two stores.
	cashRiders   = 200
	cashOrders   = 20_000
	handInOrders = 60

	handInName     = "cash: a hand-in of 60 orders"
	dayName        = "cash: the day's page, 200 riders and 20,000 orders"
	settlementName = "cash: a settlement of 10,000 orders, issued"
)

// A test order's delivery posts nothing and is the same otherwise.
var postingComparisons = []comparison{
	{name: "cash: the write of a delivery with its postings, against one without", unit: "ms", result: "live", baseline: "test"},
}

func cashRows(scale) []string {
	return append(namesOf(postingComparisons), handInName, dayName, settlementName)
}

// collectForOrders gives the seeded orders riders, and what a delivery collects. $1 is the
// operator, $2 how many riders there are, $3 how many orders each of the first half has. The other
// store is number -1.
const collectForOrders = `
INSERT INTO riders (id, operator_id, name, phone, active, created_at)
	SELECT md5('carrier' || n)::uuid, $1::uuid, 'Motorizado ' || n, '+51987654321', true, now() FROM generate_series(0, $2::int - 1) n;
INSERT INTO stores (id, operator_id, name, active, created_at) SELECT md5('store-1')::uuid, $1::uuid, 'Otra tienda', true, now();
WITH numbered AS (SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM orders WHERE operator_id = $1::uuid)
	UPDATE orders SET payment_type = 'cash_on_delivery', amount_to_collect_cents = 5000, actual_amount_collected_cents = 5000,
		store_id = CASE WHEN n % 2 = 0 THEN store_id ELSE md5('store-1')::uuid END,
		rider_id = md5('carrier' || CASE WHEN n < $2::int / 2 * $3::int THEN n / $3::int ELSE $2::int / 2 + n % ($2::int / 2) END)::uuid
	FROM numbered WHERE numbered.id = orders.id;
INSERT INTO ledger_entries (id, operator_id, kind, source_id, day, at)
	SELECT md5(kind || id)::uuid, operator_id, kind, id, to_char(delivered_at AT TIME ZONE 'America/Lima', 'YYYY-MM-DD'), delivered_at
	FROM orders, (VALUES ('delivery'), ('shipping')) kinds (kind) WHERE operator_id = $1::uuid;
INSERT INTO ledger_postings (entry_id, operator_id, account, owner_id, order_id, method, concept, day, amount_cents)
	SELECT md5(kind || id)::uuid, operator_id, account, owner, id, method, concept, to_char(delivered_at AT TIME ZONE 'America/Lima', 'YYYY-MM-DD'), amount
	FROM orders, LATERAL (VALUES
		('delivery', 'rider', rider_id, 'cash', 'collection', 5000), ('delivery', 'pending', store_id, 'cash', 'collection', -5000),
		('shipping', 'store', store_id, '', 'shipping', 900), ('shipping', 'income', '00000000-0000-0000-0000-000000000000', '', 'shipping', -900)
	) postings (kind, account, owner, method, concept, amount) WHERE operator_id = $1::uuid;
ANALYZE ledger_postings;
ANALYZE orders`

// studyCash closes the day of an operator with many riders: the cashier's page over HTTP, hand-ins
// and settlements in the use case itself, one after the other.
func studyCash(ctx context.Context, s *stack) ([]Row, error) {
	s.options.log(fmt.Sprintf("inventing %s deliveries with their money", formatCount(cashOrders)))
	address, err := s.newDatabase(ctx, "bench_cash")
	if err != nil {
		return nil, err
	}
	err = seedOrders(ctx, address, orderSeed{first: mainOperator, last: mainOperator, each: cashOrders, status: models.StatusDelivered})
	if err != nil {
		return nil, err
	}
	operator := models.Operator{ID: id("operator", mainOperator), Timezone: "America/Lima", Currency: "PEN"}
	err = dev.OnDatabase(ctx, address, func(connection *pgx.Conn) error {
		return executeAll(ctx, connection, collectForOrders, operator.ID, cashRiders, handInOrders)
	})
	if err != nil {
		return nil, err
	}
	day, err := s.measureCashPage(ctx, address)
	if err != nil {
		return nil, err
	}
	database, err := db.Open(ctx, address, db.Options{MaxConns: 4})
	if err != nil {
		return nil, err
	}
	defer database.Close()
	books := &books{cash.New(database, clock.System()), cash.Caller{Operator: &operator, UserID: uuid.New()}}
	var handIns, settlements []float64
	for rider := range cashRiders {
		took, err := books.handIn(ctx, rider)
		if err != nil {
			return nil, err
		}
		if rider > 0 && rider < cashRiders/2 {
			handIns = append(handIns, took)
		}
	}
	for _, store := range []uuid.UUID{id("store", mainOperator), id("store", -1)} {
		took, err := books.settle(ctx, store)
		if err != nil {
			return nil, err
		}
		settlements = append(settlements, took)
	}
	written, err := s.measurePostings(ctx, address, database)
	if err != nil {
		return nil, err
	}
	return append(written,
		absoluteRow(handInName, "ms", atMost(200), handIns), absoluteRow(dayName, "ms", atMost(300), day),
		absoluteRow(settlementName, "s", atMost(5), settlements).withNote("two settlements")), nil
}

// outWithRiders makes the first orders those that are with their riders, half of them test orders.
// $1 is the operator, $2 how many.
const outWithRiders = `
UPDATE orders SET status = 'assigned', seq = 3, assigned_at = received_at, delivered_at = NULL, actual_amount_collected_cents = NULL, test = n % 2 = 1
	FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM orders WHERE operator_id = $1::uuid LIMIT $2::int) chosen WHERE chosen.id = orders.id;
VACUUM ANALYZE orders`

// measurePostings applies deliveries one after the other, as the worker does: of orders with money
// and of test orders, by turns.
func (s *stack) measurePostings(ctx context.Context, address string, database *db.DB) ([]Row, error) {
	perRound := 4 * s.scale.samples
	var waiting map[bool][]uuid.UUID
	err := dev.OnDatabase(ctx, address, func(connection *pgx.Conn) (err error) {
		if err = executeAll(ctx, connection, outWithRiders, id("operator", mainOperator), 2*perRound*(s.scale.rounds+1)); err == nil {
			waiting, err = assignedOrders(ctx, connection)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	service := orders.New(database, db.NewCatalogCache(database), nil, clock.System(), slog.New(slog.DiscardHandler), orders.Options{})
	defer service.Close()
	collected := money.Cents(50_00)
	deliver := func(test bool) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) {
			round := waiting[test][:perRound]
			waiting[test] = waiting[test][perRound:]
			var took []float64
			for _, order := range round {
				began := time.Now()
				_, err := service.Apply(ctx, workflows.ApplyMoveInput{OrderID: order, EntryID: uuid.New(), Seq: 4, Move: models.MoveDeliver,
					By: models.ByOperator, To: models.StatusDelivered, At: began, Message: models.Message{ActualAmountCollected: &collected,
						Collections: models.Collections{{Method: models.PaidInCash, Amount: collected}}}})
				if err != nil {
					return 0, err
				}
				took = append(took, cluster.Milliseconds(time.Since(began)))
			}
			return median(took), nil
		}
	}
	return s.measureComparisons(ctx, map[string]func(context.Context) (float64, error){"live": deliver(false), "test": deliver(true)},
		postingComparisons)
}

// assignedOrders are the orders that are with riders, by whether they are test orders.
func assignedOrders(ctx context.Context, connection *pgx.Conn) (map[bool][]uuid.UUID, error) {
	found := map[bool][]uuid.UUID{}
	var order uuid.UUID
	var test bool
	rows, err := connection.Query(ctx, "SELECT id, test FROM orders WHERE status = 'assigned' ORDER BY id")
	if err != nil {
		return nil, err
	}
	_, err = pgx.ForEachRow(rows, []any{&order, &test}, func() error {
		found[test] = append(found[test], order)
		return nil
	})
	return found, err
}

func (s *stack) measureCashPage(ctx context.Context, address string) ([]float64, error) {
	reader, err := s.startReader(ctx, address)
	if err != nil {
		return nil, err
	}
	client := cluster.NewConnection(reader.api.Address)
	defer client.Close()
	request := cluster.Request{Method: http.MethodGet, Path: "/panel/caja", Token: s.tenants.sessions[mainOperator]}
	measured, err := alternate(ctx, s.scale.rounds, func(ctx context.Context) (float64, error) {
		return minLatency(ctx, panelReads, timed(func(ctx context.Context) error {
			answer, err := client.Expect(ctx, http.StatusOK, request)
			if err == nil && bytes.Count(answer.Body, []byte("/panel/caja/rendir?")) != cashRiders {
				err = fmt.Errorf("the page does not show %d riders", cashRiders)
			}
			return err
		}))
	})
	if err != nil {
		return nil, err
	}
	return measured[0], reader.stop(ctx)
}

// books are one cashier's.
type books struct {
	service *cash.Service
	caller  cash.Caller
}

// handIn is how many milliseconds it takes to hand in what a rider has.
func (b *books) handIn(ctx context.Context, rider int) (float64, error) {
	carrier := id("carrier", rider)
	due, err := b.service.Due(ctx, b.caller.Operator, carrier)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	_, _, err = b.service.HandIn(ctx, b.caller, carrier, &cash.HandInRequest{Counted: due.Cash()})
	return cluster.Milliseconds(time.Since(began)), err
}

// settle is how many seconds it takes to issue the settlement of a store.
func (b *books) settle(ctx context.Context, store uuid.UUID) (float64, error) {
	to := time.Now().In(b.caller.Operator.TimeZone()).Format(time.DateOnly)
	draft, err := b.service.Draft(ctx, b.caller.Operator, &store, to)
	if err != nil {
		return 0, err
	}
	if orders := len(draft.Lines); orders != cashOrders/2 {
		return 0, fmt.Errorf("a draft of %d orders", orders)
	}
	began := time.Now()
	_, err = b.service.Issue(ctx, b.caller, &store, to, draft.Net())
	return time.Since(began).Seconds(), err
}
