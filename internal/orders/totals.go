package orders

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/db"
	"despacho/models"
)

// measure is what a row of totals counts or adds up.
type measure string

const (
	// ordersByStatus and ordersByCanceller count orders.
	ordersByStatus    measure = "status"
	ordersByCanceller measure = "cancelled_by"
	// collectedCents is what was collected for them.
	collectedCents measure = "collected_cents"
	// The others count deliveries: by rider, and by the whole minutes that they took.
	deliveriesByRider     measure = "rider"
	minutesSinceReception measure = "minutes_since_reception"
	minutesSinceCreation  measure = "minutes_since_creation"
	// deliveredAtFirst counts the deliveries that no failed attempt came before. The next three count
	// failed attempts.
	deliveredAtFirst   measure = "delivered_at_first"
	failuresByReason   measure = "failed_reason"
	failuresByRider    measure = "failed_rider"
	failuresByLocation measure = "failed_location"
)

// figure is a measure of the orders that share a label, such as a status.
type figure struct {
	measure measure
	label   string
}

// total is a row of order_total_changes or, without the store, of what is read.
type total struct {
	OperatorID uuid.UUID
	// StoreID is zero for an order of no store.
	StoreID uuid.UUID
	Test    bool
	// Day is when the orders were created, in the operator's time zone.
	Day     string
	Measure measure
	Label   string
	Amount  int64
}

// TableName is not derived from the name of the type.
func (total) TableName() string { return "order_total_changes" }

// figuresOf is what an order adds to the totals of its day; nil adds nothing.
func figuresOf(order *models.Order) map[figure]int64 {
	figures := map[figure]int64{}
	if order == nil {
		return figures
	}
	figures[figure{ordersByStatus, string(order.Status)}] = 1
	if order.CancelledBy != nil {
		figures[figure{ordersByCanceller, string(*order.CancelledBy)}] = 1
	}
	if order.ActualAmountCollected != nil {
		figures[figure{collectedCents, ""}] = int64(*order.ActualAmountCollected)
	}
	for _, attempt := range order.Attempts {
		figures[figure{failuresByReason, string(attempt.Reason)}]++
		figures[figure{failuresByLocation, order.LocationID.String()}]++
		if attempt.RiderID != nil {
			figures[figure{failuresByRider, attempt.RiderID.String()}]++
		}
	}
	if order.Status != models.StatusDelivered {
		return figures
	}
	if len(order.Attempts) == 0 {
		figures[figure{deliveredAtFirst, ""}] = 1
	}
	if order.RiderID != nil {
		figures[figure{deliveriesByRider, order.RiderID.String()}] = 1
	}
	if order.ReceivedAt != nil && order.DeliveredAt != nil {
		figures[figure{minutesSinceReception, minutesBetween(*order.ReceivedAt, *order.DeliveredAt)}] = 1
		figures[figure{minutesSinceCreation, minutesBetween(order.CreatedAt, *order.DeliveredAt)}] = 1
	}
	return figures
}

func minutesBetween(from, until time.Time) string {
	return strconv.FormatInt((until.Unix()-from.Unix())/60, 10)
}

