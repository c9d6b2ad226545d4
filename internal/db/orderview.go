package db

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	"gorm.io/gorm"

	"despacho/models"
)

// OrderView reads one order that the scope may see.
func (d *DB) OrderView(ctx context.Context, scope OrderScope, id uuid.UUID) (*models.OrderView, error) {
	if !d.canReadRows() {
		var view models.OrderView
		err := scope.Orders(d.OrderViews(ctx)).Where("orders.id = ?", id).Take(&view).Error
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
	column[models.OrderView]{LocationName + " AS location_name", func(v *models.OrderView) any { return &v.LocationName }},
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
func readOrders(ids []pgtype.UUID, found func(index int, order *models.OrderView)) pgxStatement {
	var n int
	var row models.OrderView
	return pgxStatement{
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
func readOrder(id uuid.UUID, order **models.OrderView) pgxStatement {
	return readOrders([]pgtype.UUID{pgUUID(&id)}, func(_ int, found *models.OrderView) { *order = found })
}

// OrderViewByID reads one order of any owner. Callers who act for somebody use OrderView.
func (d *DB) OrderViewByID(ctx context.Context, id uuid.UUID) (*models.OrderView, error) {
	var view models.OrderView
	err := d.OrderViews(ctx).Where("orders.id = ?", id).Take(&view).Error
	return &view, err
}

const (
	// orderJoins are the joins that orderViewSelect needs. An order outlives the rows that it names.
	orderJoins = "LEFT JOIN locations ON locations.id = orders.location_id LEFT JOIN riders ON riders.id = orders.rider_id"
	// LocationName is the name of an order's location; one that is gone has none.
	LocationName = "COALESCE(locations.name, '')"
)

// OrderViews begins a query of orders, with their names and with the columns that are added.
func (d *DB) OrderViews(ctx context.Context, added ...string) *gorm.DB {
	columns := strings.Join(append([]string{orderViewSelect}, added...), ", ")
	return d.with(ctx).Table("orders").Select(columns).Joins(orderJoins)
}
