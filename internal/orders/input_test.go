package orders

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/models"
)

var (
	ownBranch, otherBranch = uuid.New(), uuid.New()
	openStore, shutStore   = uuid.New(), uuid.New()
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

func wrongFields(err error) []string {
	var names []string
	for _, field := range apperror.From(err).Fields {
		names = append(names, field.Field)
	}
	return names
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

// Contract 2.2, rules 2 and 3: derived from the amount in one direction only.
func TestReadNewOrder_paymentType(t *testing.T) {
	t.Parallel()
	for more, want := range map[string]struct {
		amount  money.Cents
		payment models.PaymentType
	}{
		``:                                   {0, models.DeliveryOnly},
		`,"payment_type":"delivery_only"`:    {0, models.DeliveryOnly},
		`,"payment_type":"cash_on_delivery"`: {0, models.CashOnDelivery},
		`,"payment_type":"cash_on_delivery","amount_to_collect":0`:                 {0, models.CashOnDelivery},
		`,"payment_type":null,"amount_to_collect":null`:                            {0, models.DeliveryOnly},
		`,"amount_to_collect":0.01`:                                                {1, models.CashOnDelivery},
		`,"payment_type":"delivery_only","amount_to_collect":89.90`:                {8990, models.CashOnDelivery},
		`,"payment_type":"trueque","amount_to_collect":89.90`:                      {8990, models.CashOnDelivery},
		`,"payment_type":"` + strings.Repeat("x", 500) + `","amount_to_collect":1`: {100, models.CashOnDelivery},
	} {
		order, err := read(t, peruvianCaller(nil), more)
		require.NoError(t, err, more)
		require.Equal(t, want.amount, order.AmountToCollect, more)
		require.Equal(t, want.payment, order.PaymentType, more)
	}
	for _, more := range []string{
		`,"payment_type":"trueque"`, `,"payment_type":"trueque","amount_to_collect":0`, `,"payment_type":5`, `,"payment_type":5,"amount_to_collect":1`,
	} {
		_, err := read(t, peruvianCaller(nil), more)
		require.Equal(t, []string{"payment_type"}, wrongFields(err), more)
	}
}

// A restricted caller's store is its own, whatever the body says.
func TestReadNewOrder_store(t *testing.T) {
	t.Parallel()
	order, err := read(t, peruvianCaller(nil), `,"store_id":"`+openStore.String()+`"`)
	require.NoError(t, err)
	require.Equal(t, &openStore, order.StoreID)
	for _, id := range []string{shutStore.String(), uuid.NewString(), "tienda"} {
		_, err := read(t, peruvianCaller(nil), `,"store_id":"`+id+`"`)
		require.Equal(t, []string{"store_id"}, wrongFields(err))
	}
	own := uuid.New()
	for _, value := range []string{`"` + openStore.String() + `"`, `"tienda"`, `5`, `null`, `{}`, `[[]]`} {
		order, err := read(t, peruvianCaller(&own), `,"store_id":`+value)
		require.NoError(t, err, value)
		require.Equal(t, &own, order.StoreID, value)
	}
}

func TestReadNewOrder_branch(t *testing.T) {
	t.Parallel()
	order, err := read(t, peruvianCaller(nil), `,"branch_id":"`+ownBranch.String()+`"`)
	require.NoError(t, err)
	require.Equal(t, &ownBranch, order.branchID)
	_, err = read(t, peruvianCaller(nil), `,"branch_id":"`+otherBranch.String()+`"`)
	require.Equal(t, []string{"branch_id"}, wrongFields(err))
}

// The error names every invalid field at once, in Spanish.
func TestReadNewOrder_everyWrongFieldAtOnce(t *testing.T) {
	t.Parallel()
	in, err := jsonbody.Parse([]byte(`{"recipient_phone":"hola","delivery_lat":91,"branch_id":"` + otherBranch.String() + `","store_id":"x","size":5,"delivery_type":"drone"}`))
	require.NoError(t, err)
	_, err = readNewOrder(in, peruvianCaller(nil), knownSettings())
	require.ElementsMatch(t, []string{
		"recipient_name", "recipient_phone", "delivery_address", "location_id", "product", "delivery_lat", "delivery_lng", "branch_id", "store_id", "size", "delivery_type",
	}, wrongFields(err))
	require.Contains(t, apperror.From(err).Message, "recipient_name: es obligatorio")
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

// Contract 2.2, recipient_phone: E.164; without a country code it is canonicalized with the
// operator's country.
func TestReadNewOrder_recipientPhone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ country, sent, stored string }{
		{"PE", "987654321", "+51987654321"},
		{"PE", "987 654 321", "+51987654321"},
		{"PE", "987-654-321", "+51987654321"},
		{"PE", "987.654.321", "+51987654321"},
		{"PE", "(987) 654321", "+51987654321"},
		{"PE", "987\u00a0654\u00a0321", "+51987654321"},
		{"PE", "+51987654321", "+51987654321"},
		{"PE", "+51 987 654 321", "+51987654321"},
		{"PE", "51987654321", "+51987654321"},
		{"PE", "0051 987654321", "+51987654321"},
		{"PE", "01 234 5678", "+5112345678"},
		{"PE", "(084) 234567", "+5184234567"},
		{"PE", "+56 9 6123 4567", "+56961234567"},
		{"PE", "+1 212 555 2368", "+12125552368"},
		{"PE", "+34 612 34 56 78", "+34612345678"},
		{"CL", "961234567", "+56961234567"},
		{"CL", "+51 987 654 321", "+51987654321"},
		{"CO", "301 234 5678", "+573012345678"},
		{"MX", "55 1234 5678", "+525512345678"},
	} {
		caller := peruvianCaller(nil)
		caller.Operator.CountryCode = c.country
		order, err := read(t, caller, "", c.sent)
		require.NoError(t, err, "%s in %s", c.sent, c.country)
		require.Equal(t, c.stored, order.RecipientPhone)
	}
	for _, wrong := range []string{
		"", "0", "12345", "98765432", "9876543210", "hola", "98765432l", "987654321 ext 5", "987654321 x5", "tel:+51987654321", "+51 987 654", "+51",
		"+999 123456789", "+0000000000", "+51 +51 987654321", "987654321/987654322", "987654321;phone-context=+51", "９８７６５４３２１", "0-800-FLORES", "---", "+",
	} {
		_, err := read(t, peruvianCaller(nil), "", wrong)
		require.Equal(t, []string{"recipient_phone"}, wrongFields(err), wrong)
	}
}