// SaveTotals writes what a change of an order changes in the totals, in the transaction that writes
// the order; before is nil for a new one. It inserts rows, which FoldTotals adds to the totals: of
// transactions that updated a row of the operator and the day, each would wait for the other's
// commit.
func SaveTotals(ctx context.Context, tx *db.DB, operator *models.Operator, before, after *models.Order) error {
	changed := figuresOf(after)
	for figure, amount := range figuresOf(before) {
		changed[figure] -= amount
	}
	row := total{OperatorID: after.OperatorID, Test: after.Test,
		Day: after.CreatedAt.In(operator.TimeZone()).Format(time.DateOnly)}
	if after.StoreID != nil {
		row.StoreID = *after.StoreID
	}
	var rows []total
	for figure, amount := range changed {
		if amount != 0 {
			row.Measure, row.Label, row.Amount = figure.measure, figure.label, amount
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return tx.Query(ctx).Create(&rows).Error
}

// foldTotals adds the changes to the totals. Without a WHERE, SQLite would take ON CONFLICT for the
// condition of a join.
const foldTotals = `
	INSERT INTO order_totals (operator_id, store_id, test, day, measure, label, amount)
	SELECT operator_id, store_id, test, day, measure, label, SUM(amount) FROM order_total_changes
	WHERE TRUE GROUP BY operator_id, store_id, test, day, measure, label ORDER BY operator_id, store_id, test, day, measure, label
	ON CONFLICT (operator_id, test, measure, day, store_id, label) DO UPDATE SET amount = order_totals.amount + excluded.amount`

// FoldTotals adds the changes to the totals. Those that others commit meanwhile, and those that
// another process folds, are left alone.
func (s *Service) FoldTotals(ctx context.Context) error {
	return s.db.InTx(ctx, func(tx *db.DB) error {
		statements := []string{foldTotals, "DELETE FROM order_total_changes"}
		if tx.Dialect() == db.Postgres {
			// One statement sees the same rows throughout. SQLite has none like it, and a single writer.
			statements = []string{"WITH order_total_changes AS (DELETE FROM order_total_changes RETURNING *)" + foldTotals}
		}
		for _, statement := range append(statements, "DELETE FROM order_totals WHERE amount = 0") {
			if err := tx.Query(ctx).Exec(statement).Error; err != nil {
				return err
			}
		}
		return nil
	})
}

// readTotals adds up measures of a query's days and store; what else it selects has no totals.
// columns are those of a total that the sums are for.
func (s *Service) readTotals(
	ctx context.Context, caller Caller, query Query, columns string, measures ...measure,
) ([]total, error) {
	rows := s.visible(ctx, caller, query, "current_order_totals").Where("measure IN ?", measures)
	if query.From != nil {
		rows = rows.Where("day >= ?", query.From.Format(time.DateOnly))
	}
	if query.To != nil {
		rows = rows.Where("day <= ?", query.To.Format(time.DateOnly))
	}
	var totals []total
	err := rows.Select(columns + ", CAST(SUM(amount) AS BIGINT) AS amount").Group(columns).Having("SUM(amount) <> 0").Scan(&totals).Error
	return totals, err
}

// visible begins a query of the rows of a table that the caller may see and that are of the query's
// store.
func (s *Service) visible(ctx context.Context, caller Caller, query Query, table string) *gorm.DB {
	rows := caller.Scope().Owned(s.db.Query(ctx).Table(table), table)
	for _, store := range []*uuid.UUID{caller.StoreID, query.StoreID} {
		if store != nil {
			rows = rows.Where("store_id = ?", *store)
		}
	}
	return rows
}

// countByStatus counts a list's orders by status; the query's status is ignored. There are totals
// of stores and of days; what else a query selects is counted.
func (s *Service) countByStatus(
	ctx context.Context, caller Caller, query Query, filter orderFilter,
) (map[models.Status]int64, error) {
	if !query.hasTotals() {
		return s.countOrders(ctx, caller, filter)
	}
	totals, err := s.readTotals(ctx, caller, query, "label", ordersByStatus)
	counts := map[models.Status]int64{}
	for _, row := range totals {
		counts[models.Status(row.Label)] = row.Amount
	}
	return counts, err
}

// hasTotals reports whether the totals have what the query selects, its status aside.
func (q Query) hasTotals() bool {
	return !q.ByDelivery && !q.WithoutPoint && !q.Expiring && !q.OutSinceYesterday && !q.AmountDiffers && len(q.Substatuses) == 0 &&
		q.DueBy == nil && !q.NotLoaded && q.RiderID == nil &&
		q.LocationID == nil && q.LocationIDs == nil && q.IDs == nil && !q.Assignable && q.ExternalID == "" && strings.TrimSpace(q.Search) == ""
}

// countOrders counts orders by status; the filter's status is ignored. With a GROUP BY, SQLite
// would read the index of the statuses and all orders of the operator, whatever else is selected.
func (s *Service) countOrders(ctx context.Context, caller Caller, filter orderFilter) (map[models.Status]int64, error) {
	columns, counted, targets := make([]string, len(models.Statuses)), make([]int64, len(models.Statuses)), make([]any, len(models.Statuses))
	for i, status := range models.Statuses {
		columns[i], targets[i] = "COUNT(CASE WHEN orders.status = '"+string(status)+"' THEN 1 END)", &counted[i]
	}
	err := filter.apply(caller.Scope().Orders(s.db.Query(ctx).Table("orders"))).Select(strings.Join(columns, ", ")).Row().Scan(targets...)
	counts := map[models.Status]int64{}
	for i, status := range models.Statuses {
		if counted[i] > 0 {
			counts[status] = counted[i]
		}
	}
	return counts, err
}

// countIn is the number of orders of a query's status, or of all.
func countIn(counts map[models.Status]int64, status models.Status) (count int64) {
	for of, orders := range counts {
		if status == "" || of == status {
			count += orders
		}
	}
	return count
}
