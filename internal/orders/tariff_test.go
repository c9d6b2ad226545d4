package orders

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/apperror"
	"despacho/internal/catalog"
	"despacho/internal/money"
	"despacho/models"
)

func price(cents money.Cents) *money.Cents { return &cents }

// destinationChain is a zone with its district, city and country, nearest first.
func destinationChain() []catalog.Location {
	return []catalog.Location{
		{ID: uuid.New(), Type: catalog.TypeZone}, {ID: uuid.New(), Type: catalog.TypeDistrict},
		{ID: uuid.New(), Type: catalog.TypeCity}, {ID: uuid.New(), Type: catalog.TypeCountry},
	}
}

// Contract 2.2, rule 4: the nearest ancestor's row decides; its price, else the base price, plus
// the size's surcharge.
func TestTariff(t *testing.T) {
	t.Parallel()
	places := destinationChain()
	zone, district, city, country := places[0].ID, places[1].ID, places[2].ID, places[3].ID
	large := &models.Size{Code: "L", Surcharge: 550}
	for name, c := range map[string]struct {
		rows map[uuid.UUID]*money.Cents
		size *models.Size
		base *money.Cents
		cost money.Cents
		err  error
	}{
		"nothing covered":                    {nil, nil, price(1200), 0, ErrNotCovered},
		"a row elsewhere":                    {map[uuid.UUID]*money.Cents{uuid.New(): price(900)}, nil, price(1200), 0, ErrNotCovered},
		"by its country":                     {map[uuid.UUID]*money.Cents{country: nil}, nil, price(1200), 1200, nil},
		"by its city, own price":             {map[uuid.UUID]*money.Cents{city: price(1000)}, nil, price(1200), 1000, nil},
		"the district is nearer":             {map[uuid.UUID]*money.Cents{city: price(1000), district: price(900)}, nil, price(1200), 900, nil},
		"the zone is nearest":                {map[uuid.UUID]*money.Cents{country: price(1), district: price(900), zone: price(2050)}, nil, nil, 2050, nil},
		"the nearest has no price":           {map[uuid.UUID]*money.Cents{city: price(1000), district: nil}, nil, price(1200), 1200, nil},
		"the nearest has none, nor the base": {map[uuid.UUID]*money.Cents{city: price(1000), district: nil}, nil, nil, 0, ErrNoTariff},
		"a price of zero is a price":         {map[uuid.UUID]*money.Cents{city: price(0)}, nil, price(1200), 0, nil},
		"a surcharge":                        {map[uuid.UUID]*money.Cents{city: price(1000)}, large, nil, 1550, nil},
		"a surcharge on the base price":      {map[uuid.UUID]*money.Cents{city: nil}, large, price(1200), 1750, nil},
		"more than an amount can be":         {map[uuid.UUID]*money.Cents{city: price(money.Max)}, large, nil, 0, ErrNoTariff},
	} {
		cost, err := (&settings{prices: c.rows, basePrice: c.base}).tariff(places, c.size)
		require.Equal(t, c.cost, cost, name)
		if c.err == nil {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, apperror.Unprocessable, apperror.From(err).Kind, name)
	}
}

// size: if absent or unknown, the operator's default; an operator may have none.
func TestSizeFor(t *testing.T) {
	t.Parallel()
	medium, large := models.Size{Code: "M", IsDefault: true}, models.Size{Code: "L"}
	s := &settings{sizes: map[string]models.Size{"M": medium, "L": large}, defaultSize: &medium}
	code := func(text string) *string { return &text }
	require.Equal(t, "M", sizeCode(s.sizeFor(nil)))
	require.Equal(t, "L", sizeCode(s.sizeFor(code("L"))))
	require.Equal(t, "M", sizeCode(s.sizeFor(code("l"))))
	require.Equal(t, "M", sizeCode(s.sizeFor(code("XXL"))))
	require.Equal(t, "", sizeCode((&settings{}).sizeFor(code("L"))))
}

// The size of an order prices it although it is not offered any more.
func TestSizeOf(t *testing.T) {
	t.Parallel()
	s := newSettings(&settingsRows{Sizes: []models.Size{
		{Code: "M", IsDefault: true, Active: true, Surcharge: 100}, {Code: "L", Active: true, Surcharge: 550}, {Code: "XL", Surcharge: 900},
	}})
	require.Equal(t, "M", sizeCode(s.sizeFor(textOrNull("XL"))), "no new order gets it")
	for code, want := range map[string]string{"M": "M", "L": "L", "XL": "XL", "": "", "otro": "M"} {
		require.Equal(t, want, sizeCode(s.sizeOf(&models.Order{Size: code})), code)
	}
}
