package orders

import (
	"despacho/internal/catalog"
	"despacho/internal/money"
	"despacho/models"
)

// tariff is the price for a size to a destination, given with its ancestors, nearest first. The
// nearest one with a coverage row decides; without its own price the base price applies.
func (s *settings) tariff(destination []catalog.Location, size *models.Size) (money.Cents, error) {
	place, covered := s.coveringLocation(destination)
	if !covered {
		return 0, ErrNotCovered
	}
	price := s.prices[place.ID]
	if price == nil {
		price = s.basePrice
	}
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
