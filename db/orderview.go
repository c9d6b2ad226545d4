package db

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"despacho/models"
)

// OrderView reads one order that the scope may see. On PostgreSQL concurrent reads share one
// statement.
func (d *DB) OrderView(ctx context.Context, scope OrderScope, id uuid.UUID) (*models.OrderView, error) {
	if d.batched == nil {
		var view models.OrderView
		err := scope.apply(d.orderViews(ctx)).Where("orders.id = ?", id).Take(&view).Error
		return &view, err
	}
	view, err := d.batched.orders.Get(ctx, orderLookup{scope: scope, id: id})
	if err == nil && view == nil {
		err = ErrNotFound
	}
	return view, err
}

// orderLookup is the read of one order by one caller.
type orderLookup struct {
	scope OrderScope
	id    uuid.UUID
}

var orderViewColumns = []column[models.OrderView]{
	{"orders.id", func(v *models.OrderView) any { return (*[16]byte)(&v.ID) }},
	{"orders.operator_id", func(v *models.OrderView) any { return (*[16]byte)(&v.OperatorID) }},
	{"orders.store_id", func(v *models.OrderView) any { return &v.StoreID }},
	{"orders.branch_id", func(v *models.OrderView) any { return (*[16]byte)(&v.BranchID) }},
	{"orders.guide_code", func(v *models.OrderView) any { return &v.GuideCode }},
	{"orders.status", func(v *models.OrderView) any { return (*string)(&v.Status) }},
	{"orders.seq", func(v *models.OrderView) any { return &v.Seq }},
	{"orders.recipient_name", func(v *models.OrderView) any { return &v.RecipientName }},
	{"orders.recipient_phone", func(v *models.OrderView) any { return &v.RecipientPhone }},
	{"orders.recipient_doc_type", func(v *models.OrderView) any { return &v.RecipientDocType }},
	{"orders.recipient_doc_number", func(v *models.OrderView) any { return &v.RecipientDocNumber }},
	{"orders.recipient_doc_verified", func(v *models.OrderView) any { return &v.RecipientDocVerified }},
	{"orders.doc_outcome", func(v *models.OrderView) any { return &v.DocOutcome }},
	{"orders.doc_name_matches", func(v *models.OrderView) any { return &v.DocNameMatches }},
	{"orders.delivery_type", func(v *models.OrderView) any { return (*string)(&v.DeliveryType) }},
	{"orders.delivery_address", func(v *models.OrderView) any { return &v.DeliveryAddress }},
	{"orders.delivery_reference", func(v *models.OrderView) any { return &v.DeliveryReference }},
	{"orders.location_id", func(v *models.OrderView) any { return (*[16]byte)(&v.LocationID) }},
	{"orders.delivery_lat", func(v *models.OrderView) any { return &v.DeliveryLat }},
	{"orders.delivery_lng", func(v *models.OrderView) any { return &v.DeliveryLng }},
	{"orders.delivery_maps_url", func(v *models.OrderView) any { return &v.DeliveryMapsURL }},
	{"orders.point_source", func(v *models.OrderView) any { return &v.PointSource }},
	{"orders.product", func(v *models.OrderView) any { return &v.Product }},
	{"orders.size", func(v *models.OrderView) any { return &v.Size }},
	{"orders.notes", func(v *models.OrderView) any { return &v.Notes }},
	{"orders.search_text", func(v *models.OrderView) any { return &v.SearchText }},
	{"orders.amount_to_collect_cents", func(v *models.OrderView) any { return (*int64)(&v.AmountToCollect) }},
	{"orders.actual_amount_collected_cents", func(v *models.OrderView) any { return &v.ActualAmountCollected }},
	{"orders.shipping_cost_cents", func(v *models.OrderView) any { return (*int64)(&v.ShippingCost) }},
	{"orders.currency", func(v *models.OrderView) any { return &v.Currency }},
	{"orders.payment_type", func(v *models.OrderView) any { return (*string)(&v.PaymentType) }},
	{"orders.operative_day", func(v *models.OrderView) any { return &v.OperativeDay }},
	{"orders.risk_zone", func(v *models.OrderView) any { return &v.RiskZone }},
	{"orders.rider_id", func(v *models.OrderView) any { return &v.RiderID }},
	{"orders.proof_photo", func(v *models.OrderView) any { return &v.ProofPhoto }},
	{"orders.proof_captured_at", func(v *models.OrderView) any { return &v.ProofCapturedAt }},
	{"orders.proof_lat", func(v *models.OrderView) any { return &v.ProofLat }},
	{"orders.proof_lng", func(v *models.OrderView) any { return &v.ProofLng }},
	{"orders.cancelled_by", func(v *models.OrderView) any { return &v.CancelledBy }},
	{"orders.cancel_reason", func(v *models.OrderView) any { return &v.CancelReason }},
	{"orders.cancel_note", func(v *models.OrderView) any { return &v.CancelNote }},
	{"orders.auto_cancel_at", func(v *models.OrderView) any { return &v.AutoCancelAt }},
	{"orders.workflow_started_at", func(v *models.OrderView) any { return &v.WorkflowStartedAt }},
	{"orders.created_at", func(v *models.OrderView) any { return &v.CreatedAt }},
	{"orders.received_at", func(v *models.OrderView) any { return &v.ReceivedAt }},
	{"orders.assigned_at", func(v *models.OrderView) any { return &v.AssignedAt }},
	{"orders.delivered_at", func(v *models.OrderView) any { return &v.DeliveredAt }},
	{"orders.cancelled_at", func(v *models.OrderView) any { return &v.CancelledAt }},
	{"orders.updated_at", func(v *models.OrderView) any { return &v.UpdatedAt }},
	{"locations.name AS location_name", func(v *models.OrderView) any { return &v.LocationName }},
	{"riders.name AS rider_name", func(v *models.OrderView) any { return &v.RiderName }},
	{"riders.phone AS rider_phone", func(v *models.OrderView) any { return &v.RiderPhone }},
}

