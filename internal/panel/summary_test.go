package panel_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
)

// plainSpaces shows the spaces that keep a number together as simple ones.
var plainSpaces = strings.NewReplacer("\u00a0", " ", "\u202f", " ")

var figures = regexp.MustCompile(`(?s)<dt>(.*?)</dt><dd>(?:<span class="(?:long|money)">)?(.*?)<`)

// figures are the numbers at the top of the summary by their labels.
func (p *page) figures() map[string]string {
	read := map[string]string{}
	for _, match := range figures.FindAllStringSubmatch(p.Text, -1) {
		read[match[1]] = strings.TrimSpace(plainSpaces.Replace(match[2]))
	}
	return read
}

// fortnight gives the tenant orders around two midnights of Lima, which are at 05:00 UTC, in the
// days before the clock's 10 March.
func fortnight(t *testing.T, tenant *apptest.Tenant) {
	t.Helper()
	utc := func(day, hour, minute, second int) time.Time {
		return time.Date(2026, time.March, day, hour, minute, second, 0, time.UTC)
	}
	collected := func(cents money.Cents) func(*models.Order) {
		return func(o *models.Order) {
			o.PaymentType, o.AmountToCollect, o.ActualAmountCollected = models.CashOnDelivery, cents, &cents
		}
	}
	ofB := func(o *models.Order) { o.StoreID = &tenant.StoreB.ID }
	carlos, maria := tenant.Riders[0], tenant.Riders[1]
	tenant.InsertRows(t, []models.Order{
		tenant.Row(utc(4, 4, 59, 59), apptest.CancelledBy(models.ByStore, "De otra semana")),
		tenant.Row(utc(4, 5, 0, 0), apptest.ReceivedAfter(time.Hour), apptest.DeliveredAfter(carlos, 30*time.Minute), collected(1_000_050)),
		tenant.Row(utc(9, 4, 59, 59), apptest.ReceivedAfter(2*time.Hour), apptest.DeliveredAfter(carlos, 90*time.Minute), collected(2_000_000)),
		tenant.Row(utc(9, 5, 0, 0), apptest.ReceivedAfter(time.Hour), apptest.DeliveredAfter(maria, 10*time.Hour+59*time.Second), ofB),
		tenant.Row(utc(9, 12, 0, 0), apptest.CancelledBy(models.ByAuto, "")),
		tenant.Row(utc(9, 13, 0, 0), apptest.CancelledBy(models.ByStore, "<b>Cliente</b> desistió"), ofB),
		tenant.Row(utc(9, 14, 0, 0), apptest.CancelledBy(models.ByOperator, "Dirección equivocada")),
		tenant.Row(utc(9, 15, 0, 0), apptest.CancelledBy(models.ByOperator, "Dirección equivocada")),
		tenant.Row(utc(10, 14, 0, 0)),
		tenant.Row(utc(10, 14, 30, 0), apptest.ReceivedAfter(time.Minute), ofB),
	})
}

func TestSummary_figuresOfAPeriod(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		fortnight(t, tenant)
		v := visit(t, s, tenant, nil)

		week := v.read("/panel/resumen?periodo=7")
		require.Equal(t, map[string]string{
			"Creados": "9", "Entregados": "3", "Cancelados": "4", "En curso ahora": "2", "Tasa de entrega": "43 %", "Al primer intento": "100 %", "Cobrado en esos días": "S/ 30,000.50",
			"Ganado en esos días": "S/ 27.00",
		}, week.figures(), "the order of 3 March, a second before midnight in Lima, is of another week")
		words := plainSpaces.Replace(week.words())
		require.Contains(t, words, "Pedidos creados del 04/03 al 10/03/2026")
		require.Contains(t, words, "09/03/2026 0 0 0 1 4 5 10/03/2026 1 1 0 0 0 2", "by day of creation, as they are now")
		require.Contains(t, words, "08/03/2026 0 0 0 1 0 1", "the last second of 8 March")
		require.Contains(t, words, "La mitad se entregó en 1 h 30 min o menos (mediana); nueve de cada diez, en 10 h o menos (p90).", "since reception")
		require.Contains(t, words, "La mitad se entregó en 3 h 30 min o menos (mediana); nueve de cada diez, en 11 h o menos (p90).", "since creation")
		require.Contains(t, words, "Automático: no llegó a tiempo 1 La tienda 1 El operador 2")
		require.Contains(t, words, "Dirección equivocada 2")
		require.Contains(t, week.Text, "&lt;b&gt;Cliente&lt;/b&gt; desistió")
		require.NotContains(t, words, "De otra semana")
		require.Contains(t, words, "Carlos Quispe 2 María Huamán 1")
		require.NotContains(t, week.Text, " style=", "the page's policy allows no style of its own")

		month := v.read("/panel/resumen")
		require.Equal(t, "10", month.figures()["Creados"])
		require.Contains(t, month.words(), "De otra semana")
		require.Contains(t, month.Text, `aria-current="page">30 días`)

		ninth := v.read("/panel/resumen?desde=2026-03-09&hasta=2026-03-09").figures()
		require.Equal(t, "S/ 20,000.00", ninth["Cobrado en esos días"], "of an order of the day before, delivered after midnight")
		ofB := v.read("/panel/resumen?periodo=7&tienda=" + tenant.StoreB.ID.String())
		require.Equal(t, "3", ofB.figures()["Creados"])
		require.Contains(t, ofB.Text, "periodo=90&amp;tienda="+tenant.StoreB.ID.String(), "another period of the same store")

		day := v.read("/panel/resumen?desde=2026-03-09&hasta=2026-03-09")
		require.Equal(t, "5", day.figures()["Creados"])
		require.Contains(t, day.words(), "Pedidos creados el 09/03/2026")
		require.Equal(t, "4", v.read("/panel/resumen?desde=2026-03-08&hasta=2026-03-09&tienda=" + tenant.StoreA.ID.String()).figures()["Creados"])
		swapped := v.read("/panel/resumen?desde=2026-03-10&hasta=2026-03-04")
		require.Equal(t, "9", swapped.figures()["Creados"], "days in the wrong order are put right")
		require.Equal(t, []string{"2026-03-04", "2026-03-10"}, swapped.days())
		require.Equal(t, []string{"2026-03-10", "2026-12-31"}, v.read("/panel/resumen?desde=2026-12-31").days(), "a first day after today")
	})
}

