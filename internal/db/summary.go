package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/money"
	"despacho/models"
)

// DayCount is the number of orders created on one day with one current status, and the amount
// collected for them.
type DayCount struct {
	// Day is the number of days since 1970-01-01 in the time zone.
	Day    int64
	Status models.Status
	// CancelledBy is set only for cancelled orders.
	CancelledBy *models.Actor
	Count       int64
	Collected   money.Cents
}

// OrdersByDay counts the filter's orders by day of creation, status and who cancelled them.
func (d *DB) OrdersByDay(ctx context.Context, scope OrderScope, filter OrderFilter, zone *time.Location) ([]DayCount, error) {
	day, arguments := d.dayOfCreation(filter, zone)
	var counts []DayCount
	err := filter.apply(scope.apply(d.with(ctx).Table("orders"))).
		Select(day+", orders.status, orders.cancelled_by, COUNT(*) AS count, "+
			"CAST(COALESCE(SUM(orders.actual_amount_collected_cents), 0) AS BIGINT) AS collected", arguments...).
		Group("day, orders.status, orders.cancelled_by").Scan(&counts).Error
	return counts, err
}

// ChangedDays lists the days of creation of the filter's orders that were written since a time.
func (d *DB) ChangedDays(ctx context.Context, scope OrderScope, filter OrderFilter, zone *time.Location, since time.Time) ([]int64, error) {
	day, arguments := d.dayOfCreation(filter, zone)
	var days []int64
	err := filter.apply(scope.apply(d.with(ctx).Table("orders"))).Where("orders.updated_at >= ?", since).
		Select("DISTINCT "+day, arguments...).Order("day").Scan(&days).Error
	return days, err
}

// dayOfCreation is the SQL for an order's day of creation: the number of days since 1970-01-01 in
// the time zone.
func (d *DB) dayOfCreation(filter OrderFilter, zone *time.Location) (sql string, arguments []any) {
	offset, arguments := offsetIn("orders.created_at", zone, *filter.From, *filter.Until)
	return fmt.Sprintf("(%s + %s) / 86400 AS day", d.seconds("orders.created_at"), offset), arguments
}

// offsetIn is the SQL for the UTC offset in seconds at the time in a column. Listing the few offset
// changes of the period as cases gives both databases the same result, whatever they know about
// time zones.
func offsetIn(column string, zone *time.Location, from, until time.Time) (sql string, arguments []any) {
	var cases strings.Builder
	for at := from.In(zone); ; {
		_, offset := at.Zone()
		_, change := at.ZoneBounds()
		if change.IsZero() || !change.Before(until) {
			if len(arguments) == 0 {
				return fmt.Sprint(offset), nil
			}
			return fmt.Sprintf("CASE %sELSE %d END", cases.String(), offset), arguments
		}
		fmt.Fprintf(&cases, "WHEN %s < ? THEN %d ", column, offset)
		arguments = append(arguments, change.UTC())
		at = change
	}
}

// seconds is the SQL for a column's Unix time in whole seconds.
func (d *DB) seconds(column string) string {
	if d.dialect == SQLite {
		return "unixepoch(" + column + ")"
	}
	return "CAST(FLOOR(EXTRACT(EPOCH FROM " + column + ")) AS BIGINT)"
}

// MinuteCount is the number of deliveries that took the given whole minutes.
type MinuteCount struct{ Minutes, Count int64 }

// DayMinutes is a MinuteCount of the orders created on a day: since their reception, or since their
// creation.
type DayMinutes struct {
	Day            int64
	SinceReception bool
	MinuteCount    `gorm:"embedded"`
}

// DeliveryMinutes counts the filter's delivered orders by day of creation and how long they took
// since reception, and since creation. Both come from one scan.
func (d *DB) DeliveryMinutes(ctx context.Context, scope OrderScope, filter OrderFilter, zone *time.Location) ([]DayMinutes, error) {
	day, arguments := d.dayOfCreation(filter, zone)
	delivered := d.seconds("orders.delivered_at")
	spans := d.delivered(ctx, scope, filter).Where("orders.received_at IS NOT NULL AND orders.delivered_at IS NOT NULL").
		Select(fmt.Sprintf("%[4]s, (%[1]s - %[2]s) / 60 AS reception, (%[1]s - %[3]s) / 60 AS creation",
			delivered, d.seconds("orders.received_at"), d.seconds("orders.created_at"), day), arguments...)
	var rows []DayMinutes
	err := d.with(ctx).Raw(`
		WITH spans AS (?)
		SELECT day, TRUE AS since_reception, reception AS minutes, COUNT(*) AS count FROM spans GROUP BY day, reception
		UNION ALL
		SELECT day, FALSE, creation, COUNT(*) FROM spans GROUP BY day, creation`, spans).Scan(&rows).Error
	return rows, err
}

// DayReason is the number of orders created on a day that were cancelled for a reason.
type DayReason struct {
	Day    int64
	Reason string
	Count  int64
}

// CancelReasons counts the filter's cancelled orders by day of creation and reason.
func (d *DB) CancelReasons(ctx context.Context, scope OrderScope, filter OrderFilter, zone *time.Location) ([]DayReason, error) {
	day, arguments := d.dayOfCreation(filter, zone)
	filter.Status = models.StatusCancelled
	var reasons []DayReason
	err := filter.withStatus(scope.apply(d.with(ctx).Table("orders"))).Where("orders.cancel_reason IS NOT NULL").
		Select(day+", orders.cancel_reason AS reason, COUNT(*) AS count", arguments...).
		Group("day, orders.cancel_reason").Scan(&reasons).Error
	return reasons, err
}

// DayRider is the number of orders created on a day that a rider delivered.
type DayRider struct {
	Day     int64
	RiderID uuid.UUID
	Count   int64
}

// RiderDeliveries counts the filter's delivered orders by day of creation and rider.
func (d *DB) RiderDeliveries(ctx context.Context, scope OrderScope, filter OrderFilter, zone *time.Location) ([]DayRider, error) {
	day, arguments := d.dayOfCreation(filter, zone)
	var riders []DayRider
	err := d.delivered(ctx, scope, filter).Where("orders.rider_id IS NOT NULL").
		Select(day+", orders.rider_id, COUNT(*) AS count", arguments...).
		Group("day, orders.rider_id").Scan(&riders).Error
	return riders, err
}

// RiderNames are the names of an operator's riders by id.
func (d *DB) RiderNames(ctx context.Context, operator uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	var riders []models.Rider
	err := d.with(ctx).Select("id", "name").Where("operator_id = ? AND id IN ?", operator, ids).Find(&riders).Error
	names := make(map[uuid.UUID]string, len(riders))
	for _, rider := range riders {
		names[rider.ID] = rider.Name
	}
	return names, err
}

func (d *DB) delivered(ctx context.Context, scope OrderScope, filter OrderFilter) *gorm.DB {
	filter.Status = models.StatusDelivered
	return filter.withStatus(scope.apply(d.with(ctx).Table("orders")))
}