// orderViewSelect is the select list of an OrderView.
var orderViewSelect = columnList(orderViewColumns)

// LATERAL with LIMIT makes the planner use one index lookup per order, even on small tables. The
// SELECT around the arguments hides the array sizes from the planner, which would otherwise replan
// every statement; planning takes longer than execution.
var selectOrders = `
SELECT wanted.n, view.*
FROM unnest((SELECT $1::uuid[]), (SELECT $2::uuid[]), (SELECT $3::uuid[])) WITH ORDINALITY AS wanted (id, operator_id, store_id, n)
CROSS JOIN LATERAL (
	SELECT ` + orderViewSelect + `
	FROM orders ` + orderJoins + `
	WHERE orders.id = wanted.id AND orders.operator_id = wanted.operator_id
		AND (wanted.store_id IS NULL OR orders.store_id = wanted.store_id)
	LIMIT 1
) AS view`

// readOrders reads several orders with one statement. The result is nil where the order does not
// exist or the scope may not see it.
func (d *DB) readOrders(ctx context.Context, lookups []orderLookup) ([]*models.OrderView, error) {
	ids := make([]pgtype.UUID, len(lookups))
	operators := make([]pgtype.UUID, len(lookups))
	stores := make([]pgtype.UUID, len(lookups))
	for i, lookup := range lookups {
		ids[i], operators[i] = pgUUID(&lookup.id), pgUUID(&lookup.scope.OperatorID)
		stores[i] = pgUUID(lookup.scope.StoreID)
	}
	results := make([]*models.OrderView, len(lookups))
	var n int
	var row models.OrderView
	err := d.readRows(ctx, scanTargets(orderViewColumns, &row, &n), func() {
		view := row
		results[n-1] = &view
	}, selectOrders, ids, operators, stores)
	return results, err
}
