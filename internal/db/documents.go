package db

import (
	"context"

	"github.com/google/uuid"

	"despacho/models"
)

// OrdersWithPlainDocument reads, oldest first, the orders whose document number is not encrypted,
// and those that were erased by a release that does not know the encrypted one. The condition is
// that of the index orders_documents_to_encrypt.
func (d *DB) OrdersWithPlainDocument(ctx context.Context, limit int) ([]models.Order, error) {
	var orders []models.Order
	err := d.with(ctx).Select("id", "recipient_doc_number", "recipient_doc_encrypted", "erased_at").
		Where("recipient_doc_number IS NOT NULL OR (recipient_doc_encrypted IS NOT NULL AND erased_at IS NOT NULL)").
		Order("created_at, id").Limit(limit).Find(&orders).Error
	return orders, err
}

// OrdersWithEncryptedDocument reads, by id, the orders after an id whose document number is
// encrypted.
func (d *DB) OrdersWithEncryptedDocument(ctx context.Context, after uuid.UUID, limit int) ([]models.Order, error) {
	var orders []models.Order
	err := d.with(ctx).Select("id", "recipient_doc_number", "recipient_doc_encrypted").
		Where("id > ? AND recipient_doc_encrypted IS NOT NULL", after).Order("id").Limit(limit).Find(&orders).Error
	return orders, err
}

// ReplaceDocument stores the encrypted document number, or none, and removes the one in clear,
// unless either was changed since the order was read.
func (d *DB) ReplaceDocument(ctx context.Context, read *models.Order, encrypted []byte) (replaced bool, err error) {
	result := d.with(ctx).Model(&models.Order{}).
		Where("id = ? AND recipient_doc_number IS NOT DISTINCT FROM ? AND recipient_doc_encrypted IS NOT DISTINCT FROM ?",
			read.ID, read.RecipientDocNumber, read.RecipientDocEncrypted).
		UpdateColumns(map[string]any{"recipient_doc_number": nil, "recipient_doc_encrypted": encrypted})
	return result.RowsAffected == 1, result.Error
}
