package orders

import (
	"time"

	"github.com/google/uuid"

	"despacho/internal/catalog"
	"despacho/internal/money"
	"despacho/models"
)

// payer is who a tariff is for and on which day of the operator.
type payer struct {
	// storeID is nil for the operator's own orders.
	storeID *uuid.UUID
	day     string
}

// payerAt is a store, or nil, at a time.
func payerAt(storeID *uuid.UUID, operator *models.Operator, at time.Time) payer {
	return payer{storeID, operativeDay(at, operator)}
}

// tariff is the price for a size to a destination, given with its ancestors, nearest first. The
// nearest one with a coverage row decides.
func (s *settings) tariff(payer payer, destination []catalog.Location, size *models.Size) (money.Cents, error) {
	place, covered := s.coveringLocation(destination)
	if !covered {
		return 0, ErrNotCovered
	}
	price := s.priceOf(payer, place.ID).price
	if price == nil {
		return 0, ErrNoTariff
	}
	total := *price
	if size != nil {
		total += size.Surcharge
	}
	if total > money.Max {
		return 0, ErrNoTariff
	}
	return total, nil
}

// priced is a price, nil for none, and what it is: that of the place or the base price, agreed with
// the store or the operator's for everybody.
type priced struct {
	price            *money.Cents
	ofPlace, ofStore bool
}

// priceOf is the price of a location with a coverage row, without the surcharge of a size: what the
// store has agreed for the place, the place's own, what the store has agreed as its base price, and
// the base price, in this order.
func (s *settings) priceOf(payer payer, place uuid.UUID) priced {
	if price := s.agreed(payer, place); price != nil {
		return priced{price, true, true}
	}
	if price := s.prices[place]; price != nil {
		return priced{price, true, false}
	}
	if price := s.agreed(payer, uuid.Nil); price != nil {
		return priced{price, false, true}
	}
	return priced{s.basePrice, false, false}
}

// agreed is what a store has agreed to pay for a place on the day, with uuid.Nil as its base price;
// nil for nothing.
func (s *settings) agreed(payer payer, place uuid.UUID) *money.Cents {
	if payer.storeID == nil {
		return nil
	}
	return priceOn(payer.day, s.storePrices[place][*payer.storeID])
}

// somebodyPays reports whether any store has a price for a location with a coverage row on a day.
func (s *settings) somebodyPays(place uuid.UUID, day string) bool {
	for _, location := range []uuid.UUID{place, uuid.Nil} {
		for _, prices := range s.storePrices[location] {
			if priceOn(day, prices) != nil {
				return true
			}
		}
	}
	return false
}

func priceOn(day string, prices []models.StorePrice) *money.Cents {
	for i := range prices {
		if prices[i].HoldsOn(day) {
			return &prices[i].Price
		}
	}
	return nil
}

// coveringLocation is the destination or its nearest ancestor with a coverage row.
func (s *settings) coveringLocation(destination []catalog.Location) (place catalog.Location, covered bool) {
	for _, place := range destination {
		if _, covered := s.prices[place.ID]; covered {
			return place, true
		}
	}
	return catalog.Location{}, false
}

// sizeFor is the operator's size with the code, or its default.
func (s *settings) sizeFor(code *string) *models.Size {
	if code != nil {
		if size, known := s.sizes[*code]; known {
			return &size
		}
	}
	return s.defaultSize
}

// sizeOf is the size that an order has: also one that is not offered any more, and none for an
// order without a size. A code that was changed since is unknown, as in a creation.
func (s *settings) sizeOf(order *models.Order) *models.Size {
	if order.Size == "" {
		return nil
	}
	if size, past := s.inactiveSizes[order.Size]; past {
		return &size
	}
	return s.sizeFor(&order.Size)
}

func sizeCode(size *models.Size) string {
	if size == nil {
		return ""
	}
	return size.Code
}
