package orders

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/models"
)

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
	// Moves are the timeline's state changes, oldest first, without its other entries.
	Moves []models.TimelineEntry `gorm:"-"`
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
func (s *Service) Track(ctx context.Context, guideCode string) (*Tracked, error) {
	var tracked Tracked
	err := s.db.Query(ctx).Table("orders").
		Select("orders.id, orders.guide_code, orders.status, orders.product, operators.name AS operator_name, operators.logo_url, operators.logo_photo, operators.timezone, "+
			"stores.name AS store_name, stores.contact_phone AS store_phone, stores.contact_whatsapp AS store_whatsapp, stores.contact_email AS store_email, "+
			"orders.proof_photo, operators.share_proof_photo, orders.amount_to_collect_cents, orders.currency, orders.test").
		Joins("JOIN operators ON operators.id = orders.operator_id").Joins("LEFT JOIN stores ON stores.id = orders.store_id").
		Where("orders.guide_code = ?", guideCode).Take(&tracked).Error
	if db.IsNotFound(err) {
		return nil, ErrOrderNotFound
	}
	if err == nil {
		tracked.Moves, err = readMoves(ctx, s.db, tracked.ID)
	}
	return &tracked, err
}
