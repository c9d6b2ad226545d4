package models

import (
	"time"

	"github.com/google/uuid"

	"despacho/internal/money"
)

// StorePrice is what a store has agreed to pay, on some days, instead of the price of a coverage
// row or of the base price.
type StorePrice struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	StoreID    uuid.UUID
	// LocationID is that of the coverage row; nil is the base price.
	LocationID *uuid.UUID
	Price      money.Cents `gorm:"column:price_cents"`
	// FromDay and UntilDay are dates YYYY-MM-DD in the operator's time zone, both included; a nil
	// UntilDay is open.
	FromDay   string
	UntilDay  *string
	CreatedAt time.Time
}

// HoldsOn reports whether the price is that of a day.
func (p *StorePrice) HoldsOn(day string) bool { return p.FromDay <= day && !p.EndsBefore(day) }

// EndsBefore reports whether the price is over on a day.
func (p *StorePrice) EndsBefore(day string) bool { return p.UntilDay != nil && *p.UntilDay < day }

// Overlaps reports whether both are prices of the same on some day.
func (p *StorePrice) Overlaps(other *StorePrice) bool {
	if p.StoreID != other.StoreID || (p.LocationID == nil) != (other.LocationID == nil) ||
		p.LocationID != nil && *p.LocationID != *other.LocationID {
		return false
	}
	return !p.EndsBefore(other.FromDay) && !other.EndsBefore(p.FromDay)
}
