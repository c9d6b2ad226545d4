package orders

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/internal/textnorm"
	"despacho/models"
)

const (
	// maxSummaryDays is the longest period of a summary.
	maxSummaryDays = 366
	// topReasons is the number of cancel reasons in a summary.
	topReasons = 5
)

// Summary summarizes the orders created in a period by their current status.
type Summary struct {
	// From and To are the first and the last day of the period.
	From, To time.Time
	Days     []DaySummary
	Counts   map[models.Status]int64
	// Collected is the amount collected for these orders.
	Collected                     money.Cents
	SinceReception, SinceCreation Durations
	CancelledBy                   map[models.Actor]int64
	Reasons                       []ReasonCount
	// Riders is set only for the operator.
	Riders []RiderCount
}

// ReasonCount is the number of orders cancelled for a reason.
type ReasonCount struct {
	Reason string
	Count  int64
}

// RiderCount is the number of orders a rider delivered.
type RiderCount struct {
	RiderID uuid.UUID
	Name    string
	Count   int64
}

// DaySummary counts the orders created on a day by status.
type DaySummary struct {
	Day    time.Time
	Counts map[models.Status]int64
}

// Created is the number of orders created in the period.
func (s *Summary) Created() int64 {
	return s.Open() + s.Counts[models.StatusDelivered] + s.Counts[models.StatusCancelled]
}

// Open is the number of them that are neither delivered nor cancelled.
func (s *Summary) Open() int64 {
	var open int64
	for _, status := range models.OpenStatuses {
		open += s.Counts[status]
	}
	return open
}

// DeliveryRate is the share of finished orders that were delivered, between 0 and 1; known is false
// if none is finished.
func (s *Summary) DeliveryRate() (rate float64, known bool) {
	delivered := s.Counts[models.StatusDelivered]
	finished := delivered + s.Counts[models.StatusCancelled]
	if finished == 0 {
		return 0, false
	}
	return float64(delivered) / float64(finished), true
}

// Summary summarizes the orders that the caller may see, of all stores or of one, created between
// two days of the operator's time zone, both included, from not after to. A period that is too
// long is cut at its beginning.
func (s *Service) Summary(ctx context.Context, caller Caller, from, to time.Time, store *uuid.UUID) (*Summary, error) {
	if earliest := to.AddDate(0, 0, 1-maxSummaryDays); from.Before(earliest) {
		from = earliest
	}
	summary := &Summary{From: from, To: to, Counts: map[models.Status]int64{}, CancelledBy: map[models.Actor]int64{}}
	onDay := map[string]map[models.Status]int64{}
	for day := from; !day.After(to); day = day.AddDate(0, 0, 1) { // also those without orders
		counts := map[models.Status]int64{}
		summary.Days = append(summary.Days, DaySummary{day, counts})
		onDay[day.Format(time.DateOnly)] = counts
	}
	query := Query{From: &from, To: &to, StoreID: store}
	byDay, err := s.readTotals(ctx, caller, query, "day, label", ordersByStatus)
	if err != nil {
		return nil, err
	}
	for _, row := range byDay {
		onDay[row.Day][models.Status(row.Label)] = row.Amount
		summary.Counts[models.Status(row.Label)] += row.Amount
	}
	totals, err := s.readTotals(ctx, caller, query, "measure, label",
		ordersByCanceller, collectedCents, deliveriesByRider, minutesSinceReception, minutesSinceCreation)
	if err != nil {
		return nil, err
	}
	took := map[measure]map[int64]int64{minutesSinceReception: {}, minutesSinceCreation: {}}
	deliveries := map[uuid.UUID]int64{}
	for _, row := range totals {
		switch row.Measure {
		case ordersByCanceller:
			summary.CancelledBy[models.Actor(row.Label)] = row.Amount
		case collectedCents:
			summary.Collected = money.Cents(row.Amount)
		case deliveriesByRider:
			rider, err := uuid.Parse(row.Label)
			if err != nil {
				return nil, err
			}
			deliveries[rider] = row.Amount
		case minutesSinceReception, minutesSinceCreation:
			minutes, err := strconv.ParseInt(row.Label, 10, 64)
			if err != nil {
				return nil, err
			}
			took[row.Measure][minutes] = row.Amount
		}
	}
	summary.SinceReception = newDurations(took[minutesSinceReception])
	summary.SinceCreation = newDurations(took[minutesSinceCreation])
	if summary.Reasons, err = s.cancelReasons(ctx, caller, query); err != nil {
		return nil, err
	}
	if caller.StoreID == nil {
		summary.Riders, err = s.namedRiders(ctx, caller, deliveries)
	}
	return summary, err
}

// cancelReasons are the most frequent reasons of the cancelled orders of a query's days and store.
// They have no totals: people write names into them, and an erasure removes them from the order.
func (s *Service) cancelReasons(ctx context.Context, caller Caller, query Query) ([]ReasonCount, error) {
	filter, err := s.filter(ctx, caller, query)
	if err != nil {
		return nil, err
	}
	var reasons []ReasonCount
	err = s.visible(ctx, caller, query, "orders").Where("created_at >= ? AND created_at < ?", *filter.From, *filter.Until).
		Where("status = ? AND cancel_reason IS NOT NULL", models.StatusCancelled).
		Select("cancel_reason AS reason, COUNT(*) AS count").Group("cancel_reason").Scan(&reasons).Error
	slices.SortFunc(reasons, func(a, b ReasonCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Reason, b.Reason))
	})
	return reasons[:min(len(reasons), topReasons)], err
}

// namedRiders are the riders in descending order of their deliveries and then by name.
func (s *Service) namedRiders(ctx context.Context, caller Caller, deliveries map[uuid.UUID]int64) ([]RiderCount, error) {
	if len(deliveries) == 0 {
		return nil, nil
	}
	var known []models.Rider
	err := s.db.Query(ctx).Select("id", "name").Where("operator_id = ?", caller.Operator.ID).
		Where("id IN ?", slices.Collect(maps.Keys(deliveries))).Find(&known).Error
	if err != nil {
		return nil, err
	}
	names := map[uuid.UUID]string{}
	for _, rider := range known {
		names[rider.ID] = rider.Name
	}
	var riders []RiderCount
	for id, count := range deliveries {
		riders = append(riders, RiderCount{id, names[id], count})
	}
	slices.SortFunc(riders, func(a, b RiderCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), textnorm.Compare(a.Name, b.Name), bytes.Compare(a.RiderID[:], b.RiderID[:]))
	})
	return riders, nil
}
