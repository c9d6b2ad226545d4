package orders

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/clock"
	"despacho/internal/money"
	"despacho/models"
)

// CountedPage is a page of orders with the count of each status under the same filter.
type CountedPage struct {
	*Page
	Counts map[models.Status]int64
	// Sort is how the page is sorted. SortableByAll means that the list is short enough for columns
	// that no index has.
	Sort          Sort
	SortableByAll bool
}

// maxSorted is how long a list may be that the database sorts itself.
const maxSorted = 2000

// ListWithCounts reads a page of orders and the counts by status. A list that is too long for the
// requested sort is read newest first.
func (s *Service) ListWithCounts(ctx context.Context, caller Caller, query Query) (*CountedPage, error) {
	filter, err := s.filter(ctx, caller, query)
	if err != nil {
		return nil, err
	}
	counts, err := s.countAndNarrow(ctx, caller, query, &filter)
	if err != nil {
		return nil, err
	}
	total := countIn(counts, query.Status)
	sortable := total <= maxSorted
	if query.Sort.Indexed() || sortable {
		filter.Sort = query.Sort
	}
	rows, err := s.readPage(ctx, caller, filter, total)
	if err != nil {
		return nil, err
	}
	return &CountedPage{Page: s.page(caller, query.Page, filter.Limit, rows, total), Counts: counts, Sort: filter.Sort,
		SortableByAll: sortable}, nil
}

// CountByStatus counts the orders that the caller may see.
func (s *Service) CountByStatus(ctx context.Context, caller Caller) (map[models.Status]int64, error) {
	return s.countByStatus(ctx, caller, Query{}, orderFilter{})
}

// maxNarrowed is how many orders a search may find that are then read by their ids: fewer than a
// page of the panel, so that sorting them is no work.
const maxNarrowed = 49

// countAndNarrow is countByStatus. No index has the texts that a search looks through, so that all
// are read to find a few: of these the filter gets the ids, and the texts are not read again for
// the page.
func (s *Service) countAndNarrow(
	ctx context.Context, caller Caller, query Query, filter *orderFilter,
) (map[models.Status]int64, error) {
	if len(filter.Search) == 0 {
		return s.countByStatus(ctx, caller, query, *filter)
	}
	var found []struct {
		ID     uuid.UUID
		Status models.Status
	}
	err := filter.apply(caller.Scope().Orders(s.db.Query(ctx).Table("orders"))).Select("orders.id, orders.status").
		Limit(maxNarrowed + 1).Scan(&found).Error
	if err != nil {
		return nil, err
	}
	if len(found) > maxNarrowed {
		return s.countByStatus(ctx, caller, query, *filter)
	}
	counts := map[models.Status]int64{}
	filter.IDs = []uuid.UUID{}
	for _, order := range found {
		counts[order.Status]++
		filter.IDs = append(filter.IDs, order.ID)
	}
	filter.Search = nil
	return counts, nil
}

// IDByGuideCode is the id of the order with a guide code; nil if the caller may see none.
func (s *Service) IDByGuideCode(ctx context.Context, caller Caller, code string) (*uuid.UUID, error) {
	var ids []uuid.UUID
	err := caller.Scope().Orders(s.db.Query(ctx).Table("orders")).Where("orders.guide_code = ?", code).Pluck("orders.id", &ids).Error
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return &ids[0], nil
}

// Collected is what was collected for the delivered orders of a list, on all its pages.
func (s *Service) Collected(ctx context.Context, caller Caller, query Query) (money.Cents, error) {
	filter, err := s.filter(ctx, caller, query)
	if err != nil {
		return 0, err
	}
	if query.hasTotals() && query.Status == models.StatusDelivered {
		totals, err := s.readTotals(ctx, caller, query, "measure", collectedCents)
		if err != nil || len(totals) == 0 {
			return 0, err
		}
		return money.Cents(totals[0].Amount), nil
	}
	var total money.Cents
	err = filter.withStatus(caller.Scope().Orders(s.db.Query(ctx).Table("orders"))).
		Select(sumCollected).Scan(&total).Error
	return total, err
}

// ToCollect is what a rider will collect for the packages that are with them.
func (s *Service) ToCollect(ctx context.Context, caller Caller, rider uuid.UUID) (sum money.Cents, err error) {
	err = caller.Scope().Orders(s.db.Query(ctx).Table("orders")).
		Where("orders.status = ? AND orders.rider_id = ? AND orders.payment_type = ?", models.StatusAssigned, rider, models.CashOnDelivery).
		Select("CAST(COALESCE(SUM(orders.amount_to_collect_cents), 0) AS BIGINT)").Scan(&sum).Error
	return sum, err
}

const sumCollected = "CAST(COALESCE(SUM(orders.actual_amount_collected_cents), 0) AS BIGINT)"

// CheckSearch returns the error that reading the orders of a query would, before anything is sent.
func (s *Service) CheckSearch(caller Caller, query Query) error {
	_, err := parseSearch(query.Search, caller.Operator.CountryCode)
	return err
}

