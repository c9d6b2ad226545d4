package db

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"despacho/models"
)

// OrderView reads one order that the scope may see.
func (d *DB) OrderView(ctx context.Context, scope OrderScope, id uuid.UUID) (*models.OrderView, error) {
	if !d.canReadRows() {
		var view models.OrderView
		err := scope.apply(d.orderViews(ctx)).Where("orders.id = ?", id).Take(&view).Error
		return &view, err
	}
	var order *models.OrderView
	if err := d.readRows(ctx, readOrder(id, &order)); err != nil {
		return nil, err
	}
	if order = scope.visible(order); order == nil {
		return nil, ErrNotFound
	}
	return order, nil
}

var orderColumns = tableColumns[models.Order]("orders", "")

var orderViewColumns = append(
	columnsOf(orderColumns, func(v *models.OrderView) *models.Order { return &v.Order }),
	column[models.OrderView]{locationName + " AS location_name", func(v *models.OrderView) any { return &v.LocationName }},
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
FROM unnest((SELECT $1::uuid[])) WITH ORDINALITY AS wanted (id, n)
CROSS JOIN LATERAL (
	SELECT ` + orderViewSelect + `
	FROM orders ` + orderJoins + `
	WHERE orders.id = wanted.id
	LIMIT 1
) AS view`

// readOrders reads several orders of any owner. found is called with the index of each id that
// exists.
func readOrders(ids []pgtype.UUID, found func(index int, order *models.OrderView)) rowsRead {
	var n int
	var row models.OrderView
	return rowsRead{
		statement: selectOrders,
		arguments: []any{ids},
		targets:   scanTargets(orderViewColumns, &row, &n),
		onRow: func() {
			view := row
			found(n-1, &view)
		},
	}
}

// readOrder reads one order of any owner into order, if it exists.
func readOrder(id uuid.UUID, order **models.OrderView) rowsRead {
	return readOrders([]pgtype.UUID{pgUUID(&id)}, func(_ int, found *models.OrderView) { *order = found })
}
