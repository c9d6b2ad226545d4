package orders_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
)

// Check returns what Create would and creates nothing.
func TestCheck_isCreateWithoutCreating(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, service *apptest.Service) {
		s := newStoreClient(t, service)
		quote, err := s.App.Orders.Check(t.Context(), s.caller, orderBody(t))
		require.NoError(t, err)
		require.Equal(t, &orders.Preview{
			RecipientName: "Rosa", RecipientPhone: "+51987654321", DeliveryAddress: "Av. Larco 345", LocationID: apptest.Miraflores,
			Product: "Zapatillas", Size: "M", PaymentType: models.DeliveryOnly, ShippingCost: 900, Currency: "PEN",
		}, quote)
		for raw, want := range map[string]error{
			`{"recipient_name":"Rosa","recipient_phone":"987654321","delivery_address":"x","product":"y","location_id":"` + apptest.Cusco.String() + `"}`: orders.ErrNotCovered,
			`{"recipient_name":"Rosa","recipient_phone":"987654321","delivery_address":"x","product":"y","location_id":"` + apptest.Lima.String() + `"}`:  orders.ErrNotCovered,
		} {
			in, err := jsonbody.Parse([]byte(raw))
			require.NoError(t, err)
			_, err = s.App.Orders.Check(t.Context(), s.caller, in)
			require.ErrorIs(t, err, want)
		}
		s.requireOrders(t, 0)
	})
}

func TestChoices_knowWhereTheOperatorDelivers(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, service *apptest.Service) {
		s := newStoreClient(t, service)
		choices, err := s.App.Orders.Choices(t.Context(), s.caller)
		require.NoError(t, err)
		require.Len(t, choices.Stores, 2)
		require.True(t, choices.Branches[0].Main)
		require.Equal(t, money.Cents(550), choices.Sizes[2].Surcharge)
		require.True(t, choices.Covers(apptest.Surco))
		require.False(t, choices.Covers(apptest.Cusco))
		require.False(t, choices.Covers(apptest.Lima), "a city is no destination")
		names := map[string]int{}
		for _, district := range choices.Districts() {
			names[district.Name]++
		}
		require.Len(t, names, 43, "all of Lima")
		require.Equal(t, 1, names["Miraflores"], "once, though it has a price of its own")
	})
}