// eachBatch is how many orders Each reads at once.
const eachBatch = 500

// Each calls do with every order of a list, newest first. However long the list is, only a batch of
// it is in memory.
func (s *Service) Each(ctx context.Context, caller Caller, query Query, do func(*View) error) error {
	filter, err := s.filter(ctx, caller, query)
	if err != nil {
		return err
	}
	all := filter.withStatus(caller.Scope().Orders(s.db.OrderViews(ctx))).
		Order("orders.created_at DESC, orders.id DESC").Limit(eachBatch).Session(&gorm.Session{})
	next := all
	for {
		var rows []models.OrderView
		if err := next.Find(&rows).Error; err != nil {
			return err
		}
		for i := range rows {
			if err := do(s.View(caller, &rows[i])); err != nil {
				return err
			}
		}
		if len(rows) < eachBatch {
			return nil
		}
		last := rows[len(rows)-1]
		next = all.Where("(orders.created_at, orders.id) < (?, ?)", last.CreatedAt, last.ID)
	}
}

// ByIDs reads orders by id, in the same order. Those that the caller may not see are left out.
func (s *Service) ByIDs(ctx context.Context, caller Caller, ids []uuid.UUID) ([]*View, error) {
	var rows []models.OrderView
	if err := caller.Scope().Orders(s.db.OrderViews(ctx)).Where("orders.id IN ?", ids).Find(&rows).Error; err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b models.OrderView) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return s.views(caller, rows), nil
}

// CountWithoutPoint counts those of a list's orders that are open and have no point.
func (s *Service) CountWithoutPoint(ctx context.Context, caller Caller, query Query) (int64, error) {
	query.WithoutPoint = true
	filter, err := s.filter(ctx, caller, query)
	if err != nil {
		return 0, err
	}
	var count int64
	err = filter.withStatus(caller.Scope().Orders(s.db.Query(ctx).Table("orders"))).Count(&count).Error
	return count, err
}

func (s *Service) filter(ctx context.Context, caller Caller, query Query) (orderFilter, error) {
	search, err := s.readSearch(ctx, caller, query.Search)
	filter := orderFilter{
		Status: query.Status, Page: query.Page, Limit: min(query.Limit, MaxPageSize), WithoutPoint: query.WithoutPoint,
		ByDelivery: query.ByDelivery, AmountDiffers: query.AmountDiffers,
		StoreID: query.StoreID, RiderID: query.RiderID, LocationID: query.LocationID, LocationIDs: query.LocationIDs,
		ExternalID: query.ExternalID, Search: search, IDs: query.IDs, Substatuses: query.Substatuses, NotLoaded: query.NotLoaded,
	}
	if query.Assignable {
		filter.AssignableOn = s.clock.Now().In(caller.Operator.TimeZone()).Format(time.DateOnly)
	}
	if query.DueBy != nil {
		filter.DueBy = query.DueBy.Format(time.DateOnly)
	}
	if err == nil && len(search) > 0 {
		err = s.findCode(ctx, caller, query.Search, &filter)
	}
	zone, now := caller.Operator.TimeZone(), s.clock.Now()
	if query.Expiring {
		before := now.Add(ExpiringWithin)
		filter.ExpiringBefore = &before
	}
	if query.OutSinceYesterday {
		before := clock.DayStart(now.In(zone), zone)
		filter.AssignedBefore = &before
	}
	if query.From != nil {
		start := clock.DayStart(*query.From, zone)
		filter.From = &start
	}
	if query.To != nil {
		end := clock.DayStart(query.To.AddDate(0, 0, 1), zone)
		filter.Until = &end
	}
	return filter, err
}

// readPage reads a page of a list with the given total.
func (s *Service) readPage(ctx context.Context, caller Caller, filter orderFilter, total int64) ([]models.OrderView, error) {
	skip := int64(filter.Page-1) * int64(filter.Limit)
	if skip >= total {
		return nil, nil
	}
	selected := func(query *gorm.DB) *gorm.DB {
		return filter.Sort.apply(filter.withStatus(caller.Scope().Orders(query))).Offset(int(skip)).Limit(filter.Limit)
	}
	query := s.db.OrderViews(ctx)
	if filter.Sort.Indexed() && skip > deepPage {
		query = filter.Sort.apply(query.Where("orders.id IN (?)", selected(s.db.Query(ctx).Table("orders").Select("orders.id"))))
	} else {
		query = selected(query)
	}
	var rows []models.OrderView
	err := query.Find(&rows).Error
	return rows, err
}

// deepPage is how many orders a page may skip before its orders are found by their ids: all that
// are skipped are read and sorted, and whole rows with their names are many times as large.
const deepPage = 1000

func (s *Service) page(caller Caller, number, limit int, rows []models.OrderView, total int64) *Page {
	return &Page{Orders: s.views(caller, rows), Total: total, Page: number, Limit: limit}
}

func (s *Service) views(caller Caller, rows []models.OrderView) []*View {
	views := make([]*View, len(rows))
	for i := range rows {
		views[i] = s.View(caller, &rows[i])
	}
	return views
}
