package orders_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// What a quote and an estimate say is what a creation charges, and its preview before it: for any
// store and none, any place and size, on the days around those on which a store's prices begin and
// end, right before midnight of the operator and right after it.
func TestQuote_isWhatACreationCharges(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(time.Date(2026, time.April, 1, 14, 0, 0, 0, time.UTC))
		s := apptest.Boot(t, databaseURL, apptest.Options{Clock: now, NoWorker: true})
		tenant := s.NewTenant(t) // in Lima, five hours behind
		chance := rand.New(rand.NewPCG(7, 7))
		days := []string{"2026-04-01", "2026-04-02", "2026-04-03", "2026-04-04", "2026-04-05"}
		covered := []*uuid.UUID{nil, &apptest.Miraflores, &apptest.Lima}
		for _, store := range []uuid.UUID{tenant.StoreA.ID, tenant.StoreB.ID} {
			for _, place := range covered {
				for i := 0; i < len(days); i += 2 {
					until := days[min(i+chance.IntN(2), len(days)-1)]
					tenant.Change(t, &models.StorePrice{ID: uuid.New(), OperatorID: tenant.Operator.ID, StoreID: store, LocationID: place,
						Price: money.Cents(chance.IntN(3000)), FromDay: days[i], UntilDay: &until, CreatedAt: now.Now()})
				}
			}
		}
		operator, err := s.App.DB.Operator(t.Context(), tenant.Operator.ID)
		require.NoError(t, err)
		prices := map[money.Cents]bool{}
		for day := range 7 {
			midnight := time.Date(2026, time.March, 31+day, 5, 0, 0, 0, time.UTC)
			for _, at := range []time.Time{midnight.Add(-time.Second), midnight} {
				now.Set(at)
				for _, store := range []*uuid.UUID{nil, &tenant.StoreA.ID, &tenant.StoreB.ID} {
					place := []uuid.UUID{apptest.Miraflores, apptest.Surco}[chance.IntN(2)]
					quote, err := s.App.Orders.Quote(t.Context(), operator, store, place)
					require.NoError(t, err)
					for _, size := range quote.Prices {
						charged := charges(t, s, orders.Caller{Operator: operator, StoreID: store}, place, size.Size.Code)
						require.Equal(t, charged, size.Price, "%s, store %v, size %s", at, store, size.Size.Code)
						estimate, err := s.App.Orders.Estimate(t.Context(), operator,
							orders.Estimated{StoreID: store, LocationID: place, Size: size.Size.Code})
						require.NoError(t, err)
						require.Equal(t, charged, estimate.Price)
						prices[charged] = true
					}
				}
			}
		}
		require.Greater(t, len(prices), 15, "prices begin and end")
	})
}

// charges is the shipping cost of a new order, as its preview has it.
func charges(t *testing.T, s *apptest.Service, caller orders.Caller, place uuid.UUID, size string) money.Cents {
	t.Helper()
	in, err := jsonbody.Parse([]byte(`{"recipient_name":"Rosa","recipient_phone":"+51987654321","delivery_address":"Av. Larco 345",
		"location_id":"` + place.String() + `","product":"Zapatillas","size":"` + size + `"}`))
	require.NoError(t, err)
	preview, err := s.App.Orders.Check(t.Context(), caller, in)
	require.NoError(t, err)
	created, err := s.App.Orders.Create(t.Context(), caller, in, "")
	require.NoError(t, err)
	require.Equal(t, created.Order.ShippingCost, preview.ShippingCost)
	return created.Order.ShippingCost
}
