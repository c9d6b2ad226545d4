package orders

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/jsonbody"
	"despacho/models"
)

var (
	ownBranch            = uuid.New()
	openStore, shutStore = uuid.New(), uuid.New()
)

// peruvianCaller is a caller of an operator in Peru, optionally restricted to a store.
func peruvianCaller(store *uuid.UUID) Caller {
	return Caller{Operator: &models.Operator{ID: uuid.New(), CountryCode: "PE", Timezone: "America/Lima"}, StoreID: store}
}

func knownSettings() *settings {
	return &settings{
		branches: map[uuid.UUID]models.Branch{ownBranch: {ID: ownBranch, Active: true}},
		stores:   map[uuid.UUID]models.Store{openStore: {ID: openStore, Active: true}, shutStore: {ID: shutStore}},
	}
}

// read reads a complete creation request with additional members and, if given, another phone.
func read(t *testing.T, caller Caller, more string, phone ...string) (*newOrder, error) {
	t.Helper()
	phone = append(phone, "987654321")
	in, err := jsonbody.Parse([]byte(`{"recipient_name":"Rosa","recipient_phone":"` + phone[0] + `","delivery_address":"Av. Larco 345",
		"location_id":"54c51d2b-049b-53b9-93ac-fa910f68ea0d","product":"Zapatillas"` + more + `}`))
	require.NoError(t, err)
	return readNewOrder(in, caller, knownSettings())
}

func TestReadNewOrder_defaults(t *testing.T) {
	t.Parallel()
	order, err := read(t, peruvianCaller(nil), "")
	require.NoError(t, err)
	require.Equal(t, &newOrder{Order: models.Order{
		RecipientName: "Rosa", RecipientPhone: "+51987654321", DeliveryAddress: "Av. Larco 345", Product: "Zapatillas",
		LocationID:   uuid.MustParse("54c51d2b-049b-53b9-93ac-fa910f68ea0d"),
		DeliveryType: models.DeliveryHome, PaymentType: models.DeliveryOnly,
	}}, order)
}

// A DNI that is not eight digits is not verified; other documents have no result.
func TestInitialDNIVerified(t *testing.T) {
	t.Parallel()
	no := false
	for more, want := range map[string]*bool{
		``:                            nil,
		`,"recipient_doc_type":"dni"`: nil,
		`,"recipient_doc_type":"dni","recipient_doc_number":"12345678"`:   nil,
		`,"recipient_doc_type":"dni","recipient_doc_number":" 12345678 "`: nil,
		`,"recipient_doc_type":"dni","recipient_doc_number":"1234567"`:    &no,
		`,"recipient_doc_type":"dni","recipient_doc_number":"1234567a"`:   &no,
		`,"recipient_doc_type":"dni","recipient_doc_number":"１２３４５６７８"`:   &no,
		`,"recipient_doc_type":"ce","recipient_doc_number":"1"`:           nil,
		`,"recipient_doc_number":"1"`:                                     nil,
	} {
		order, err := read(t, peruvianCaller(nil), more)
		require.NoError(t, err, more)
		require.Equal(t, want, initialDNIVerified(&order.Order), more)
	}
}

// The point in the request takes precedence over the link's. A long link is parsed without the
// network, and the source is stored.
func TestResolvePoint(t *testing.T) {
	t.Parallel()
	at := func(n float64) *float64 { return &n }
	source := func(s string) *string { return &s }
	for more, want := range map[string]struct {
		lat, lng *float64
		source   *string
	}{
		``: {},
		`,"delivery_lat":-12.1,"delivery_lng":-77.03`:                                                            {at(-12.1), at(-77.03), source("given")},
		`,"delivery_lat":-0.0,"delivery_lng":0`:                                                                  {at(0), at(0), source("given")},
		`,"delivery_maps_url":"https://www.google.com/maps?q=-12.1,-77.03"`:                                      {at(-12.1), at(-77.03), source("query")},
		`,"delivery_maps_url":"https://www.google.com/maps/@-12.1,-77.03,15z"`:                                   {at(-12.1), at(-77.03), source("viewport")},
		`,"delivery_maps_url":"https://www.google.com/maps?q=-12.1,-77.03","delivery_lat":1,"delivery_lng":-2.5`: {at(1), at(-2.5), source("given")},
		`,"delivery_maps_url":"https://maps.app.goo.gl/AbC"`:                                                     {},
		`,"delivery_maps_url":"mi casa"`:                                                                         {},
	} {
		order, err := read(t, peruvianCaller(nil), more)
		require.NoError(t, err, more)
		resolvePoint(&order.Order, "PE")
		require.Equal(t, want.lat, order.DeliveryLat, more)
		require.Equal(t, want.lng, order.DeliveryLng, more)
		require.Equal(t, want.source, order.PointSource, more)
	}
}
