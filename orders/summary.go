package orders

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/money"
	"despacho/models"
)

const (
	// MaxSummaryDays is the longest period of a summary.
	MaxSummaryDays = 366
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
	Reasons                       []db.ReasonCount
	// Riders is set only for the operator.
	Riders []db.RiderCount
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
// two days of the operator's time zone, both included. Swapped days are put in order, and a period
// that is too long is cut at its beginning.
func (s *Service) Summary(ctx context.Context, caller Caller, from, to time.Time, store *uuid.UUID) (*Summary, error) {
	if from.After(to) {
		from, to = to, from
	}
	if earliest := to.AddDate(0, 0, 1-MaxSummaryDays); from.Before(earliest) {
		from = earliest
	}
	filter, err := s.filter(caller, Query{From: &from, To: &to, StoreID: store})
	if err != nil {
		return nil, err
	}
	summary := &Summary{From: from, To: to}
	counts, err := s.db.OrdersByDay(ctx, caller.Scope(), filter, caller.Operator.TimeZone())
	if err != nil {
		return nil, err
	}
	summary.add(counts)
	reception, creation, err := s.db.DeliveryMinutes(ctx, caller.Scope(), filter)
	if err != nil {
		return nil, err
	}
	summary.SinceReception, summary.SinceCreation = newDurations(reception), newDurations(creation)
	if summary.Reasons, err = s.db.CancelReasons(ctx, caller.Scope(), filter, topReasons); err != nil {
		return nil, err
	}
	if caller.StoreID == nil {
		summary.Riders, err = s.db.RiderDeliveries(ctx, caller.Scope(), filter)
	}
	return summary, err
}

// add distributes the counts over the days of the period, including days without orders.
func (s *Summary) add(counts []db.DayCount) {
	s.Counts, s.CancelledBy = map[models.Status]int64{}, map[models.Actor]int64{}
	for day := s.From; !day.After(s.To); day = day.AddDate(0, 0, 1) {
		s.Days = append(s.Days, DaySummary{day, map[models.Status]int64{}})
	}
	first := daysSince1970(s.From)
	for _, row := range counts {
		s.Days[row.Day-first].Counts[row.Status] += row.Count
		s.Counts[row.Status] += row.Count
		s.Collected += row.Collected
		if row.CancelledBy != nil {
			s.CancelledBy[*row.CancelledBy] += row.Count
		}
	}
}

func daysSince1970(day time.Time) int64 {
	return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC).Unix() / 86400
}
