package orders_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/guidecode"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// The count of a long list is cached, and its total stays exact.
func TestList_totalOfALongList(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(apptest.FrozenAt)
		s := apptest.Boot(t, databaseURL, apptest.Options{Clock: now, NoWorker: true})
		tenant := s.NewTenant(t)
		caller := orders.Caller{Operator: &tenant.Operator}
		ofStore := orders.Caller{Operator: &tenant.Operator, StoreID: &tenant.StoreA.ID}
		list := func(caller orders.Caller, query orders.Query) int64 {
			query.Page, query.Limit = 1, 1
			page, err := s.App.Orders.List(t.Context(), caller, query)
			require.NoError(t, err)
			require.Len(t, page.Orders, int(min(page.Total, 1)))
			return page.Total
		}
		add := func(count int, created time.Time, store *uuid.UUID) {
			for count > 0 {
				batch := min(count, 500)
				count -= batch
				rows := make([]models.Order, batch)
				for i := range rows {
					rows[i] = models.Order{
						ID: uuid.New(), OperatorID: tenant.Operator.ID, StoreID: store, BranchID: tenant.Main.ID, GuideCode: guidecode.New(),
						Status: models.StatusRegistered, Seq: 1, RecipientName: "Rosa Díaz", RecipientPhone: "+51987654321",
						DeliveryType: models.DeliveryHome, DeliveryAddress: "Av. Larco 345", LocationID: apptest.Miraflores, Product: "Zapatillas",
						Size: "M", Currency: "PEN", PaymentType: models.DeliveryOnly, OperativeDay: "2026-03-10",
						AutoCancelAt: created.Add(24 * time.Hour), CreatedAt: created, UpdatedAt: created,
					}
				}
				require.NoError(t, s.App.DB.Insert(t.Context(), &rows))
			}
		}
		yesterday := now.Now().AddDate(0, 0, -1)
		add(999, yesterday, nil)
		require.EqualValues(t, 999, list(caller, orders.Query{}))
		add(1, yesterday, nil)
		require.EqualValues(t, 1_000, list(caller, orders.Query{}), "a short list is counted every time")
		require.EqualValues(t, 0, list(ofStore, orders.Query{}))

		add(3, now.Now(), &tenant.StoreA.ID)
		require.EqualValues(t, 1_003, list(caller, orders.Query{}), "the latest are counted every time")
		now.Advance(5 * time.Minute)
		require.EqualValues(t, 1_003, list(caller, orders.Query{}), "those of before are settled by now")
		add(2, now.Now(), &tenant.StoreA.ID)
		require.EqualValues(t, 1_005, list(caller, orders.Query{}))
		require.EqualValues(t, 5, list(ofStore, orders.Query{}))
		today := now.Now()
		require.EqualValues(t, 5, list(caller, orders.Query{From: &today}))
		require.EqualValues(t, 1_005, list(caller, orders.Query{Status: models.StatusRegistered}))
		elsewhere := uuid.New()
		require.EqualValues(t, 0, list(caller, orders.Query{LocationID: &elsewhere}), "the orders to one place are another list")

		require.EqualValues(t, 1_005, list(caller, orders.Query{From: &yesterday}))
		require.EqualValues(t, 0, list(caller, orders.Query{From: &yesterday, ByDelivery: true}), "nothing was delivered since")

		add(1, yesterday, nil) // an older row inserted by hand
		require.EqualValues(t, 1_005, list(caller, orders.Query{}), "what was counted is not counted again")
		now.Advance(10 * time.Minute)
		require.EqualValues(t, 1_006, list(caller, orders.Query{}), "but not for ever")

		now.Advance(-12 * time.Hour)
		add(1, now.Now(), nil)
		require.EqualValues(t, 1_007, list(caller, orders.Query{}), "a clock that is set back hides no order")
	})
}
