package db

import (
	"context"

	"github.com/google/uuid"

	"despacho/models"
)

// OrdersWithEncryptedDocument reads, by id, the orders after an id whose document number is
// encrypted.
func (d *DB) OrdersWithEncryptedDocument(ctx context.Context, after uuid.UUID, limit int) ([]models.Order, error) {
	var orders []models.Order
	err := d.with(ctx).Select("id", "recipient_doc_encrypted").
		Where("id > ? AND recipient_doc_encrypted IS NOT NULL", after).Order("id").Limit(limit).Find(&orders).Error
	return orders, err
}

// ReplaceDocument stores the document number encrypted anew, unless it was changed since the order
// was read.
func (d *DB) ReplaceDocument(ctx context.Context, read *models.Order, encrypted []byte) (replaced bool, err error) {
	result := d.with(ctx).Model(&models.Order{}).Where("id = ? AND recipient_doc_encrypted = ?", read.ID, read.RecipientDocEncrypted).
		UpdateColumn("recipient_doc_encrypted", encrypted)
	return result.RowsAffected == 1, result.Error
}
