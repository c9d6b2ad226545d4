package bench

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"despacho/internal/dev"
	"despacho/internal/guidecode"
	"despacho/models"
	"despacho/test/lab/cluster"
)

// orderSeed says which orders to insert.
type orderSeed struct {
	// owners are the numbers of the first and the last operator; each gets so many orders.
	first, last int
	each        int
	status      models.Status
}

// Orders lie a second apart, the newest an hour ago, and are in the totals. They have their
// workflow as far as the reconcile workflow can tell.
//
// $1–$2 are the operators, $3 how many orders each has, $4 their status, $5 where they go.
const insertOrders = `
INSERT INTO orders (id, operator_id, store_id, branch_id, guide_code, status, seq, recipient_name, recipient_phone,
		delivery_type, delivery_address, location_id, product, size, amount_to_collect_cents, shipping_cost_cents, currency, payment_type,
		operative_day, rider_id, search_text, auto_cancel_at, workflow_started_at, created_at, received_at, assigned_at, delivered_at, updated_at)
	SELECT gen_random_uuid(), md5('operator' || o)::uuid, md5('store' || o)::uuid, md5('branch' || o)::uuid, 'SEED-' || o || '-' || n,
		$4::text, CASE $4::text WHEN 'delivered' THEN 4 WHEN 'received' THEN 2 ELSE 1 END, 'Rosa Díaz ' || n, '+51987654321',
		'home', 'Av. Larco ' || n, $5::uuid, 'Zapatillas', 'M', 0, 900, 'PEN', 'delivery_only',
		to_char(created, 'YYYY-MM-DD'), rider, concat_ws(' ', 'seed', o, n, 'rosa diaz', n, '51987654321 av larco', n), now() + interval '30 days', created, created,
		CASE WHEN $4::text IN ('received', 'delivered') THEN created END, moved, moved, created
	FROM generate_series($1::int, $2::int) o, generate_series(1, $3::int) n,
		LATERAL (SELECT now() - make_interval(hours => 1, secs => n)) birth (created),
		LATERAL (SELECT CASE $4::text WHEN 'delivered' THEN md5('rider' || o)::uuid END, CASE $4::text WHEN 'delivered' THEN created END) done (rider, moved);
INSERT INTO order_events (id, order_id, seq, type, status, actor, at)
	SELECT gen_random_uuid(), id, 1, 'created', 'registered', 'store', created_at FROM orders
	ON CONFLICT DO NOTHING;
INSERT INTO order_totals (operator_id, store_id, test, day, measure, label, amount)
	SELECT operator_id, COALESCE(store_id, '00000000-0000-0000-0000-000000000000'), test,
		to_char(orders.created_at AT TIME ZONE timezone, 'YYYY-MM-DD') AS day, counted.measure, counted.label, COUNT(*)
	FROM orders JOIN operators ON operators.id = operator_id,
		LATERAL (VALUES ('status', status), ('rider', rider_id::text), ('minutes_since_reception', '0'), ('minutes_since_creation', '0')) counted (measure, label)
	WHERE counted.measure = 'status' OR status = 'delivered'
	GROUP BY operator_id, store_id, test, day, counted.measure, counted.label
	ON CONFLICT (operator_id, test, measure, day, store_id, label) DO UPDATE SET amount = excluded.amount`

// seedOrders inserts orders without checking foreign keys, which would take longer than the rest.
func seedOrders(ctx context.Context, address string, seed orderSeed) error {
	return dev.OnDatabase(ctx, address, func(connection *pgx.Conn) error {
		if _, err := connection.Exec(ctx, "SET session_replication_role = replica"); err != nil {
			return err
		}
		if err := executeAll(ctx, connection, insertOrders, seed.first, seed.last, seed.each, seed.status, cluster.Miraflores); err != nil {
			return err
		}
		// What autovacuum does sooner or later.
		_, err := connection.Exec(ctx, "VACUUM ANALYZE")
		return err
	})
}

// executeAll runs statements that are separated by semicolons, each with the parameters that it
// mentions: the highest number in it says how many.
func executeAll(ctx context.Context, connection *pgx.Conn, statements string, args ...any) error {
	for statement := range strings.SplitSeq(statements, ";\n") {
		used := 0
		for i := range args {
			if strings.Contains(statement, "$"+string(rune('1'+i))) {
				used = i + 1
			}
		}
		if _, err := connection.Exec(ctx, statement, args[:used]...); err != nil {
			return err
		}
	}
	return nil
}

// orderIDs reads some of an operator's orders, from anywhere among them.
func orderIDs(ctx context.Context, address string, operators []int, count int) ([]uuid.UUID, error) {
	owners := make([]uuid.UUID, len(operators))
	for i, number := range operators {
		owners[i] = id("operator", number)
	}
	var ids []uuid.UUID
	err := dev.OnDatabase(ctx, address, func(connection *pgx.Conn) error {
		rows, err := connection.Query(ctx,
			"SELECT id FROM orders WHERE operator_id = ANY($1) ORDER BY md5(id::text) LIMIT $2", owners, count)
		if err != nil {
			return err
		}
		ids, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		return err
	})
	return ids, err
}

// guideCodes gives some seeded orders a valid guide code and a complete timeline.
func guideCodes(ctx context.Context, address string, orders []uuid.UUID) ([]string, error) {
	codes := make([]string, len(orders))
	for i := range codes {
		codes[i] = guidecode.New()
	}
	err := dev.OnDatabase(ctx, address, func(connection *pgx.Conn) error {
		_, err := connection.Exec(ctx, `UPDATE orders SET guide_code = fresh.code
			FROM unnest($1::uuid[], $2::text[]) fresh (id, code) WHERE orders.id = fresh.id`, orders, codes)
		if err != nil {
			return err
		}
		_, err = connection.Exec(ctx, `INSERT INTO order_events (id, order_id, seq, type, status, actor, at)
			SELECT gen_random_uuid(), o, move.seq, move.status, move.status, 'operator', now()
			FROM unnest($1::uuid[]) o, (VALUES (2, 'received'), (3, 'assigned'), (4, 'delivered')) move (seq, status)`, orders)
		return err
	})
	return codes, err
}
