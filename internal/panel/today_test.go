package panel_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/internal/panel"
	"despacho/models"
	"despacho/test/apptest"
)

// What waits for somebody today is counted for the operator and for a store, and every figure is
// the total of the list that it leads to.
func TestToday_everyFigureIsTheTotalOfItsList(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		now := apptest.FrozenAt // ten in the morning in Lima
		midnight := clock.DayStart(now.In(tenant.Operator.TimeZone()), tenant.Operator.TimeZone())
		agreed, less := money.Cents(5000), money.Cents(4000)
		expires := func(in time.Duration) func(*models.Order) {
			return func(o *models.Order) { o.AutoCancelAt = now.Add(in) }
		}
		assigned := func(at time.Time) func(*models.Order) {
			return func(o *models.Order) {
				o.Status, o.RiderID, o.AssignedAt = models.StatusAssigned, &tenant.Riders[0].ID, &at
			}
		}
		delivered := func(at time.Time, actual *money.Cents) func(*models.Order) {
			return func(o *models.Order) {
				assigned(at.Add(-time.Hour))(o)
				o.Status, o.DeliveredAt, o.ActualAmountCollected = models.StatusDelivered, &at, actual
				if actual != nil {
					o.PaymentType, o.AmountToCollect = models.CashOnDelivery, agreed
				}
			}
		}
		failed := func(substatus models.Substatus, on string) func(*models.Order) {
			return func(o *models.Order) {
				apptest.ReceivedAfter(3 * time.Hour)(o)
				if substatus == models.SubstatusAttemptFailed {
					assigned(now)(o)
				}
				o.Substatus = &substatus
				if on != "" {
					o.NextAttemptOn = &on
				}
			}
		}
		ofStoreB := func(o *models.Order) { o.StoreID = &tenant.StoreB.ID }
		ofTest := func(o *models.Order) { o.Test = true }
		day := 24 * time.Hour
		before := now.Add(-10 * day)
		tenant.InsertRows(t, []models.Order{
			tenant.Row(now.Add(-time.Hour)), tenant.Row(now.Add(-23*time.Hour), expires(time.Hour)),
			tenant.Row(now.Add(-25*time.Hour), expires(-time.Minute)), tenant.Row(now.Add(-21*time.Hour), expires(3*time.Hour)),
			tenant.Row(now.Add(-23*time.Hour), expires(time.Hour), ofStoreB), tenant.Row(now.Add(-23*time.Hour), expires(time.Hour), ofTest),
			tenant.Row(before, apptest.ReceivedAfter(day)), tenant.Row(before, apptest.ReceivedAfter(2*time.Hour), ofStoreB),
			tenant.Row(before, apptest.ReceivedAfter(time.Minute), apptest.DeliveredAfter(tenant.Riders[0], time.Hour)),
			tenant.Row(before, assigned(midnight.Add(-time.Second))), tenant.Row(before, assigned(midnight)), tenant.Row(before, assigned(midnight.Add(-9*day)), ofStoreB),
			tenant.Row(before, delivered(midnight, &less)), tenant.Row(before, delivered(now, &agreed)), tenant.Row(before, delivered(now, nil), ofStoreB),
			tenant.Row(before, failed(models.SubstatusAttemptFailed, "")), tenant.Row(before, failed(models.SubstatusAwaitingDecision, ""), ofStoreB),
			tenant.Row(before, failed(models.SubstatusRetryPlanned, "2026-03-09")), tenant.Row(before, failed(models.SubstatusRetryPlanned, "2026-03-10")),
			tenant.Row(before, failed(models.SubstatusRetryPlanned, "2026-03-11")), tenant.Row(before, failed(models.SubstatusReturning, ""), ofStoreB),
			tenant.Row(before, delivered(midnight.Add(-6*day), &less)), tenant.Row(before, delivered(midnight.Add(-6*day-time.Second), &less)),
		})
		for _, hook := range []models.Webhook{
			{URL: "https://uno.example/", FailingSince: &now}, {URL: "https://dos.example/"}, {URL: "https://tres.example/", FailingSince: &now, PausedAt: &now},
		} {
			hook.ID, hook.OperatorID, hook.Active, hook.Secret, hook.CreatedAt = uuid.New(), tenant.Operator.ID, true, []byte("secret"), now
			tenant.Change(t, &hook)
		}
		tenant.GivePhone(t, tenant.Riders[0])
		for name, c := range map[string]struct {
			store *models.Store
			want  orders.Today
		}{
			"operator": {nil, orders.Today{ToReceive: 5, ToAssign: 7, OutSinceYesterday: 2, Expiring: 3, AmountDiffers: 2, Undecided: 2, DueToday: 2, NotLoaded: 4, Returning: 1, Delivered: 3, Collected: 9000, FailingWebhooks: 1}},
			"store":    {&tenant.StoreB, orders.Today{ToReceive: 1, ToAssign: 3, OutSinceYesterday: 1, Expiring: 1, Undecided: 1, NotLoaded: 1, Returning: 1, Delivered: 1}},
		} {
			caller := orders.Caller{Operator: &tenant.Operator}
			if c.store != nil {
				caller.StoreID = &c.store.ID
			}
			today, err := s.App.Orders.Today(t.Context(), caller)
			require.NoError(t, err, name)
			c.want.Day, c.want.DiffersFrom = time.Date(2026, time.March, 10, 0, 0, 0, 0, time.UTC), time.Date(2026, time.March, 4, 0, 0, 0, 0, time.UTC)
			oldest := before.Add(2 * time.Hour)
			c.want.OldestToAssign = &oldest
			require.Equal(t, c.want, *today, name)

			v := visit(t, s, tenant, c.store)
			lists := panel.TodayListsOf(today)
			for path, count := range map[string]int64{
				lists.ToReceive: today.ToReceive, lists.ToAssign: today.ToAssign, lists.OutSinceYesterday: today.OutSinceYesterday,
				lists.Expiring: today.Expiring, lists.AmountDiffers: today.AmountDiffers, lists.Delivered: today.Delivered,
				lists.Undecided: today.Undecided, lists.DueToday: today.DueToday, lists.NotLoaded: today.NotLoaded, lists.Returning: today.Returning,
			} {
				p := v.read(path)
				require.Len(t, p.rows(), int(count), "%s: %s", name, path)
				address, err := url.Parse(path)
				require.NoError(t, err)
				status := models.Status(address.Query().Get("estado"))
				label := status.Label()
				if label == "" {
					label = "Todos"
				}
				require.Equal(t, strconv.FormatInt(count, 10), p.tabs()[label], "%s: %s", name, path)
			}
			require.Equal(t, today.FailingWebhooks, strings.Count(v.read(lists.FailingWebhooks).Text, ".example/"), name)
		}
	})
}

