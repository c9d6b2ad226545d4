package db

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"despacho/internal/money"
	"despacho/models"
)

// OrderScope is what a caller may see: all of an operator's orders, or those of one store, either
// the live ones or the test orders.
type OrderScope struct {
	OperatorID uuid.UUID
	StoreID    *uuid.UUID
	Test       bool
}

// owned limits a query to the rows of a table that are the operator's and of the scope's mode.
// Every read and change of orders, webhooks or deliveries on behalf of a caller goes through it.
func (s OrderScope) owned(query *gorm.DB, table string) *gorm.DB {
	return query.Where(table+".operator_id = ? AND "+table+".test = ?", s.OperatorID, s.Test)
}

func (s OrderScope) apply(query *gorm.DB) *gorm.DB {
	query = s.owned(query, "orders")
	if s.StoreID != nil {
		query = query.Where("orders.store_id = ?", *s.StoreID)
	}
	return query
}

// visible is the order if apply would select it, else nil. It takes nil for an order that was not
// found.
func (s OrderScope) visible(order *models.OrderView) *models.OrderView {
	if order == nil || order.OperatorID != s.OperatorID || order.Test != s.Test {
		return nil
	}
	if s.StoreID != nil && (order.StoreID == nil || *order.StoreID != *s.StoreID) {
		return nil
	}
	return order
}

// InsertOrder inserts an order with its first timeline entry, its first event and the deliveries of
// that.
func (d *DB) InsertOrder(ctx context.Context, order *models.Order, entry *models.TimelineEntry, event *models.FeedEvent, deliveries []models.WebhookDelivery) error {
	if err := d.with(ctx).Create(order).Error; err != nil {
		return err
	}
	if err := d.with(ctx).Create(entry).Error; err != nil {
		return err
	}
	if err := d.InsertFeedEvent(ctx, event); err != nil {
		return err
	}
	return d.InsertDeliveries(ctx, deliveries)
}

const (
	// orderJoins are the joins that orderViewSelect needs. An order outlives the rows that it names.
	orderJoins = "LEFT JOIN locations ON locations.id = orders.location_id LEFT JOIN riders ON riders.id = orders.rider_id"
	// locationName is the name of an order's location; one that is gone has none.
	locationName = "COALESCE(locations.name, '')"
)

func (d *DB) orderViews(ctx context.Context) *gorm.DB {
	return d.with(ctx).Table("orders").Select(orderViewSelect).Joins(orderJoins)
}

// OrderViewByID reads one order of any owner, for the order's workflow.
func (d *DB) OrderViewByID(ctx context.Context, id uuid.UUID) (*models.OrderView, error) {
	var view models.OrderView
	err := d.orderViews(ctx).Where("orders.id = ?", id).Take(&view).Error
	return &view, err
}

// CountOrdersSince counts the orders created since a time, and those of them created before
// settled. A zero since counts all.
func (d *DB) CountOrdersSince(ctx context.Context, scope OrderScope, filter OrderFilter, since, settled time.Time) (all, before int64, err error) {
	var counted struct{ Total, Before int64 }
	query := filter.withStatus(scope.apply(d.with(ctx).Table("orders"))).
		Select("COUNT(*) AS total, COUNT(CASE WHEN orders.created_at < ? THEN 1 END) AS before", settled)
	if !since.IsZero() {
		query = query.Where("orders.created_at >= ?", since)
	}
	err = query.Scan(&counted).Error
	return counted.Total, counted.Before, err
}

// PageOfOrders reads a page of a list with the given total.
func (d *DB) PageOfOrders(ctx context.Context, scope OrderScope, filter OrderFilter, total int64) ([]models.OrderView, error) {
	skip := int64(filter.Page-1) * int64(filter.Limit)
	views := []models.OrderView{}
	if skip >= total {
		return views, nil
	}
	err := filter.Sort.apply(filter.withStatus(scope.apply(d.orderViews(ctx)))).
		Offset(int(skip)).Limit(filter.Limit).Find(&views).Error
	return views, err
}

// OrdersAfter reads the orders of a list that follow a position, newest first. The zero position is
// the beginning.
func (d *DB) OrdersAfter(ctx context.Context, scope OrderScope, filter OrderFilter, after Position, limit int) ([]models.OrderView, error) {
	query := filter.withStatus(scope.apply(d.orderViews(ctx)))
	if !after.At.IsZero() {
		query = query.Where("(orders.created_at, orders.id) < (?, ?)", after.At, after.ID)
	}
	var views []models.OrderView
	err := query.Order("orders.created_at DESC, orders.id DESC").Limit(limit).Find(&views).Error
	return views, err
}

// CountOrders counts orders by status; the filter's status is ignored.
func (d *DB) CountOrders(ctx context.Context, scope OrderScope, filter OrderFilter) (map[models.Status]int64, error) {
	var rows []struct {
		Status models.Status
		Count  int64
	}
	err := filter.apply(scope.apply(d.with(ctx).Table("orders"))).Select("orders.status, COUNT(*) AS count").Group("orders.status").Scan(&rows).Error
	counts := map[models.Status]int64{}
	for _, row := range rows {
		counts[row.Status] = row.Count
	}
	return counts, err
}

