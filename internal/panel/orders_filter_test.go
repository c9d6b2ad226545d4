package panel_test

import (
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
)

var withoutPointCount = regexp.MustCompile(`Sin punto en el mapa <span class="count">(\d+)</span>`)

// A search finds the district, the product and the rider's name, also together and under the name
// that the rider has now; the filter by district and the count of orders without a point go with
// the other filters.
func TestBoard_districtProductAndRider(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		toSurco, _ := create(t, s, tenant.KeyA, map[string]any{"location_id": apptest.Surco.String(), "product": "Audífonos inalámbricos"})
		pinned, _ := create(t, s, tenant.KeyA, map[string]any{"delivery_lat": -12.12, "delivery_lng": -77.03})
		rider := models.Rider{OperatorID: tenant.Operator.ID, Name: "Ícaro Ñopo", Phone: "+51987654321", Active: true, CreatedAt: apptest.FrozenAt}
		rider.ID = tenant.Riders[0].ID
		require.NoError(t, s.App.DB.Query(t.Context()).Save(&rider).Error)
		carried := tenant.Row(apptest.FrozenAt.Add(-time.Hour), apptest.ReceivedAfter(time.Minute), func(o *models.Order) {
			o.Status, o.RiderID, o.AssignedAt, o.SearchText = models.StatusAssigned, &rider.ID, o.ReceivedAt, "rosa diaz av larco 345 miraflores zapatillas"
		})
		tenant.InsertRows(t, []models.Order{carried})
		v := visit(t, s, tenant, nil)
		for typed, want := range map[string][]string{
			"surco": {toSurco}, "AUDIFONOS": {toSurco}, "surco inalámbricos": {toSurco}, "surco zapatillas": nil,
			"icaro": {carried.ID.String()}, "ñopo miraflores": {carried.ID.String()}, "ícaro surco": nil,
			"miraflores": {pinned, carried.ID.String()},
		} {
			p := v.read("/panel/pedidos?q=" + url.QueryEscape(typed))
			require.ElementsMatch(t, want, p.rows(), typed)
		}
		for query, want := range map[string]struct {
			rows         []string
			withoutPoint string
		}{
			"":                                    {[]string{pinned, toSurco, carried.ID.String()}, "2"},
			"?distrito=" + apptest.Surco.String(): {[]string{toSurco}, "1"},
			"?distrito=" + apptest.Miraflores.String():                   {[]string{pinned, carried.ID.String()}, "1"},
			"?estado=assigned&distrito=" + apptest.Miraflores.String():   {[]string{carried.ID.String()}, "1"},
			"?estado=registered&distrito=" + apptest.Miraflores.String(): {[]string{pinned}, "0"},
			"?q=rosa&motorizado=" + rider.ID.String():                    {[]string{carried.ID.String()}, "1"},
			"?distrito=" + apptest.SanJuan.String():                      {nil, "0"},
		} {
			p := v.read("/panel/pedidos" + query)
			require.ElementsMatch(t, want.rows, p.rows(), query)
			require.Equal(t, want.withoutPoint, withoutPointCount.FindStringSubmatch(p.Text)[1], query)
			require.Contains(t, p.words(), "Santiago de Surco, Lima", "a district with orders is on offer: %s", query)
			require.Equal(t, query == "?distrito="+apptest.SanJuan.String(), regexp.MustCompile("San Juan de Lurigancho").MatchString(p.words()), query)
		}

		in, err := jsonbody.Parse([]byte(`{"location_id":"` + apptest.SanJuan.String() + `"}`))
		require.NoError(t, err)
		_, err = s.App.Orders.Correct(t.Context(), orders.Caller{Operator: &tenant.Operator}, uuid.MustParse(toSurco), in, orders.CorrectionPrecondition{})
		require.NoError(t, err)
		require.Empty(t, v.read("/panel/pedidos?q=surco").rows())
		require.Equal(t, []string{toSurco}, v.read("/panel/pedidos?q=lurigancho").rows(), "the corrected district")
	})
}
