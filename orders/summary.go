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
	// MaxSummaryDays is the longest period that a summary covers.
	MaxSummaryDays = 366
	// topReasons is how many of the reasons that people wrote are worth a look.
	topReasons = 5
)

// Summary tells how the orders created in a period went, as they stand now.
type Summary struct {
	// From and To are the first and the last day of the period.
	From, To time.Time
	Days     []DaySummary
	Counts   map[models.Status]int64
	// Collected is what the riders were paid for these orders.
	Collected                     money.Cents
	SinceReception, SinceCreation Durations
	CancelledBy                   map[models.Actor]int64
	Reasons                       []db.ReasonCount
	// Riders are shown to the operator alone.
	Riders []db.RiderCount
}

// DaySummary is how many of the orders created on a day stand in each status.
type DaySummary struct {
	Day    time.Time
	Counts map[models.Status]int64
}

// Created is how many orders the period brought.
func (s *Summary) Created() int64 {
	return s.Open() + s.Counts[models.StatusDelivered] + s.Counts[models.StatusCancelled]
}

// Open is how many of them are still on their way.
func (s *Summary) Open() int64 {
	var open int64
	for _, status := range models.OpenStatuses {
		open += s.Counts[status]
	}
	return open
}

// DeliveryRate is the part of the finished orders that was delivered, between 0 and 1; known is
// false while none is finished.
func (s *Summary) DeliveryRate() (rate float64, known bool) {
	delivered := s.Counts[models.StatusDelivered]
	finished := delivered + s.Counts[models.StatusCancelled]
	if finished == 0 {
		return 0, false
	}
	return float64(delivered) / float64(finished), true
}

// Summary sums up the orders that the caller may see, of all stores or of one, created between two
// days of the operator's calendar, both included. Days in the wrong order are put right, and a
// period that is too long keeps its end.
func (s *Service) Summary(ctx context.Context, caller Caller, from, to time.Time, store *uuid.UUID) (*Summary, error) {
	if from.After(to) {
		from, to = to, from
	}
	if earliest := to.AddDate(0, 0, 1-MaxSummaryDays); from.Before(earliest) {
		from = earliest
	}
	filter := s.filter(caller, Query{From: &from, To: &to, StoreID: store})
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

// add spreads the counts over the days of the period, those without orders too.
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
