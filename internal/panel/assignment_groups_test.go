package panel_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/money"
	"despacho/models"
	"despacho/test/apptest"
)

// groupOf is what the head of a district's group reads.
func groupOf(t *testing.T, p *page, place uuid.UUID) string {
	t.Helper()
	return strings.Join(strings.Fields(plainSpaces.Replace(p.textOf(t, "place-"+place.String()))), " ")
}

// atTheCounter inserts received orders to a place.
func atTheCounter(t *testing.T, tenant *apptest.Tenant, place uuid.UUID, count int, amount money.Cents) []models.Order {
	t.Helper()
	rows := make([]models.Order, count)
	for i := range rows {
		rows[i] = tenant.Row(time.Now().Add(-time.Duration(i+1)*time.Minute), apptest.ReceivedAfter(time.Second), func(o *models.Order) {
			o.LocationID, o.AmountToCollect = place, amount
		})
	}
	tenant.InsertRows(t, rows)
	return rows
}

// A group says how many orders go to its district and what they come to, on whatever page they are.
// Where they are more than a page, the groups are closed, and one is opened at a time or several.
func TestAssignment_groupsOverAllThatMatch(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		miraflores, surco := apptest.Miraflores, apptest.Surco
		near := atTheCounter(t, c.tenant, miraflores, 205, 1000)
		far := atTheCounter(t, c.tenant, surco, 2, 50)
		c.received(map[string]any{"location_id": surco, "payment_type": "cash_on_delivery"})

		list := c.read("/panel/asignacion")
		require.Equal(t, "Marcar los 205 de Miraflores, Lima Abrir Miraflores, Lima Miraflores, Lima 205 S/ 2,050.00", groupOf(t, list, miraflores))
		require.Contains(t, groupOf(t, list, surco), "Santiago de Surco, Lima 3 S/ 1.00 y 1 por definir")
		require.Contains(t, list.words(), "Todos los 208")
		require.NotContains(t, list.Text, `id="order-`, "closed groups list no orders")

		opened := c.read("/panel/asignacion?abierto=" + surco.String())
		require.Contains(t, opened.Text, `id="order-`+far[0].ID.String()+`"`)
		require.NotContains(t, opened.Text, `id="order-`+near[0].ID.String()+`"`)
		both := c.read("/panel/asignacion?abierto=" + surco.String() + "&alternar=" + miraflores.String())
		require.Equal(t, 200, strings.Count(both.Text, `id="order-`))
		require.Contains(t, both.words(), "1–200 de 208 en los distritos abiertos")
		closed := c.read("/panel/asignacion?abierto=" + surco.String() + "&alternar=" + surco.String())
		require.NotContains(t, closed.Text, `id="order-`)
		require.Contains(t, closed.Text, `name="abierto" value="ninguno"`)

		narrowed := c.read("/panel/asignacion?distrito=" + surco.String())
		require.Contains(t, narrowed.Text, `id="order-`+far[0].ID.String()+`"`, "what fits on a page is open")
		require.NotContains(t, narrowed.Text, "place-"+miraflores.String())
	})
}

// Several districts go to one rider with one form, without the orders that were left out; what
// comes to a district after the page was made is not taken along.
func TestAssignment_assignsGroups(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		surco := map[string]any{"location_id": apptest.Surco}
		near, far, left, other := c.received(), c.received(surco), c.received(surco), c.received(map[string]any{"location_id": apptest.SanJuan})
		single := c.received(map[string]any{"location_id": apptest.SanJuan})
		seen := c.read("/panel/asignacion").hidden().Get("visto")
		require.NotEmpty(t, seen)
		late := c.received()

		done := c.post("/panel/asignacion", url.Values{
			"rider_id": {c.tenant.Riders[0].ID.String()}, "visto": {seen}, "grupo": {apptest.Miraflores.String(), apptest.Surco.String()}, "salvo": {left.id},
			"id": {single.id + ":2"},
		})
		require.Equal(t, http.StatusOK, done.Status, done.words())
		require.Contains(t, done.words(), "Asignado: 3")
		require.Contains(t, done.words(), "Hoja de ruta de Carlos Quispe")
		for _, p := range []parcel{near, far, single} {
			require.Equal(t, "assigned", c.order(p).String("status"))
		}
		for _, p := range []parcel{left, other, late} {
			require.Equal(t, "received", c.order(p).String("status"))
		}

		all := c.post("/panel/asignacion?estado=assigned", url.Values{"rider_id": {c.tenant.Riders[1].ID.String()}, "todos": {"1"}, "salvo": {far.id}})
		require.Contains(t, all.words(), "Asignado: 2")
		require.Equal(t, c.tenant.Riders[0].Name, c.order(far).Data["rider"].(map[string]any)["name"])
	})
}

