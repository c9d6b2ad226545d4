package orders

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/google/uuid"

	"despacho/catalog"
	"despacho/internal/money"
	"despacho/models"
)

// Quote is what an operator charges to send to a place, and why.
type Quote struct {
	// Through is the covered place that decides: the destination itself or the nearest around it.
	Through catalog.Location
	// OwnPrice is false where the base price counts.
	OwnPrice bool
	// Prices has one element for each active size, from the cheapest, or one without a size where
	// there are none.
	Prices []SizePrice
}

// SizePrice is what a package of a size costs; Size is nil for an operator that has none.
type SizePrice struct {
	Size  *models.Size
	Price money.Cents
	// NoTariff says that orders of the size are refused.
	NoTariff bool
}

// Quote says what an order to a place would cost now. It is ErrNotCovered where no order can go.
func (s *Service) Quote(ctx context.Context, operator *models.Operator, locationID uuid.UUID) (*Quote, error) {
	destination, err := s.destination(ctx, locationID)
	if err != nil {
		return nil, err
	}
	settings, err := s.settings.get(ctx, operator)
	if err != nil {
		return nil, err
	}
	return settings.quote(destination, operator.BasePrice)
}

func (s *settings) quote(destination []catalog.Location, basePrice *money.Cents) (*Quote, error) {
	through, covered := s.coveringLocation(destination)
	if !covered {
		return nil, ErrNotCovered
	}
	quote := &Quote{Through: through, OwnPrice: s.prices[through.ID] != nil}
	sizes := []*models.Size{nil}
	if len(s.sizes) > 0 {
		sizes = nil
		for _, size := range slices.SortedFunc(maps.Values(s.sizes), models.CompareSizes) {
			sizes = append(sizes, &size)
		}
	}
	for _, size := range sizes {
		price, err := s.tariff(destination, size, basePrice)
		if err != nil && !errors.Is(err, ErrNoTariff) {
			return nil, err
		}
		quote.Prices = append(quote.Prices, SizePrice{Size: size, Price: price, NoTariff: err != nil})
	}
	return quote, nil
}
