package orders

import (
	"fmt"

	"github.com/google/uuid"

	"despacho/models"
)

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