// CollectedAmount is what was collected for the orders of a list, on all its pages.
func (d *DB) CollectedAmount(ctx context.Context, scope OrderScope, filter OrderFilter) (money.Cents, error) {
	var total money.Cents
	err := filter.withStatus(scope.apply(d.with(ctx).Table("orders"))).
		Select("CAST(COALESCE(SUM(orders.actual_amount_collected_cents), 0) AS BIGINT)").Scan(&total).Error
	return total, err
}

// Moves reads the moves of an order's timeline, oldest first.
func (d *DB) Moves(ctx context.Context, orderID uuid.UUID) ([]models.TimelineEntry, error) {
	var moves []models.TimelineEntry
	err := d.with(ctx).Where("order_id = ? AND seq IS NOT NULL", orderID).Order("seq").Find(&moves).Error
	return moves, err
}

var timelineColumns = columnList(tableColumns[models.TimelineEntry]("order_events", ""))

// Timeline reads all entries of an order's timeline, oldest first, with the names of those they are
// about.
func (d *DB) Timeline(ctx context.Context, orderID uuid.UUID) ([]models.TimelineView, error) {
	var events []models.TimelineView
	err := d.with(ctx).Table("order_events").
		Select(timelineColumns+", users.name AS user_name, api_keys.name AS key_name, riders.name AS rider_name").
		Joins("LEFT JOIN users ON users.id = order_events.user_id").
		Joins("LEFT JOIN api_keys ON api_keys.id = order_events.key_id").
		Joins("LEFT JOIN riders ON riders.id = order_events.rider_id").
		Where("order_events.order_id = ?", orderID).Order("order_events.at, order_events.seq, order_events.id").Find(&events).Error
	sortMoves(events)
	return events, err
}

// sortMoves puts the moves among the entries in the sequence of their numbers, whatever their times
// say: a creation has the time of the API's clock, a move that of Temporal's.
func sortMoves(entries []models.TimelineView) {
	var places []int
	var moves []models.TimelineView
	for i, entry := range entries {
		if entry.Seq != nil {
			places, moves = append(places, i), append(moves, entry)
		}
	}
	slices.SortFunc(moves, func(a, b models.TimelineView) int { return *a.Seq - *b.Seq })
	for i, place := range places {
		entries[place] = moves[i]
	}
}

// LockOrder reads an order and locks its row until the transaction ends.
func (d *DB) LockOrder(ctx context.Context, id uuid.UUID) (*models.Order, error) {
	var order models.Order
	err := d.forUpdate(ctx).Where("id = ?", id).Take(&order).Error
	return &order, err
}

// HasTimelineEntry reports whether a timeline entry exists.
func (d *DB) HasTimelineEntry(ctx context.Context, id uuid.UUID) (bool, error) {
	var count int64
	err := d.with(ctx).Model(&models.TimelineEntry{}).Where("id = ?", id).Count(&count).Error
	return count > 0, err
}

// SetLinkPoint writes the delivery point that a map link gave. If the order has a point by now, or
// another link, nothing is written, and set is false.
func (d *DB) SetLinkPoint(ctx context.Context, orderID uuid.UUID, link string, lat, lng float64, source string, now time.Time) (set bool, err error) {
	result := d.with(ctx).Model(&models.Order{}).Where("id = ? AND delivery_lat IS NULL AND delivery_maps_url = ?", orderID, link).Updates(map[string]any{
		"delivery_lat": lat, "delivery_lng": lng, "point_source": source, "updated_at": now,
	})
	return result.RowsAffected == 1, result.Error
}

