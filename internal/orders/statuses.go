package orders

import (
	"context"
	"time"

	"despacho/internal/db"
	"despacho/models"
)

// readStatuses reads the counts of a filter's days.
func readStatuses(database *db.DB) func(context.Context, db.OrderScope, db.OrderFilter, *time.Location) (map[int64][]db.DayCount, error) {
	return func(ctx context.Context, scope db.OrderScope, filter db.OrderFilter, zone *time.Location) (map[int64][]db.DayCount, error) {
		rows, err := database.OrdersByDay(ctx, scope, filter, zone)
		byDay := map[int64][]db.DayCount{}
		for _, row := range rows {
			byDay[row.Day] = append(byDay[row.Day], row)
		}
		return byDay, err
	}
}

// countByStatus counts a list's orders by status; the filter's status is ignored. A long list is
// counted day by day, and only the days on which something changed again.
func (s *Service) countByStatus(ctx context.Context, caller Caller, query Query, filter db.OrderFilter) (map[models.Status]int64, error) {
	list := dayList{scope: caller.Scope(), store: filter.StoreID, zone: caller.Operator.TimeZone()}
	byDay := !filter.ByDelivery && !filter.WithoutPoint && filter.RiderID == nil && filter.LocationID == nil && filter.ExternalID == "" && len(filter.Search) == 0
	if byDay && s.statuses.has(list) {
		return s.countDays(ctx, list, query)
	}
	counts, err := s.db.CountOrders(ctx, caller.Scope(), filter)
	var total int64
	for _, count := range counts {
		total += count
	}
	if err == nil && byDay && total >= minCachedTotal {
		s.statuses.known(list)
	}
	return counts, err
}

// earliestDay is before any order.
var earliestDay = daysSince1970(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC))

func (s *Service) countDays(ctx context.Context, list dayList, query Query) (map[models.Status]int64, error) {
	first, last := earliestDay, daysSince1970(s.clock.Now().In(list.zone))+1 // clocks differ
	if query.From != nil {
		first = max(first, daysSince1970(*query.From))
	}
	if query.To != nil {
		last = min(last, daysSince1970(*query.To))
	}
	counts := map[models.Status]int64{}
	if last < first {
		return counts, nil
	}
	err := s.statuses.each(ctx, list, first, last, func(_ int64, of []db.DayCount) {
		for _, row := range of {
			counts[row.Status] += row.Count
		}
	})
	return counts, err
}

// count is how many orders a list has.
func (s *Service) count(ctx context.Context, caller Caller, query Query, filter db.OrderFilter) (int64, error) {
	if filter.Status == "" {
		return s.totals.count(ctx, caller.Scope(), filter)
	}
	counts, err := s.countByStatus(ctx, caller, query, filter)
	return counts[filter.Status], err
}
