package orders

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/models"
)

// SaveLedger writes what a change of an order changes in the ledger, in the transaction that writes
// the order. The timeline entry says who changed it and when.
func SaveLedger(
	ctx context.Context, tx *db.DB, operator *models.Operator, before, after *models.Order, cause *models.TimelineEntry,
) error {
	entries := models.LedgerChange(before, after)
	for i := range entries {
		entry := &entries[i]
		entry.OperatorID, entry.SourceID, entry.UserID, entry.At = after.OperatorID, &cause.ID, cause.UserID, after.UpdatedAt
		entry.Day = operativeDay(after.UpdatedAt, operator)
		// A phone without a network tells of a delivery later.
		if !entry.Reversal && after.DeliveredAt != nil && (entry.Kind == models.LedgerDelivery || entry.Kind == models.LedgerShipping) {
			entry.Day = operativeDay(*after.DeliveredAt, operator)
		}
	}
	return tx.InsertLedgerEntries(ctx, entries...)
}

// isHandedIn reports whether money that was collected for an order has been handed in.
func isHandedIn(ctx context.Context, database *db.DB, orderID uuid.UUID) (bool, error) {
	var found int64
	err := database.Query(ctx).Model(&models.Posting{}).Joins("JOIN ledger_entries ON ledger_entries.id = ledger_postings.entry_id").
		Where("ledger_postings.order_id = ? AND ledger_entries.kind = ?", orderID, models.LedgerHandIn).Count(&found).Error
	return found > 0, err
}
