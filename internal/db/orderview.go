package db

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	"gorm.io/gorm"

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

// OrderDetails reads those of the orders that the scope may see, in no particular order.
func (d *DB) OrderDetails(ctx context.Context, scope OrderScope, ids []uuid.UUID) ([]models.OrderDetail, error) {
	var details []models.OrderDetail
	err := scope.apply(d.orderViews(ctx)).
		Select(orderViewSelect+", stores.name AS store_name, COALESCE(branches.name, '') AS branch_name").
		Joins("LEFT JOIN stores ON stores.id = orders.store_id").
		Joins("LEFT JOIN branches ON branches.id = orders.branch_id").
		Where("orders.id IN ?", ids).Find(&details).Error
	return details, err
}

// OrderViewByGuideCode reads the order with a canonical guide code, if the scope may see it.
func (d *DB) OrderViewByGuideCode(ctx context.Context, scope OrderScope, code string) (*models.OrderView, error) {
	var view models.OrderView
	err := scope.apply(d.orderViews(ctx)).Where("orders.guide_code = ?", code).Take(&view).Error
	return &view, err
}

// OrderViews reads those of the orders that the scope may see, in no particular order.
func (d *DB) OrderViews(ctx context.Context, scope OrderScope, ids []uuid.UUID) ([]models.OrderView, error) {
	var views []models.OrderView
	err := scope.apply(d.orderViews(ctx)).Where("orders.id IN ?", ids).Find(&views).Error
	return views, err
}

// OrderViewByID reads one order of any owner. Callers who act for somebody use OrderView.
func (d *DB) OrderViewByID(ctx context.Context, id uuid.UUID) (*models.OrderView, error) {
	var view models.OrderView
	err := d.orderViews(ctx).Where("orders.id = ?", id).Take(&view).Error
	return &view, err
}

const (
	// orderJoins are the joins that orderViewSelect needs. An order outlives the rows that it names.
	orderJoins = "LEFT JOIN locations ON locations.id = orders.location_id LEFT JOIN riders ON riders.id = orders.rider_id"
	// locationName is the name of an order's location; one that is gone has none.
	locationName = "COALESCE(locations.name, '')"
)

func (d *DB) orderViews(ctx context.Context) *gorm.DB {
	return d.with(ctx).Table("orders").Select(orderViewSelect).Joins(orderJoins)
}