// A filter that a link of the first page has set stays while somebody filters further.
func TestBoard_keepsTheFilterOfALink(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		v := visit(t, s, s.NewTenant(t), nil)
		for name, label := range map[string]string{
			"vence": "Se cancelan en menos de 2 horas", "desde_ayer": "En reparto desde ayer o antes", "monto_distinto": "Cobrado distinto de lo acordado",
			"falta_decidir": "Falta decidir tras un intento fallido", "se_intentan": "Se intentan otra vez hoy",
			"sin_confirmar": "Su motorizado no confirmó la carga", "por_devolver": "Por devolver a su tienda",
		} {
			p := v.read("/panel/pedidos?" + name + "=1")
			require.Contains(t, p.Text, `name="`+name+`" value="1" checked`)
			require.Contains(t, p.Text, label)
			require.NotContains(t, v.read("/panel/pedidos").Text, label)
		}
	})
}

// The first page leads to the list of every figure, and tells a new operator what to set up.
func TestToday_isTheFirstPage(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		c := counterOf(t, s, tenant)
		require.Equal(t, "/panel/hoy", c.get("/panel").Location)
		empty := c.read("/panel/hoy")
		require.NotContains(t, empty.words(), "Antes del primer pedido", "everything is set up")
		c.parcel()
		c.received()
		shown := c.read("/panel/hoy")
		require.Contains(t, shown.words(), "1 Por recibir 1 Por asignar el primero espera desde hace")
		for path := range map[string]bool{"/panel/pedidos?estado=registered": true, "/panel/pedidos?estado=received": true} {
			require.Contains(t, shown.Text, `href="`+path+`"`)
		}

		fresh := s.NewTenant(t)
		require.NoError(t, s.App.DB.Query(t.Context()).Where("operator_id = ?", fresh.Operator.ID).Delete(&models.Coverage{}).Error)
		setup := visit(t, s, fresh, nil).read("/panel/hoy")
		require.Contains(t, setup.words(), "Antes del primer pedido ✓ Una sucursal principal, donde se reciben los paquetes (listo) Los distritos adonde llega, con su tarifa ✓ Una tienda que envía (listo)")
		require.Equal(t, "/panel/cobertura", setup.links()["Los distritos adonde llega, con su tarifa"])
		require.NotContains(t, visit(t, s, fresh, &fresh.StoreA).read("/panel/hoy").words(), "Antes del primer pedido", "it is the operator's to set up")
	})
}
