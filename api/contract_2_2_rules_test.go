package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/internal/money"
	"despacho/models"
	"despacho/test/apptest"
)

const (
	longLink  = "https://www.google.com/maps/place/Larcomar/@-12.0,-77.0,17z/data=!3m1!4b1!4m5!3m4!8m2!3d-12.1316!4d-77.0303"
	shortLink = "https://maps.app.goo.gl/AbCdEf123456"
)

// Rule 1, the GPS point: either lat and lng, or a map link. A long link is read at once, a short
// one later, and a link that says nothing does not stand in the order's way.
func TestContract_2_2_rule1_point(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for name, c := range map[string]struct {
			sent           map[string]any
			lat, lng, link any
		}{
			"neither":           {nil, nil, nil, nil},
			"point":             {map[string]any{"delivery_lat": -12.1, "delivery_lng": -77.03}, -12.1, -77.03, nil},
			"point at zero":     {map[string]any{"delivery_lat": 0, "delivery_lng": 0}, 0.0, 0.0, nil},
			"bounds":            {map[string]any{"delivery_lat": -90, "delivery_lng": 180}, -90.0, 180.0, nil},
			"long link":         {map[string]any{"delivery_maps_url": longLink}, -12.1316, -77.0303, longLink},
			"short link":        {map[string]any{"delivery_maps_url": shortLink}, nil, nil, shortLink},
			"unreadable link":   {map[string]any{"delivery_maps_url": "a la vuelta de mi casa"}, nil, nil, "a la vuelta de mi casa"},
			"both: point wins":  {map[string]any{"delivery_lat": -12.1, "delivery_lng": -77.03, "delivery_maps_url": longLink}, -12.1, -77.03, longLink},
			"null is not there": {map[string]any{"delivery_lat": json.RawMessage("null"), "delivery_lng": json.RawMessage("null")}, nil, nil, nil},
		} {
			order := created(t, s, tenant.Key, c.sent)
			require.Equal(t, c.lat, order.Data["delivery_lat"], name)
			require.Equal(t, c.lng, order.Data["delivery_lng"], name)
			require.Equal(t, c.link, order.Data["delivery_maps_url"], name)
			require.Equal(t, order.Data, get(t, s, tenant.Key, "/v1/orders/"+order.String("id")).Data, name)
		}
		for name, c := range map[string]struct {
			sent  map[string]any
			wrong []string
		}{
			"lat without lng": {map[string]any{"delivery_lat": -12.1}, []string{"delivery_lng"}},
			"lng without lat": {map[string]any{"delivery_lng": -77}, []string{"delivery_lat"}},
			"half a point and a link": {
				map[string]any{"delivery_lat": -12.1, "delivery_maps_url": longLink}, []string{"delivery_lng"}},
			"out of range": {map[string]any{"delivery_lat": 90.1, "delivery_lng": -180.1}, []string{"delivery_lat", "delivery_lng"}},
			"huge":         {map[string]any{"delivery_lat": json.RawMessage("1e999"), "delivery_lng": -77}, []string{"delivery_lat"}},
			"text":         {map[string]any{"delivery_lat": "-12.1", "delivery_lng": "-77"}, []string{"delivery_lat", "delivery_lng"}},
		} {
			t.Run(name, func(t *testing.T) { requireWrongFields(t, postOrder(t, s, tenant.Key, c.sent), c.wrong...) })
		}
	})
}

