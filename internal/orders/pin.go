package orders

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"despacho/models"
)

// PINLength is the number of digits of a delivery PIN.
const PINLength = 6

// DeliveryPIN is the number that a recipient sees on the page of the package and tells the rider,
// and whether this order needs it: its amount is as high as the operator's rule says, and it is
// with a rider. It is derived from the order and the service's secret, and stored nowhere.
func (s *Service) DeliveryPIN(order *models.Order, rules models.Rules) (pin string, needed bool) {
	if order.Status != models.StatusAssigned || rules.PINOver == nil || order.AmountToCollect < *rules.PINOver {
		return "", false
	}
	hash := hmac.New(sha256.New, []byte(s.options.UpdateIDSecret))
	hash.Write([]byte("delivery pin\n"))
	hash.Write(order.ID[:])
	return fmt.Sprintf("%0*d", PINLength, binary.BigEndian.Uint64(hash.Sum(nil))%1_000_000), true
}
