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
	From, To                      time.Time
	Days                          []DaySummary
	Counts                        map[models.Status]int64
	SinceReception, SinceCreation Durations
	CancelledBy                   map[models.Actor]int64
	Reasons                       []ReasonCount
	// AtFirst counts the deliveries that no failed attempt came before, Failures the failed
	// attempts by reason and FailuresAt by location.
	AtFirst    int64
	Failures   map[models.FailureReason]int64
	FailuresAt map[uuid.UUID]int64
	// Riders delivered and FailedRiders had the failed attempts; both are set only for the operator.
	Riders, FailedRiders []RiderCount
}

// ReasonCount is the number of orders cancelled for a reason.
type ReasonCount struct {
	Reason string
	Count  int64
}

// RiderCount is the number of orders a rider delivered, or of failed attempts.
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

// AtFirstRate is the share of the delivered orders that no failed attempt came before, between 0
// and 1; known is false if none is delivered.
func (s *Summary) AtFirstRate() (rate float64, known bool) {
	delivered := s.Counts[models.StatusDelivered]
	if delivered == 0 {
		return 0, false
	}
	return float64(s.AtFirst) / float64(delivered), true
}

// Failed is the number of failed attempts.
func (s *Summary) Failed() (count int64) {
	for _, of := range s.Failures {
		count += of
	}
	return count
}

// Summary summarizes the orders that the caller may see, of all stores or of one, created between
// two days of the operator's time zone, both included, from not after to. A period that is too
// long is cut at its beginning.
func (s *Service) Summary(ctx context.Context, caller Caller, from, to time.Time, store *uuid.UUID) (*Summary, error) {
	if earliest := to.AddDate(0, 0, 1-maxSummaryDays); from.Before(earliest) {
		from = earliest
	}
	summary := &Summary{From: from, To: to, Counts: map[models.Status]int64{}, CancelledBy: map[models.Actor]int64{},
		Failures: map[models.FailureReason]int64{}, FailuresAt: map[uuid.UUID]int64{}}
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
		ordersByCanceller, deliveriesByRider, minutesSinceReception, minutesSinceCreation, deliveredAtFirst,
		failuresByReason, failuresByLocation, failuresByRider)
	if err != nil {
		return nil, err
	}
	took := map[measure]map[int64]int64{minutesSinceReception: {}, minutesSinceCreation: {}}
	deliveries, failures := map[uuid.UUID]int64{}, map[uuid.UUID]int64{}
	byID := map[measure]map[uuid.UUID]int64{
		deliveriesByRider: deliveries, failuresByRider: failures, failuresByLocation: summary.FailuresAt,
	}
	for _, row := range totals {
		switch row.Measure {
		case ordersByCanceller:
			summary.CancelledBy[models.Actor(row.Label)] = row.Amount
		case deliveredAtFirst:
			summary.AtFirst = row.Amount
		case failuresByReason:
			summary.Failures[models.FailureReason(row.Label)] = row.Amount
		case deliveriesByRider, failuresByRider, failuresByLocation:
			id, err := uuid.Parse(row.Label)
			if err != nil {
				return nil, err
			}
			byID[row.Measure][id] = row.Amount
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
		summary.Riders, summary.FailedRiders, err = s.namedRiders(ctx, caller, deliveries, failures)
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

// namedRiders are the riders of deliveries and those of failed attempts, each in descending order
// of the count and then by name. They are read at once.
func (s *Service) namedRiders(
	ctx context.Context, caller Caller, deliveries, failures map[uuid.UUID]int64,
) (delivered, failed []RiderCount, err error) {
	ids := slices.Concat(slices.Collect(maps.Keys(deliveries)), slices.Collect(maps.Keys(failures)))
	if len(ids) == 0 {
		return nil, nil, nil
	}
	var known []models.Rider
	err = s.db.Query(ctx).Select("id", "name").Where("operator_id = ?", caller.Operator.ID).Where("id IN ?", ids).Find(&known).Error
	names := map[uuid.UUID]string{}
	for _, rider := range known {
		names[rider.ID] = rider.Name
	}
	return countedRiders(deliveries, names), countedRiders(failures, names), err
}

func countedRiders(counts map[uuid.UUID]int64, names map[uuid.UUID]string) (riders []RiderCount) {
	for id, count := range counts {
		riders = append(riders, RiderCount{id, names[id], count})
	}
	slices.SortFunc(riders, func(a, b RiderCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), textnorm.Compare(a.Name, b.Name), bytes.Compare(a.RiderID[:], b.RiderID[:]))
	})
	return riders
}
