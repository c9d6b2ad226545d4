package orders

import (
	"testing"
	"time"

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
		cost, err := (&settings{prices: c.rows, basePrice: c.base}).tariff(payer{}, places, c.size)
		require.Equal(t, c.cost, cost, name)
		if c.err == nil {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, apperror.Unprocessable, apperror.From(err).Kind, name)
	}
}

// What a store has agreed for the covering place comes before that place's own price, and what it
// has agreed as its base price before the base price. Both days belong to it.
func TestTariff_ofAStore(t *testing.T) {
	t.Parallel()
	places := destinationChain()
	district, city := places[1].ID, places[2].ID
	store, other := uuid.New(), uuid.New()
	agreed := func(place *uuid.UUID, cents money.Cents, from, until string) models.StorePrice {
		return models.StorePrice{StoreID: store, LocationID: place, Price: cents, FromDay: from, UntilDay: textOrNull(until)}
	}
	ownCity := map[uuid.UUID]*money.Cents{city: price(1000)}
	for name, c := range map[string]struct {
		rows   map[uuid.UUID]*money.Cents
		agreed []models.StorePrice
		payer  payer
		cost   money.Cents
		source priced
	}{
		"for the place": {ownCity, []models.StorePrice{agreed(&city, 700, "2026-04-01", "")}, payer{&store, "2026-04-15"}, 700,
			priced{ofPlace: true, ofStore: true}},
		"for the place before the base": {ownCity, []models.StorePrice{agreed(nil, 800, "2026-04-01", ""), agreed(&city, 700, "2026-04-01", "")},
			payer{&store, "2026-04-15"}, 700, priced{ofPlace: true, ofStore: true}},
		"the place's own before the store's base": {ownCity, []models.StorePrice{agreed(nil, 800, "2026-04-01", "")},
			payer{&store, "2026-04-15"}, 1000, priced{ofPlace: true}},
		"the store's base before the base": {map[uuid.UUID]*money.Cents{city: nil}, []models.StorePrice{agreed(nil, 800, "2026-04-01", "")},
			payer{&store, "2026-04-15"}, 800, priced{ofStore: true}},
		"a place that does not decide": {map[uuid.UUID]*money.Cents{city: price(1000), district: price(900)},
			[]models.StorePrice{agreed(&city, 700, "2026-04-01", "")}, payer{&store, "2026-04-15"}, 900, priced{ofPlace: true}},
		"a place without a row": {ownCity, []models.StorePrice{agreed(&district, 700, "2026-04-01", "")}, payer{&store, "2026-04-15"}, 1000,
			priced{ofPlace: true}},
		"another store": {ownCity, []models.StorePrice{agreed(&city, 700, "2026-04-01", "")}, payer{&other, "2026-04-15"}, 1000,
			priced{ofPlace: true}},
		"no store": {ownCity, []models.StorePrice{agreed(&city, 700, "2026-04-01", ""), agreed(nil, 800, "2026-04-01", "")},
			payer{nil, "2026-04-15"}, 1000, priced{ofPlace: true}},
		"nothing is a price": {ownCity, []models.StorePrice{agreed(&city, 0, "2026-04-01", "")}, payer{&store, "2026-04-15"}, 0,
			priced{ofPlace: true, ofStore: true}},
		"before its first day": {ownCity, []models.StorePrice{agreed(&city, 700, "2026-04-01", "2026-04-30")}, payer{&store, "2026-03-31"}, 1000,
			priced{ofPlace: true}},
		"on its first day": {ownCity, []models.StorePrice{agreed(&city, 700, "2026-04-01", "2026-04-30")}, payer{&store, "2026-04-01"}, 700,
			priced{ofPlace: true, ofStore: true}},
		"on its last day": {ownCity, []models.StorePrice{agreed(&city, 700, "2026-04-01", "2026-04-30")}, payer{&store, "2026-04-30"}, 700,
			priced{ofPlace: true, ofStore: true}},
		"after its last day": {ownCity, []models.StorePrice{agreed(&city, 700, "2026-04-01", "2026-04-30")}, payer{&store, "2026-05-01"}, 1000,
			priced{ofPlace: true}},
		"one after another": {ownCity, []models.StorePrice{agreed(&city, 700, "2026-04-01", "2026-04-30"), agreed(&city, 600, "2026-05-01", "")},
			payer{&store, "2026-05-01"}, 600, priced{ofPlace: true, ofStore: true}},
	} {
		s := &settings{prices: c.rows, basePrice: price(1200)}
		s.setStorePrices(c.agreed)
		cost, err := s.tariff(c.payer, places, nil)
		require.NoError(t, err, name)
		require.Equal(t, c.cost, cost, name)
		place, _ := s.coveringLocation(places)
		found := s.priceOf(c.payer, place.ID)
		found.price = nil
		require.Equal(t, c.source, found, name)
	}
}

