package db

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/models"
)

// MoveContext is the data that a move needs besides the order itself.
type MoveContext struct {
	Operator     models.Operator `gorm:"embedded;embeddedPrefix:op_"`
	LocationName string
	// The rider's fields are nil if the operator has no such rider, BranchActive if it has no such
	// branch.
	RiderName, RiderPhone     *string
	RiderActive, BranchActive *bool
	// StoreAttemptFee and StoreReturnFee are what the store pays instead of what the rules say.
	StoreAttemptFee, StoreReturnFee *money.Cents
	HasWebhooks                     bool
	// HasPending is whether the order has webhook calls that are not settled.
	HasPending bool
	// EntrySeq is the seq of the move's entry if it was written before.
	EntrySeq *int
}

// orderForMove is an order with its MoveContext.
type orderForMove struct {
	Order models.Order `gorm:"embedded"`
	MoveContext
}

var moveColumns = slices.Concat(
	columnsOf(orderColumns, func(m *orderForMove) *models.Order { return &m.Order }),
	columnsOf(operatorColumns, func(m *orderForMove) *models.Operator { return &m.Operator }),
	[]column[orderForMove]{
		{LocationName + " AS location_name", func(m *orderForMove) any { return &m.LocationName }},
		{"riders.name AS rider_name", func(m *orderForMove) any { return &m.RiderName }},
		{"riders.phone AS rider_phone", func(m *orderForMove) any { return &m.RiderPhone }},
		{"riders.active OR riders.test AS rider_active", func(m *orderForMove) any { return &m.RiderActive }},
		{"branches.active AS branch_active", func(m *orderForMove) any { return &m.BranchActive }},
		{"stores.attempt_fee_cents AS store_attempt_fee", func(m *orderForMove) any { return &m.StoreAttemptFee }},
		{"stores.return_fee_cents AS store_return_fee", func(m *orderForMove) any { return &m.StoreReturnFee }},
		{`EXISTS (
			SELECT 1 FROM webhooks WHERE webhooks.operator_id = o.id AND webhooks.active AND webhooks.test = orders.test
		) AS has_webhooks`, func(m *orderForMove) any { return &m.HasWebhooks }},
		{`EXISTS (
			SELECT 1 FROM deliveries WHERE deliveries.order_id = orders.id AND deliveries.status = 'pending'
		) AS has_pending`, func(m *orderForMove) any { return &m.HasPending }},
		{"written.seq AS entry_seq", func(m *orderForMove) any { return &m.EntrySeq }},
	},
)

// The rider is the given one, or else the order's. The order is locked before the others are
// joined: if a join had found them first and then waited for the order, PostgreSQL would not look
// for those that the order refers to by then.
var (
	selectOrderForMove = orderForMoveFrom("SELECT * FROM orders WHERE id = ?")
	lockOrderForMove   = numbered(orderForMoveFrom("SELECT * FROM orders WHERE id = ? FOR UPDATE"))
)

func orderForMoveFrom(order string) string {
	return "SELECT " + columnList(moveColumns) + `
		FROM (` + order + `) AS orders
		JOIN operators AS o ON o.id = orders.operator_id
		LEFT JOIN locations ON locations.id = orders.location_id
		LEFT JOIN riders ON riders.id = COALESCE(?, orders.rider_id) AND riders.operator_id = o.id AND riders.test = orders.test
		LEFT JOIN stores ON stores.id = orders.store_id
		LEFT JOIN branches ON branches.id = ? AND branches.operator_id = o.id
		LEFT JOIN order_events AS written ON written.id = ? AND written.order_id = orders.id`
}

// InMove runs fn in the transaction that writes a move of an order, whose timeline entry has the
// given id. The order is read with what the
// move needs, and its row is locked until the transaction ends. fn reads with tx, and writes rows
// of the order with writes. On PostgreSQL it takes two round trips, if fn reads nothing more.
func (d *DB) InMove(
	ctx context.Context, id, entry uuid.UUID, rider, branch *uuid.UUID,
	fn func(tx, writes *DB, order *models.Order, moveContext *MoveContext) error,
) error {
	var row orderForMove
	if d.dialect == SQLite {
		return d.InTx(ctx, func(tx *DB) error {
			if err := requireOneRow(tx.with(ctx).Raw(selectOrderForMove, id, rider, branch, entry).Scan(&row)); err != nil {
				return err
			}
			return fn(tx, tx, &row.Order, &row.MoveContext)
		})
	}
	found := false
	lock := pgxStatement{
		statement: lockOrderForMove,
		arguments: []any{pgUUID(&id), pgUUID(rider), pgUUID(branch), pgUUID(&entry)},
		targets:   scanTargets(moveColumns, &row),
		onRow:     func() { found = true },
	}
	return d.inLockedPipeline(ctx, lock, func(tx, writes *DB) error {
		if !found {
			return ErrNotFound
		}
		return fn(tx, writes, &row.Order, &row.MoveContext)
	})
}

// SaveMove writes the moved order, if its Seq is still the one before, and its timeline entry. The
// deliveries of its event are written by InsertDeliveries.
func (d *DB) SaveMove(ctx context.Context, before, order *models.Order, entry *models.TimelineEntry) error {
	columns := []any{
		"substatus", "seq", "operative_day", "attempts", "next_attempt_on", "decision_deadline",
		"actual_amount_collected_cents", "return_fee_cents", "collections", "received_by", "loaded_at",
		"proof_photo", "proof_captured_at", "proof_lat", "proof_lng", "cancelled_by", "cancel_reason", "cancel_note",
		"received_at", "assigned_at", "delivered_at", "cancelled_at", "workflow_started_at", "updated_at", "erased_at",
	}
	// SQLite checks a reference that is written again, also if it is the same: an order must not be
	// stuck because its branch or rider was deleted by hand.
	if order.BranchID != before.BranchID {
		columns = append(columns, "branch_id")
	}
	if order.RiderID != before.RiderID {
		columns = append(columns, "rider_id")
	}
	// UpdateColumns, because Updates would set updated_at to the machine's time instead of the
	// clock's.
	err := requireOneRow(d.with(ctx).Model(&models.Order{}).Where("id = ? AND seq = ?", order.ID, order.Seq-1).
		Select("status", columns...).UpdateColumns(order))
	if err != nil {
		return err
	}
	return d.with(ctx).Create(entry).Error
}
