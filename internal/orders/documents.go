package orders

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"despacho/internal/encryption"
	"despacho/models"
)

// reencryptBatch is how many encrypted document numbers are read at once.
const reencryptBatch = 500

// DocumentContext returns what an encrypted document number is bound to.
func DocumentContext(orderID uuid.UUID) []byte {
	return append([]byte("document of order "), orderID[:]...)
}

// encryptDocument moves the document number of an order that is not written yet to
// RecipientDocEncrypted.
func (s *Service) encryptDocument(o *models.Order) {
	if o.RecipientDocNumber == nil {
		return
	}
	o.RecipientDocEncrypted = s.options.Secrets.Seal([]byte(*o.RecipientDocNumber), DocumentContext(o.ID))
	o.RecipientDocNumber = nil
}

// Document returns the number of the recipient's document, or nil.
func (s *Service) Document(o *models.Order) (*string, error) {
	if o.RecipientDocEncrypted == nil {
		return o.RecipientDocNumber, nil
	}
	number, err := s.options.Secrets.Open(o.RecipientDocEncrypted, DocumentContext(o.ID))
	if err != nil {
		return nil, fmt.Errorf("document of order %s: %w", o.ID, err)
	}
	text := string(number)
	return &text, nil
}

// shownDocument is Document for a view. An order whose document cannot be decrypted is shown
// without it, because it still has to be delivered; the log names the order.
func (s *Service) shownDocument(o *models.Order) *string {
	number, err := s.Document(o)
	if err != nil {
		s.log.Error("document number not decrypted: is its key in SECRET_KEY or SECRET_KEY_OLD?", "order_id", o.ID, "error", err)
	}
	return number
}

// ReencryptDocuments encrypts all document numbers with the current SECRET_KEY, and returns how
// many changed. Each order is changed alone: an interrupted run is simply repeated. A number that
// no key opens is left as it is and reported at the end, as encryption.ErrOpen.
func (s *Service) ReencryptDocuments(ctx context.Context) (changed int, err error) {
	var unreadable encryption.Unreadable
	var after uuid.UUID
	for {
		var rows []models.Order
		err := s.db.Query(ctx).Select("id", "recipient_doc_encrypted").Where("id > ? AND recipient_doc_encrypted IS NOT NULL",
			after).
			Order("id").Limit(reencryptBatch).Find(&rows).Error
		if err != nil {
			return changed, err
		}
		if len(rows) == 0 {
			return changed, unreadable.Err()
		}
		for i := range rows {
			after = rows[i].ID
			resealed, isNew, err := s.options.Secrets.Reseal(rows[i].RecipientDocEncrypted, DocumentContext(after))
			if err != nil {
				if err = fmt.Errorf("document of order %s: %w", after, err); !unreadable.Add(err) {
					return changed, err
				}
			}
			if !isNew {
				continue
			}
			// A number that was changed since it was read stays as it is.
			replaced := s.db.Query(ctx).Model(&models.Order{}).
				Where("id = ? AND recipient_doc_encrypted = ?", after, rows[i].RecipientDocEncrypted).
				UpdateColumn("recipient_doc_encrypted", resealed)
			if replaced.Error != nil {
				return changed, replaced.Error
			}
			changed += int(replaced.RowsAffected)
		}
	}
}