// A store may have a price where nobody else has one; the surcharge of the size is added.
func TestTariff_onlyOfAStore(t *testing.T) {
	t.Parallel()
	places, store := destinationChain(), uuid.New()
	s := &settings{prices: map[uuid.UUID]*money.Cents{places[2].ID: nil}}
	s.setStorePrices([]models.StorePrice{{StoreID: store, Price: 800, FromDay: "2026-04-01"}})
	cost, err := s.tariff(payer{&store, "2026-04-01"}, places, &models.Size{Surcharge: 550})
	require.NoError(t, err)
	require.EqualValues(t, 1350, cost)
	_, err = s.tariff(payer{nil, "2026-04-01"}, places, nil)
	require.ErrorIs(t, err, ErrNoTariff)
	require.True(t, s.somebodyPays(places[2].ID, "2026-04-01"))
	require.False(t, s.somebodyPays(places[2].ID, "2026-03-31"))
}

// The day of a price is the operator's, not the machine's.
func TestPayerAt_timeZone(t *testing.T) {
	t.Parallel()
	store, at := uuid.New(), time.Date(2026, time.April, 1, 3, 0, 0, 0, time.UTC)
	for zone, day := range map[string]string{"America/Lima": "2026-03-31", "UTC": "2026-04-01", "Asia/Tokyo": "2026-04-01"} {
		require.Equal(t, payer{&store, day}, payerAt(&store, &models.Operator{Timezone: zone}, at), zone)
	}
	require.Equal(t, "2026-04-02", payerAt(nil, &models.Operator{Timezone: "Asia/Tokyo"}, at.Add(12*time.Hour)).day)
}

// The size of an order prices it although it is not offered any more.
func TestSizeOf(t *testing.T) {
	t.Parallel()
	s := &settings{}
	s.setSizes([]models.Size{
		{Code: "M", IsDefault: true, Active: true, Surcharge: 100}, {Code: "L", Active: true, Surcharge: 550}, {Code: "XL", Surcharge: 900},
	})
	require.Equal(t, "M", sizeCode(s.sizeFor(textOrNull("XL"))), "no new order gets it")
	for code, want := range map[string]string{"M": "M", "L": "L", "XL": "XL", "": "", "otro": "M"} {
		require.Equal(t, want, sizeCode(s.sizeOf(&models.Order{Size: code})), code)
	}
}

// Contract 2.2, rule 5: a zone is a location with everything below it, words in the address, or
// both.
func TestRiskZone(t *testing.T) {
	t.Parallel()
	places := destinationChain()
	district, elsewhere := places[1].ID, uuid.New()
	for name, c := range map[string]struct {
		zone    models.RiskZone
		address string
		risky   bool
	}{
		"the whole place":                  {models.RiskZone{LocationID: &district}, "Av. Sol 1", true},
		"another place":                    {models.RiskZone{LocationID: &elsewhere}, "Av. Sol 1", false},
		"words everywhere":                 {models.RiskZone{Words: "huascar"}, "Jr. Huáscar 123", true},
		"words in capitals, with accents":  {models.RiskZone{Words: "HUÁSCAR"}, "jr. huascar 123", true},
		"words in the place":               {models.RiskZone{LocationID: &district, Words: "huascar"}, "Jr. Huáscar 123", true},
		"words in another place":           {models.RiskZone{LocationID: &elsewhere, Words: "huascar"}, "Jr. Huáscar 123", false},
		"other words in the place":         {models.RiskZone{LocationID: &district, Words: "huascar"}, "Av. Sol 1", false},
		"any of several expressions":       {models.RiskZone{Words: "huascar\nparadero 10"}, "Paradero 10, lote 5", true},
		"an expression as a whole":         {models.RiskZone{Words: "paradero 10"}, "Paradero 100", false},
		"words apart are no expression":    {models.RiskZone{Words: "paradero 10"}, "Paradero 5, lote 10", false},
		"punctuation does not part it":     {models.RiskZone{Words: "paradero 10"}, "(paradero-10)", true},
		"at the end of the address":        {models.RiskZone{Words: "sol"}, "Av. Sol", true},
		"part of a word":                   {models.RiskZone{Words: "sol"}, "Av. Soledad", false},
		"expressions that say nothing":     {models.RiskZone{Words: " \n--\n"}, "Av. Sol 1", false},
		"lines ended as Windows does":      {models.RiskZone{Words: "huascar\r\nsol\r\n"}, "Av. Sol 1", true},
		"an address of punctuation marks":  {models.RiskZone{Words: "sol"}, "...", false},
		"the ñ of an address written as n": {models.RiskZone{Words: "breña"}, "Brena", true},
	} {
		c.zone.Name = name
		found := (&settings{riskZones: []models.RiskZone{c.zone}}).riskZone(places, c.address)
		require.Equal(t, c.risky, found != nil, name)
		if found != nil {
			require.Contains(t, riskWarning(found), name)
		}
	}
}