func TestSummary_aStoreSeesItsOwn(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		fortnight(t, tenant)
		shop := visit(t, s, tenant, &tenant.StoreB)
		for _, query := range []string{"?periodo=7", "?periodo=7&tienda=" + tenant.StoreB.ID.String()} {
			own := shop.read("/panel/resumen" + query)
			require.Equal(t, map[string]string{
				"Creados": "3", "Entregados": "1", "Cancelados": "1", "En curso ahora": "1", "Tasa de entrega": "50 %", "Al primer intento": "100 %", "Cobrado en esos días": "S/ 0.00",
				"Envíos y cargos de esos días": "S/ 9.00",
			}, own.figures())
			for _, foreign := range []string{"María Huamán", "Entregas por motorizado", "Dirección equivocada", "Tienda A", "Todas las tiendas"} {
				require.NotContains(t, own.words(), foreign)
			}
		}
		require.Equal(t, "0", shop.read("/panel/resumen?tienda=" + tenant.StoreA.ID.String()).figures()["Creados"], "and no other's by asking for it")
		require.Equal(t, "0", visit(t, s, s.NewTenant(t), nil).read("/panel/resumen").figures()["Creados"])
	})
}

func TestSummary_empty(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		empty := v.read("/panel/resumen")
		require.Contains(t, empty.words(), "No se crearon pedidos en este período.")
		require.Equal(t, "—", empty.figures()["Tasa de entrega"])
		require.NotContains(t, empty.Text, "plot-area")
		require.NotContains(t, empty.Text, "NaN")
		tenant.InsertRows(t, []models.Order{tenant.Row(apptest.FrozenAt)})
		waiting := v.read("/panel/resumen").words()
		for _, text := range []string{"No hay entregas en este período.", "No hay pedidos cancelados en este período.", "Nadie escribió un motivo en este período."} {
			require.Contains(t, waiting, text)
		}
		for _, senseless := range []string{"?periodo=8", "?desde=ayer&hasta=hoy", "?desde=0001-01-01", "?tienda=x"} {
			require.Equal(t, "1", v.read("/panel/resumen" + senseless).figures()["Creados"], senseless)
		}
		long := v.read("/panel/resumen?desde=2020-01-01&hasta=2026-03-10")
		require.Contains(t, long.words(), "Un resumen abarca hasta 366 días: se muestran los últimos.")
		require.Contains(t, long.words(), "Pedidos por semana y estado")
		require.Contains(t, long.words(), "Pedidos creados del 10/03/2025 al 10/03/2026")
	})
}

// Days are the operator's also while clocks change: Santiago's are set back at midnight of 5 April
// 2026, so that 4 April has 25 hours, and forward at midnight of 6 September, which begins at one.
func TestSummary_daysWhereClocksChange(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t, func(o *models.Operator) { o.Timezone = "America/Santiago" })
		var rows []models.Order
		for _, at := range []string{
			"2026-04-04T03:00:00Z", "2026-04-05T03:59:59Z", "2026-04-05T04:00:00Z", "2026-04-06T03:59:59Z", "2026-04-06T04:00:00Z",
			"2026-09-06T03:59:59Z", "2026-09-06T04:00:00Z", "2026-09-07T02:59:59Z", "2026-09-07T03:00:00Z",
		} {
			created, err := time.Parse(time.RFC3339, at)
			require.NoError(t, err)
			rows = append(rows, tenant.Row(created))
		}
		tenant.InsertRows(t, rows)
		day := func(text string) time.Time {
			parsed, err := time.Parse(time.DateOnly, text)
			require.NoError(t, err)
			return parsed
		}
		summary, err := s.App.Orders.Summary(context.Background(), orders.Caller{Operator: &tenant.Operator}, day("2026-04-04"), day("2026-09-07"), nil)
		require.NoError(t, err)
		counts := map[string]int64{}
		for _, d := range summary.Days {
			if count := d.Counts[models.StatusRegistered]; count > 0 {
				counts[d.Day.Format(time.DateOnly)] = count
			}
		}
		require.Equal(t, map[string]int64{"2026-04-04": 2, "2026-04-05": 2, "2026-04-06": 1, "2026-09-05": 1, "2026-09-06": 2, "2026-09-07": 1}, counts)
	})
}
