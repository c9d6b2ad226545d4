package orders

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/google/uuid"

	"despacho/internal/catalog"
	"despacho/internal/money"
	"despacho/models"
)

// Quote is the price of sending to a location.
type Quote struct {
	// CoveredBy is the location whose coverage row applies: the destination or its nearest covered
	// ancestor.
	CoveredBy catalog.Location
	// OwnPrice is false if the base price applies. OfStore means that the store has agreed it.
	OwnPrice, OfStore bool
	// Prices has one element per active size, in ascending order, or a single one without a size.
	Prices []SizePrice
}

// SizePrice is the price for a size; Size is nil for an operator without sizes.
type SizePrice struct {
	Size  *models.Size
	Price money.Cents
	// NoTariff means that orders of the size are refused.
	NoTariff bool
}

// Quote returns the current price of an order of a store, or of the operator itself, to a location,
// or ErrNotCovered.
func (s *Service) Quote(
	ctx context.Context, operator *models.Operator, storeID *uuid.UUID, locationID uuid.UUID,
) (*Quote, error) {
	destination, err := s.destination(ctx, locationID)
	if err != nil {
		return nil, err
	}
	settings, err := s.settings.get(ctx, operator)
	if err != nil {
		return nil, err
	}
	return settings.quote(payerAt(storeID, operator, s.clock.Now()), destination)
}

func (s *settings) quote(payer payer, destination []catalog.Location) (*Quote, error) {
	through, covered := s.coveringLocation(destination)
	if !covered {
		return nil, ErrNotCovered
	}
	price := s.priceOf(payer, through.ID)
	quote := &Quote{CoveredBy: through, OwnPrice: price.ofPlace, OfStore: price.ofStore}
	sizes := []*models.Size{nil}
	if len(s.sizes) > 0 {
		sizes = nil
		for _, size := range slices.SortedFunc(maps.Values(s.sizes), models.CompareSizes) {
			sizes = append(sizes, &size)
		}
	}
	for _, size := range sizes {
		price, err := s.tariff(payer, destination, size)
		if err != nil && !errors.Is(err, ErrNoTariff) {
			return nil, err
		}
		quote.Prices = append(quote.Prices, SizePrice{Size: size, Price: price, NoTariff: err != nil})
	}
	return quote, nil
}

// Estimate is what one order would cost.
type Estimate struct {
	Price money.Cents
	// Warning is the risk zone warning, or empty.
	Warning string
}

// Estimated is the order that an estimate is about: of a store, or nil, of a size, empty for the
// default, to an address in a location.
type Estimated struct {
	StoreID       *uuid.UUID
	LocationID    uuid.UUID
	Size, Address string
}

// Estimate returns the price of an order as a creation would set it; like a creation it may return
// ErrNotCovered or ErrNoTariff.
func (s *Service) Estimate(ctx context.Context, operator *models.Operator, order Estimated) (*Estimate, error) {
	destination, err := s.destination(ctx, order.LocationID)
	if err != nil {
		return nil, err
	}
	settings, err := s.settings.get(ctx, operator)
	if err != nil {
		return nil, err
	}
	estimate := &Estimate{}
	payer := payerAt(order.StoreID, operator, s.clock.Now())
	if estimate.Price, err = settings.tariff(payer, destination, settings.sizeFor(&order.Size)); err != nil {
		return nil, err
	}
	if zone := settings.riskZone(destination, order.Address); zone != nil {
		estimate.Warning = riskWarning(zone)
	}
	return estimate, nil
}