// A quote gives the price of each size by the same rule as an order, and the location that decides.
func TestQuote(t *testing.T) {
	t.Parallel()
	places := destinationChain()
	district, city := places[1], places[2]
	sizes := map[string]models.Size{"XL": {Code: "XL", Surcharge: money.Max}, "L": {Code: "L", Surcharge: 550}, "S": {Code: "S"}}
	s := &settings{basePrice: price(1200), sizes: sizes, prices: map[uuid.UUID]*money.Cents{city.ID: price(1000), district.ID: nil}}

	quote, err := s.quote(payer{}, places)
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

	quote, err = s.quote(payer{}, places[2:])
	require.NoError(t, err)
	require.True(t, quote.OwnPrice)
	require.EqualValues(t, 1000, quote.Prices[0].Price)

	quote, err = (&settings{prices: s.prices}).quote(payer{}, places)
	require.NoError(t, err)
	require.Equal(t, []SizePrice{{NoTariff: true}}, quote.Prices, "no size, no base price")

	_, err = s.quote(payer{}, places[3:])
	require.ErrorIs(t, err, ErrNotCovered)
}

func TestReceivingBranch(t *testing.T) {
	t.Parallel()
	main, other := models.Branch{ID: uuid.New(), Main: true, Active: true}, models.Branch{ID: uuid.New(), Active: true}
	s := &settings{branches: map[uuid.UUID]models.Branch{main.ID: main, other.ID: other}, mainBranch: &main}
	branch, err := s.receivingBranch(nil)
	require.NoError(t, err)
	require.Equal(t, main.ID, branch.ID, "if absent, the main branch")
	branch, err = s.receivingBranch(&other.ID)
	require.NoError(t, err)
	require.Equal(t, other.ID, branch.ID)

	_, err = (&settings{}).receivingBranch(nil)
	require.Equal(t, "no_main_branch", apperror.From(err).Code, "an operator that is not set up yet")
}

// Contract 6.3.4: a store's webhook gets that store's events, the operator's gets all events. A
// webhook of test mode gets the events of test orders, and no other does.
func TestSubscribed(t *testing.T) {
	t.Parallel()
	storeA, storeB := uuid.New(), uuid.New()
	events := models.JoinEvents([]models.Event{models.EventCreated, models.EventDelivered})
	operators := models.Webhook{ID: uuid.New(), Events: events, Active: true}
	ofA := models.Webhook{ID: uuid.New(), Events: events, Active: true, StoreID: &storeA}
	over := models.Webhook{ID: uuid.New(), Events: events}
	ofTests := models.Webhook{ID: uuid.New(), Events: events, Active: true, Test: true}
	s := &settings{webhooks: []models.Webhook{operators, ofA, over, ofTests}}
	for name, c := range map[string]struct {
		event models.Event
		order models.Order
		want  []models.Webhook
	}{
		"the store's order":      {models.EventCreated, models.Order{StoreID: &storeA}, []models.Webhook{operators, ofA}},
		"another store's":        {models.EventCreated, models.Order{StoreID: &storeB}, []models.Webhook{operators}},
		"the operator's own":     {models.EventCreated, models.Order{}, []models.Webhook{operators}},
		"not subscribed to that": {models.EventAssigned, models.Order{StoreID: &storeA}, []models.Webhook{}},
		"a test order":           {models.EventCreated, models.Order{StoreID: &storeA, Test: true}, []models.Webhook{ofTests}},
	} {
		require.Equal(t, c.want, subscribed(s.webhooks, c.event, &c.order), name)
	}
	require.Len(t, s.webhooks, 4, "asking changes nothing")
}
