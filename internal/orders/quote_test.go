package orders

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/money"
	"despacho/models"
)

// A quote gives the price of each size by the same rule as an order, and the location that decides.
func TestQuote(t *testing.T) {
	t.Parallel()
	places := destinationChain()
	district, city := places[1], places[2]
	sizes := map[string]models.Size{"XL": {Code: "XL", Surcharge: money.Max}, "L": {Code: "L", Surcharge: 550}, "S": {Code: "S"}}
	s := &settings{basePrice: price(1200), sizes: sizes, prices: map[uuid.UUID]*money.Cents{city.ID: price(1000), district.ID: nil}}

	quote, err := s.quote(places)
	require.NoError(t, err)
	require.Equal(t, district, quote.CoveredBy, "the nearest row decides")
	require.False(t, quote.OwnPrice)
	var codes []string
	for _, each := range quote.Prices {
		codes = append(codes, each.Size.Code)
	}
	require.Equal(t, []string{"S", "L", "XL"}, codes)
	require.Equal(t, []money.Cents{1200, 1750}, []money.Cents{quote.Prices[0].Price, quote.Prices[1].Price})
	require.True(t, quote.Prices[2].NoTariff, "more than an amount can be")

	quote, err = s.quote(places[2:])
	require.NoError(t, err)
	require.True(t, quote.OwnPrice)
	require.EqualValues(t, 1000, quote.Prices[0].Price)

	quote, err = (&settings{prices: s.prices}).quote(places)
	require.NoError(t, err)
	require.Equal(t, []SizePrice{{NoTariff: true}}, quote.Prices, "no size, no base price")

	_, err = s.quote(places[3:])
	require.ErrorIs(t, err, ErrNotCovered)
}