// Rules 2 and 3, payment_type: an amount always means cash_on_delivery; without one the declared
// value is kept, also cash_on_delivery.
func TestContract_2_2_rules2and3_paymentType(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for name, c := range map[string]struct {
			amount, declared any
			derived          string
		}{
			"amount, none declared":                        {50, nil, "cash_on_delivery"},
			"amount, cash_on_delivery":                     {50, "cash_on_delivery", "cash_on_delivery"},
			"amount overrules delivery_only":               {50, "delivery_only", "cash_on_delivery"},
			"amount overrules an unknown word":             {50, "trueque", "cash_on_delivery"},
			"the smallest amount":                          {0.01, "delivery_only", "cash_on_delivery"},
			"no amount, none declared":                     {nil, nil, "delivery_only"},
			"no amount, delivery_only":                     {nil, "delivery_only", "delivery_only"},
			"no amount, cash_on_delivery":                  {nil, "cash_on_delivery", "cash_on_delivery"},
			"amount 0, cash_on_delivery is not downgraded": {0, "cash_on_delivery", "cash_on_delivery"},
			"amount 0, none declared":                      {0, nil, "delivery_only"},
		} {
			order := created(t, s, tenant.Key, map[string]any{"amount_to_collect": c.amount, "payment_type": c.declared})
			require.Equal(t, c.derived, order.String("payment_type"), name)
		}
		for _, c := range []struct{ amount, declared any }{{nil, "trueque"}, {0, "trueque"}, {nil, 5}, {50, 5}, {50, []string{"cash_on_delivery"}}} {
			requireWrongFields(t, postOrder(t, s, tenant.Key, map[string]any{"amount_to_collect": c.amount, "payment_type": c.declared}), "payment_type")
		}
	})
}

// Rule 4, coverage and tariff: the nearest ancestor's row wins; no row or no price is 422.
func TestContract_2_2_rule4_coverage(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		noPrice := s.NewTenant(t, func(o *models.Operator) { o.BasePrice = nil })
		dear := money.Cents(2050)
		monterrico := catalog.ZoneID("PE", "150140", "Monterrico")
		base := &models.Coverage{ID: uuid.New(), OperatorID: tenant.Operator.ID, LocationID: apptest.SanJuan, CreatedAt: apptest.FrozenAt}
		tenant.Change(t, base,
			&models.Coverage{ID: uuid.New(), OperatorID: tenant.Operator.ID, LocationID: monterrico, Price: &dear, CreatedAt: apptest.FrozenAt})

		for name, c := range map[string]struct {
			tenant   *apptest.Tenant
			location uuid.UUID
			size     string
			cost     float64
		}{
			"covered by its city, base price":                  {tenant, apptest.Surco, "M", 12},
			"the district's own price":                         {tenant, apptest.Miraflores, "M", 9},
			"a zone under a covered district":                  {tenant, catalog.ZoneID("PE", "150122", "Aurora"), "M", 9},
			"the zone's own price is nearer":                   {tenant, monterrico, "M", 20.5},
			"its neighbour falls back on the city":             {tenant, catalog.ZoneID("PE", "150140", "Higuereta"), "M", 12},
			"a row without price: base price":                  {tenant, apptest.SanJuan, "M", 12},
			"the size's surcharge comes on top":                {tenant, apptest.Miraflores, "L", 14.5},
			"a row's price needs no base price":                {noPrice, apptest.Miraflores, "M", 9},
			"a row's price needs no base price (zone, size L)": {noPrice, catalog.ZoneID("PE", "150122", "Aurora"), "L", 14.5},
		} {
			order := created(t, s, c.tenant.Key, map[string]any{"location_id": c.location, "size": c.size})
			require.Equal(t, c.cost, order.Data["shipping_cost"], name)
			require.Equal(t, c.location.String(), order.String("location_id"), name)
			require.Equal(t, c.location.String(), order.Data["location"].(map[string]any)["id"], name)
		}

		before := countOrders(t, s, tenant)
		for name, c := range map[string]struct {
			tenant   *apptest.Tenant
			location uuid.UUID
			code     string
		}{
			"not covered":             {tenant, apptest.Cusco, "not_covered"},
			"unknown location":        {tenant, uuid.New(), "not_covered"},
			"nil location":            {tenant, uuid.Nil, "not_covered"},
			"a city":                  {tenant, apptest.Lima, "not_covered"},
			"a country":               {tenant, catalog.CountryID("PE"), "not_covered"},
			"no tariff":               {noPrice, apptest.Surco, "no_tariff"},
			"no tariff, zone":         {noPrice, monterrico, "no_tariff"},
			"not covered, no tariffs": {noPrice, apptest.Cusco, "not_covered"},
		} {
			t.Run(name, func(t *testing.T) {
				requireRefused(t, postOrder(t, s, c.tenant.Key, map[string]any{"location_id": c.location}), http.StatusUnprocessableEntity, c.code)
			})
		}
		require.Equal(t, before, countOrders(t, s, tenant))
	})
}

