package orders

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
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
	for day := from; !day.After(to); day = day.AddDate(0, 0, 1) { // also those without orders
		summary.Days = append(summary.Days, DaySummary{day, map[models.Status]int64{}})
	}
	first := daysSince1970(from)
	total := newDayTotals()
	list := dayList{scope: caller.Scope(), store: store, zone: caller.Operator.TimeZone()}
	err := s.summaries.each(ctx, list, first, daysSince1970(to), func(day int64, of *dayTotals) {
		summary.add(&summary.Days[day-first], of.counts)
		total.add(of)
	})
	if err != nil {
		return nil, err
	}
	summary.SinceReception, summary.SinceCreation = newDurations(total.sinceReception), newDurations(total.sinceCreation)
	summary.Reasons = mostFrequent(total.reasons)
	if caller.StoreID == nil {
		summary.Riders, err = s.namedRiders(ctx, caller, total.riders)
	}
	return summary, err
}

// add adds the counts of a day.
func (s *Summary) add(day *DaySummary, counts []db.DayCount) {
	for _, row := range counts {
		day.Counts[row.Status] += row.Count
		s.Counts[row.Status] += row.Count
		s.Collected += row.Collected
		if row.CancelledBy != nil {
			s.CancelledBy[*row.CancelledBy] += row.Count
		}
	}
}

// mostFrequent are the most frequent reasons.
func mostFrequent(reasons map[string]int64) []ReasonCount {
	list := make([]ReasonCount, 0, len(reasons))
	for reason, count := range reasons {
		list = append(list, ReasonCount{reason, count})
	}
	slices.SortFunc(list, func(a, b ReasonCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Reason, b.Reason))
	})
	return list[:min(len(list), topReasons)]
}

// namedRiders are the riders in descending order of their deliveries and then by name.
func (s *Service) namedRiders(ctx context.Context, caller Caller, deliveries map[uuid.UUID]int64) ([]RiderCount, error) {
	if len(deliveries) == 0 {
		return nil, nil
	}
	names, err := s.db.RiderNames(ctx, caller.Operator.ID, slices.Collect(maps.Keys(deliveries)))
	if err != nil {
		return nil, err
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

// dayTotals are those of the orders created on a day, or on several.
type dayTotals struct {
	counts []db.DayCount
	// sinceReception and sinceCreation count deliveries by the whole minutes that they took.
	sinceReception, sinceCreation map[int64]int64
	reasons                       map[string]int64
	riders                        map[uuid.UUID]int64
}

func newDayTotals() *dayTotals {
	return &dayTotals{sinceReception: map[int64]int64{}, sinceCreation: map[int64]int64{}, reasons: map[string]int64{}, riders: map[uuid.UUID]int64{}}
}

// add adds everything but the counts.
func (f *dayTotals) add(other *dayTotals) {
	addCounts(f.sinceReception, other.sinceReception)
	addCounts(f.sinceCreation, other.sinceCreation)
	addCounts(f.reasons, other.reasons)
	addCounts(f.riders, other.riders)
}

func addCounts[K comparable](to, from map[K]int64) {
	for key, count := range from {
		to[key] += count
	}
}

// readDayTotals reads the totals of a filter's days.
func readDayTotals(database *db.DB) func(context.Context, db.OrderScope, db.OrderFilter, *time.Location) (map[int64]*dayTotals, error) {
	return func(ctx context.Context, scope db.OrderScope, filter db.OrderFilter, zone *time.Location) (map[int64]*dayTotals, error) {
		counts, err := database.OrdersByDay(ctx, scope, filter, zone)
		if err != nil {
			return nil, err
		}
		minutes, err := database.DeliveryMinutes(ctx, scope, filter, zone)
		if err != nil {
			return nil, err
		}
		reasons, err := database.CancelReasons(ctx, scope, filter, zone)
		if err != nil {
			return nil, err
		}
		riders, err := database.RiderDeliveries(ctx, scope, filter, zone)
		if err != nil {
			return nil, err
		}
		totals := map[int64]*dayTotals{}
		of := func(day int64) *dayTotals {
			if totals[day] == nil {
				totals[day] = newDayTotals()
			}
			return totals[day]
		}
		for _, row := range counts {
			of(row.Day).counts = append(of(row.Day).counts, row)
		}
		for _, row := range minutes {
			to := of(row.Day).sinceCreation
			if row.SinceReception {
				to = of(row.Day).sinceReception
			}
			to[row.Minutes] += row.Count
		}
		for _, row := range reasons {
			of(row.Day).reasons[row.Reason] += row.Count
		}
		for _, row := range riders {
			of(row.Day).riders[row.RiderID] += row.Count
		}
		return totals, nil
	}
}

const secondsADay = 24 * 60 * 60

func daysSince1970(day time.Time) int64 {
	return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC).Unix() / secondsADay
}