// A group stays ticked while others are opened; under another filter its orders stay ticked by
// themselves, since the group would be another one.
func TestAssignment_groupsStayTicked(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		surco := apptest.Surco.String()
		first, second, near := c.received(map[string]any{"location_id": surco}), c.received(map[string]any{"location_id": surco}), c.received()
		ticked := url.Values{"grupo": {surco}, "salvo": {second.id}, "filtro": {""}}
		same := c.read("/panel/asignacion?" + ticked.Encode())
		require.True(t, isSelected(same, first))
		require.False(t, isSelected(same, second) || isSelected(same, near))
		require.Contains(t, same.Text, `value="`+surco+`" data-tick-group checked`)
		require.Contains(t, same.Text, `name="salvo" value="`+second.id+`"`)

		ticked.Set("tienda", c.tenant.StoreB.ID.String())
		filtered := c.read("/panel/asignacion?" + ticked.Encode())
		require.True(t, isSelected(filtered, first))
		require.False(t, isAssignable(filtered, second))
		require.NotContains(t, filtered.Text, "data-tick-group checked")

		atTheCounter(t, c.tenant, apptest.Surco, 200, 0)
		lost := c.read("/panel/asignacion?" + ticked.Encode())
		require.Contains(t, lost.words(), "202 pedidos ya no están marcados: al cambiar el filtro se conservan hasta 200 marcas.")
	})
}

// More than one assignment accepts goes on in steps.
func TestAssignment_inSteps(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		atTheCounter(t, c.tenant, apptest.Miraflores, 203, 100)
		single, left := c.received(map[string]any{"location_id": apptest.Surco}), c.received(map[string]any{"location_id": apptest.Surco})
		form := url.Values{"rider_id": {c.tenant.Riders[0].ID.String()}, "grupo": {apptest.Miraflores.String()}, "id": {single.id + ":2"}}
		form.Set("visto", c.read("/panel/asignacion").hidden().Get("visto"))
		step := c.post("/panel/asignacion", form)
		require.Contains(t, step.words(), "Van 200. Quedan más.")
		require.Contains(t, step.Text, "data-continue")
		require.Equal(t, "assigned", c.order(single).String("status"))
		done := c.post("/panel/asignacion", step.hidden())
		require.Contains(t, done.words(), "Terminó: 204 en total.")
		require.Contains(t, done.Text, `href="/panel/asignacion"`)
		require.Contains(t, c.read("/panel/asignacion").words(), "Por asignar 1 En reparto 204")
		require.Equal(t, "received", c.order(left).String("status"))
	})
}

// What is with a rider is ticked on the list of those to assign by somebody who has read that, and
// by nobody else.
func TestAssignment_ticksWhatIsWithARider(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		carlos, maria := c.tenant.Riders[0], c.tenant.Riders[1]
		p := c.received()
		c.assign(carlos.ID, p.id)
		scanned := c.read("/panel/asignacion?codigo=" + p.code)
		require.Contains(t, scanned.words(), "Está en reparto con Carlos Quispe desde")
		require.Contains(t, scanned.words(), "Marcarlo para reasignar")
		tick := p.id + ":3"
		require.Contains(t, scanned.Text, `name="id" value="`+tick+`"`)
		ticked := c.read("/panel/asignacion?id=" + tick)
		require.True(t, isSelected(ticked, p))
		require.Contains(t, ticked.words(), "con Carlos Quispe")
		require.False(t, isSelected(c.read("/panel/asignacion?id="+p.id+":2"), p), "it was ticked before it was assigned")

		form := url.Values{"rider_id": {maria.ID.String()}, "id": {tick}}
		require.Equal(t, []string{"assigned"}, assignmentOutcomes(c.post("/panel/asignacion", form)))
		require.Equal(t, []string{"unchanged"}, assignmentOutcomes(c.post("/panel/asignacion", form)))
		form.Set("rider_id", carlos.ID.String())
		require.Equal(t, []string{"refused"}, assignmentOutcomes(c.post("/panel/asignacion", form)), "it has moved since")
	})
}

// What goes back to its store, waits for a decision or is for another day is in no group; a scan
// says so.
func TestAssignment_leavesOutWhatStaysToday(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		held := func(substatus models.Substatus, next string) models.Order {
			return c.tenant.Row(time.Now().Add(-time.Hour), apptest.ReceivedAfter(time.Minute), func(o *models.Order) {
				o.Substatus = &substatus
				if next != "" {
					o.NextAttemptOn = &next
				}
			})
		}
		tomorrow := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
		rows := []models.Order{
			held(models.SubstatusReturning, ""), held(models.SubstatusAwaitingDecision, ""), held(models.SubstatusRetryPlanned, tomorrow),
			held(models.SubstatusRetryPlanned, "2020-01-01"),
		}
		c.tenant.InsertRows(t, rows)
		list := c.read("/panel/asignacion")
		require.Contains(t, groupOf(t, list, apptest.Miraflores), "Marcar el único de Miraflores")
		require.Contains(t, list.Text, "order-"+rows[3].ID.String())
		require.Contains(t, list.words(), "Otros 3 no salen hoy: esperan una decisión, vuelven a su tienda o son para otro día.")
		for i, says := range []string{"Vuelve a su tienda: no sale a reparto.", "No se pudo entregar y espera una decisión.", "Se intentará otra vez el"} {
			scanned := c.read("/panel/asignacion?codigo=" + rows[i].GuideCode).words()
			require.Contains(t, scanned, says)
			require.Equal(t, i > 0, strings.Contains(scanned, "Marcarlo igual"))
		}
	})
}