// A malformed location_id is 400: only a well-formed one can be not covered.
func TestContract_2_2_rule4_malformedLocation(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		hex := "54c51d2b049b53b993acfa910f68ea0d"
		for _, wrong := range []any{"Miraflores", "150122", hex, "{" + apptest.Miraflores.String() + "}", "urn:uuid:" + apptest.Miraflores.String(), 150122, []string{}} {
			requireWrongFields(t, postOrder(t, s, tenant.Key, map[string]any{"location_id": wrong}), "location_id")
		}
	})
}

// Rule 5, risk zones: the order is created and the warning names the zone; accents and case do not
// matter.
func TestContract_2_2_rule5_riskZone(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		wholeDistrict := catalog.DistrictID("PE", "150110")
		tenant.Change(t,
			&models.RiskZone{ID: uuid.New(), OperatorID: tenant.Operator.ID, Name: "Comas", LocationID: &wholeDistrict, Active: true, CreatedAt: apptest.FrozenAt},
			&models.RiskZone{ID: uuid.New(), OperatorID: tenant.Operator.ID, Name: "Óvalo", Words: "ÓVALO PERDIDO", Active: true, CreatedAt: apptest.FrozenAt},
			&models.RiskZone{ID: uuid.New(), OperatorID: tenant.Operator.ID, Name: "Antigua", Words: "larco", CreatedAt: apptest.FrozenAt})
		for name, c := range map[string]struct {
			location uuid.UUID
			address  string
			zone     string
		}{
			"words in the zone's place":          {apptest.SanJuan, "Jr. Huascar 123", "Huáscar"},
			"accents and case ignored":           {apptest.SanJuan, "JR. HUÁSCAR 123", "Huáscar"},
			"several words":                      {apptest.SanJuan, "Altura del Paradero  10", "Huáscar"},
			"everything below the place":         {catalog.ZoneID("PE", "150132", "Campoy"), "calle huáscar", "Huáscar"},
			"same words elsewhere":               {apptest.Miraflores, "Jr. Huáscar 123", ""},
			"the place with other words":         {apptest.SanJuan, "Av. Próceres 100", ""},
			"part of a word is not the word":     {apptest.SanJuan, "Av. Huascarán 100", ""},
			"a whole district":                   {wholeDistrict, "Av. Túpac Amaru 1", "Comas"},
			"a zone of a whole district":         {catalog.ZoneID("PE", "150110", "Collique"), "Av. Túpac Amaru 1", "Comas"},
			"words wherever they are":            {apptest.Surco, "Frente al óvalo perdido, puerta 3", "Óvalo"},
			"a zone that is no longer marked":    {apptest.Miraflores, "Av. Larco 345", ""},
			"line breaks in the address as well": {apptest.Surco, "Óvalo\nPerdido", "Óvalo"},
		} {
			order := created(t, s, tenant.Key, map[string]any{"location_id": c.location, "delivery_address": c.address})
			if c.zone == "" {
				require.Empty(t, order.Warning, name)
				continue
			}
			require.Contains(t, order.Warning, c.zone, name)
		}
	})
}

// Rule 6: an order is never rejected for its document. A DNI that is not eight digits is simply not
// verified.
func TestContract_2_2_rule6_document(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for name, c := range map[string]struct {
			docType, number, verified any
		}{
			"no document":             {nil, nil, nil},
			"DNI nobody verified yet": {"dni", "12345678", nil},
			"DNI without number":      {"dni", nil, nil},
			"DNI of seven digits":     {"dni", "1234567", false},
			"DNI of nine digits":      {"dni", "123456789", false},
			"DNI with letters":        {"dni", "1234567A", false},
			"DNI in other digits":     {"dni", "١٢٣٤٥٦٧٨", false},
			"passport":                {"passport", "AB-123", nil},
			"ce":                      {"ce", "1", nil},
			"number without type":     {nil, "12345678", nil},
		} {
			order := created(t, s, tenant.Key, map[string]any{"recipient_doc_type": c.docType, "recipient_doc_number": c.number})
			require.Equal(t, c.verified, order.Data["recipient_doc_verified"], name)
			require.Equal(t, c.docType, order.Data["recipient_doc_type"], name)
			require.Equal(t, c.number, order.Data["recipient_doc_number"], name)
		}
	})
}