// AddTimelineEntry writes a timeline entry that is not a move. An existing one with the same id is
// kept.
func (d *DB) AddTimelineEntry(ctx context.Context, event *models.TimelineEntry) error {
	return d.with(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(event).Error
}

// OrderVersion identifies an order at a Seq.
type OrderVersion struct {
	ID  uuid.UUID
	Seq int
}

// MarkWorkflowsStarted records that the workflows of these orders run at the given Seq. An order
// that has moved since is skipped.
func (d *DB) MarkWorkflowsStarted(ctx context.Context, orders []OrderVersion, now time.Time) error {
	pairs := make([][]any, len(orders))
	for i, order := range orders {
		pairs[i] = []any{order.ID, order.Seq}
	}
	return d.with(ctx).Model(&models.Order{}).Where("(id, seq) IN ? AND workflow_started_at IS NULL", pairs).
		UpdateColumn("workflow_started_at", now).Error
}

// Position is a row's place in a list that is read in pages, oldest first.
type Position struct {
	At time.Time
	ID uuid.UUID
}

// OrdersMissingWorkflow lists the orders whose workflow start or latest move is unconfirmed, oldest
// first, after a position. Those that were changed within the grace period are left out. A change
// in the future is one by a clock that was ahead: it does not have to wait for that time.
func (d *DB) OrdersMissingWorkflow(ctx context.Context, now time.Time, grace time.Duration, after Position, limit int) ([]Position, error) {
	var positions []Position
	err := d.with(ctx).Raw(`SELECT id, updated_at AS at FROM orders
		WHERE workflow_started_at IS NULL AND updated_at NOT BETWEEN ? AND ? AND (updated_at, id) > (?, ?) ORDER BY updated_at, id LIMIT ?`,
		now.Add(-grace), now.Add(grace), after.At, after.ID, limit).Scan(&positions).Error
	return positions, err
}

// OverdueOrders lists the registered orders whose auto-cancel time is long past, oldest first,
// after a position.
func (d *DB) OverdueOrders(ctx context.Context, dueBefore time.Time, after Position, limit int) ([]Position, error) {
	var positions []Position
	err := d.with(ctx).Raw(`SELECT id, auto_cancel_at AS at FROM orders
		WHERE status = 'registered' AND auto_cancel_at < ? AND (auto_cancel_at, id) > (?, ?) ORDER BY auto_cancel_at, id LIMIT ?`,
		dueBefore, after.At, after.ID, limit).Scan(&positions).Error
	return positions, err
}

// MissingOrders returns those of the ids that no order has.
func (d *DB) MissingOrders(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var present []uuid.UUID
	if err := d.with(ctx).Model(&models.Order{}).Where("id IN ?", ids).Pluck("id", &present).Error; err != nil {
		return nil, err
	}
	known := make(map[uuid.UUID]bool, len(present))
	for _, id := range present {
		known[id] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id uuid.UUID) bool { return known[id] }), nil
}

// EndedOrders returns the states of those of the ids whose order ended before a time, as its
// workflow has confirmed, and has no event to send.
func (d *DB) EndedOrders(ctx context.Context, ids []uuid.UUID, before time.Time) (map[uuid.UUID]models.State, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var ended []models.Order
	err := d.with(ctx).Select("id, status, cancelled_by, rider_id").
		Where("id IN ? AND status NOT IN ? AND updated_at < ? AND workflow_started_at IS NOT NULL", ids, models.OpenStatuses, before).
		Where("NOT EXISTS (SELECT 1 FROM deliveries WHERE order_id = orders.id AND status = ?)", models.WebhookDeliveryPending).
		Find(&ended).Error
	states := make(map[uuid.UUID]models.State, len(ended))
	for i := range ended {
		states[ended[i].ID] = ended[i].State()
	}
	return states, err
}

// UnconfirmOpenOrders makes the reconcile workflow look at every open order: it starts the workflow
// of those that have none, and makes the others read their rows.
func (d *DB) UnconfirmOpenOrders(ctx context.Context) (int64, error) {
	result := d.with(ctx).Model(&models.Order{}).
		Where("status IN ? AND workflow_started_at IS NOT NULL", models.OpenStatuses).UpdateColumn("workflow_started_at", nil)
	return result.RowsAffected, result.Error
}

// Tracked is the data of the public tracking page.
type Tracked struct {
	ID           uuid.UUID
	GuideCode    string
	Status       models.Status
	Product      string
	OperatorName string
	LogoURL      *string `gorm:"column:logo_url"`
	LogoPhoto    *string
	Timezone     string
	// StoreName is nil for the operator's own order, and the contacts are nil if they are not set.
	StoreName     *string
	StorePhone    *string
	StoreWhatsApp *string `gorm:"column:store_whatsapp"`
	StoreEmail    *string
	// ProofPhoto is the photo of the delivery, which may be shown if ShareProofPhoto is set.
	ProofPhoto      *string
	ShareProofPhoto bool
	AmountToCollect money.Cents `gorm:"column:amount_to_collect_cents"`
	Currency        string
	Test            bool
}

// Logo is the address of the operator's logo, as Operator.Logo.
func (t *Tracked) Logo(baseURL string) *string {
	return (&models.Operator{LogoURL: t.LogoURL, LogoPhoto: t.LogoPhoto}).Logo(baseURL)
}

// TimeZone is the operator's time zone.
func (t *Tracked) TimeZone() *time.Location {
	return (&models.Operator{Timezone: t.Timezone}).TimeZone()
}

// Track finds an order by its canonical guide code.
func (d *DB) Track(ctx context.Context, guideCode string) (*Tracked, error) {
	var tracked Tracked
	err := d.with(ctx).Table("orders").
		Select("orders.id, orders.guide_code, orders.status, orders.product, operators.name AS operator_name, operators.logo_url, operators.logo_photo, operators.timezone, "+
			"stores.name AS store_name, stores.contact_phone AS store_phone, stores.contact_whatsapp AS store_whatsapp, stores.contact_email AS store_email, "+
			"orders.proof_photo, operators.share_proof_photo, orders.amount_to_collect_cents, orders.currency, orders.test").
		Joins("JOIN operators ON operators.id = orders.operator_id").Joins("LEFT JOIN stores ON stores.id = orders.store_id").
		Where("orders.guide_code = ?", guideCode).Take(&tracked).Error
	return &tracked, err
}
