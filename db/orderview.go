package db

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"despacho/models"
)

// OrderView reads one order that the scope may see. On PostgreSQL concurrent reads share one
// statement.
func (d *DB) OrderView(ctx context.Context, scope OrderScope, id uuid.UUID) (*models.OrderView, error) {
	if d.batched == nil {
		var view models.OrderView
		err := scope.apply(d.orderViews(ctx)).Where("orders.id = ?", id).Take(&view).Error
		return &view, err
	}
	view, err := d.batched.orders.Get(ctx, orderLookup{scope: scope, id: id})
	if err == nil && view == nil {
		err = ErrNotFound
	}
	return view, err
}

// orderLookup is the read of one order by one caller.
type orderLookup struct {
	scope OrderScope
	id    uuid.UUID
}

var orderColumns = tableColumns[models.Order]("orders", "")

var orderViewColumns = append(
	columnsOf(orderColumns, func(v *models.OrderView) *models.Order { return &v.Order }),
	column[models.OrderView]{"locations.name AS location_name", func(v *models.OrderView) any { return &v.LocationName }},
	column[models.OrderView]{"riders.name AS rider_name", func(v *models.OrderView) any { return &v.RiderName }},
	column[models.OrderView]{"riders.phone AS rider_phone", func(v *models.OrderView) any { return &v.RiderPhone }},
)

// orderViewSelect is the select list of an OrderView.
var orderViewSelect = columnList(orderViewColumns)

// LATERAL with LIMIT makes the planner use one index lookup per order, even on small tables. The
// SELECT around the arguments hides the array sizes from the planner, which would otherwise replan
// every statement; planning takes longer than execution.
var selectOrders = `
SELECT wanted.n, view.*
FROM unnest((SELECT $1::uuid[]), (SELECT $2::uuid[]), (SELECT $3::uuid[]), (SELECT $4::boolean[])) WITH ORDINALITY AS wanted (id, operator_id, store_id, test, n)
CROSS JOIN LATERAL (
	SELECT ` + orderViewSelect + `
	FROM orders ` + orderJoins + `
	WHERE orders.id = wanted.id AND orders.operator_id = wanted.operator_id AND orders.test = wanted.test
		AND (wanted.store_id IS NULL OR orders.store_id = wanted.store_id)
	LIMIT 1
) AS view`

// readOrders reads several orders with one statement. The result is nil where the order does not
// exist or the scope may not see it.
func (d *DB) readOrders(ctx context.Context, lookups []orderLookup) ([]*models.OrderView, error) {
	ids := make([]pgtype.UUID, len(lookups))
	operators := make([]pgtype.UUID, len(lookups))
	stores := make([]pgtype.UUID, len(lookups))
	tests := make([]bool, len(lookups))
	for i, lookup := range lookups {
		ids[i], operators[i] = pgUUID(&lookup.id), pgUUID(&lookup.scope.OperatorID)
		stores[i], tests[i] = pgUUID(lookup.scope.StoreID), lookup.scope.Test
	}
	results := make([]*models.OrderView, len(lookups))
	var n int
	var row models.OrderView
	err := d.readRows(ctx, scanTargets(orderViewColumns, &row, &n), func() {
		view := row
		results[n-1] = &view
	}, selectOrders, ids, operators, stores, tests)
	return results, err
}
