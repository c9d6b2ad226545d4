package db

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/money"
	"despacho/internal/textnorm"
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
	offset, arguments := offsetIn("orders.created_at", zone, *filter.From, *filter.Until)
	day := fmt.Sprintf("(%s + %s) / 86400 AS day", d.seconds("orders.created_at"), offset)
	var counts []DayCount
	err := filter.apply(scope.apply(d.with(ctx).Table("orders"))).
		Select(day+", orders.status, orders.cancelled_by, COUNT(*) AS count, "+
			"CAST(COALESCE(SUM(orders.actual_amount_collected_cents), 0) AS BIGINT) AS collected", arguments...).
		Group("day, orders.status, orders.cancelled_by").Scan(&counts).Error
	return counts, err
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

// DeliveryMinutes counts the filter's delivered orders by how long they took since reception, and
// since creation; each list is in ascending order. Both come from one scan.
func (d *DB) DeliveryMinutes(ctx context.Context, scope OrderScope, filter OrderFilter) (sinceReception, sinceCreation []MinuteCount, err error) {
	delivered := d.seconds("orders.delivered_at")
	spans := d.delivered(ctx, scope, filter).Where("orders.received_at IS NOT NULL AND orders.delivered_at IS NOT NULL").
		Select(fmt.Sprintf("(%[1]s - %[2]s) / 60 AS reception, (%[1]s - %[3]s) / 60 AS creation",
			delivered, d.seconds("orders.received_at"), d.seconds("orders.created_at")))
	var rows []struct {
		SinceReception bool
		MinuteCount    `gorm:"embedded"`
	}
	err = d.with(ctx).Raw(`
		WITH spans AS (?)
		SELECT TRUE AS since_reception, reception AS minutes, COUNT(*) AS count FROM spans GROUP BY reception
		UNION ALL
		SELECT FALSE, creation, COUNT(*) FROM spans GROUP BY creation
		ORDER BY 2`, spans).Scan(&rows).Error
	for _, row := range rows {
		if row.SinceReception {
			sinceReception = append(sinceReception, row.MinuteCount)
		} else {
			sinceCreation = append(sinceCreation, row.MinuteCount)
		}
	}
	return sinceReception, sinceCreation, err
}

// ReasonCount is the number of orders cancelled for a reason.
type ReasonCount struct {
	Reason string
	Count  int64
}

// CancelReasons lists the most frequent reasons of the filter's cancelled orders.
func (d *DB) CancelReasons(ctx context.Context, scope OrderScope, filter OrderFilter, limit int) ([]ReasonCount, error) {
	filter.Status = models.StatusCancelled
	var reasons []ReasonCount
	err := filter.withStatus(scope.apply(d.with(ctx).Table("orders"))).Where("orders.cancel_reason IS NOT NULL").
		Select("orders.cancel_reason AS reason, COUNT(*) AS count").
		Group("orders.cancel_reason").Order("count DESC, reason").Limit(limit).Scan(&reasons).Error
	return reasons, err
}

// RiderCount is the number of orders a rider delivered.
type RiderCount struct {
	RiderID uuid.UUID
	Name    string
	Count   int64
}

// RiderDeliveries counts the filter's delivered orders by rider, in descending order of the number
// and then by name.
func (d *DB) RiderDeliveries(ctx context.Context, scope OrderScope, filter OrderFilter) ([]RiderCount, error) {
	var riders []RiderCount
	err := d.delivered(ctx, scope, filter).Joins("JOIN riders ON riders.id = orders.rider_id").
		Select("riders.id AS rider_id, riders.name, COUNT(*) AS count").
		Group("riders.id, riders.name").Order("count DESC, riders.id").Scan(&riders).Error
	slices.SortStableFunc(riders, func(a, b RiderCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), textnorm.Compare(a.Name, b.Name))
	})
	return riders, err
}

func (d *DB) delivered(ctx context.Context, scope OrderScope, filter OrderFilter) *gorm.DB {
	filter.Status = models.StatusDelivered
	return filter.withStatus(scope.apply(d.with(ctx).Table("orders")))
}
