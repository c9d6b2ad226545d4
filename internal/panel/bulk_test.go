package panel_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// cancelMany asks to cancel orders and confirms it.
func (v *visitor) cancelMany(reason string, ids ...string) *page {
	v.t.Helper()
	asked := v.read("/panel/pedidos/cancelar?" + url.Values{"id": ids}.Encode())
	return v.post("/panel/pedidos/cancelar", url.Values{"reason": {reason}, "id": asked.hiddenIDs()})
}

// hiddenIDs are the orders that the page's form is about.
func (p *page) hiddenIDs() []string {
	var ids []string
	for _, part := range strings.Split(p.Text, `<input type="hidden" name="id" value="`)[1:] {
		ids = append(ids, part[:36])
	}
	return ids
}

// The ticked orders are cancelled for one reason, and the page says what became of each.
func TestOrders_bulkCancel(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		registered, received := c.parcel(), c.received()
		done := tenantDelivered(t, c.tenant)
		list := c.read("/panel/pedidos")
		require.Contains(t, list.Text, `formaction="/panel/pedidos/cancelar"`)

		asked := c.read("/panel/pedidos/cancelar?" + url.Values{"id": {registered.id, received.id, done}}.Encode())
		require.Contains(t, asked.words(), "Se cancelarán 2.")
		require.Contains(t, c.read("/panel/pedidos/cancelar?id="+registered.id).words(), "Se cancelará 1. No se podrá volver a poner en marcha.")
		require.Contains(t, asked.words(), "No se pueden cancelar Entregado")
		require.Equal(t, []string{registered.id, received.id}, asked.hiddenIDs())
		require.Equal(t, "registered", c.order(registered).String("status"), "nothing has happened yet")

		tooLong := c.post("/panel/pedidos/cancelar", url.Values{"reason": {strings.Repeat("a", 256)}, "id": asked.hiddenIDs()})
		require.Equal(t, 422, tooLong.Status)
		require.Contains(t, tooLong.words(), "Admite como máximo 255 caracteres.")
		require.Equal(t, asked.hiddenIDs(), tooLong.hiddenIDs())

		form := url.Values{"reason": {"Tienda cerrada"}, "id": {registered.id, received.id, done, registered.id}}
		report := c.post("/panel/pedidos/cancelar", form)
		require.Equal(t, 200, report.Status)
		require.Equal(t, []string{"refused", "cancelled", "cancelled"}, assignmentOutcomes(report))
		require.Contains(t, report.words(), "Cancelado: 2")
		require.Contains(t, report.words(), "El pedido no se puede cancelar porque su estado es Entregado.")
		require.Empty(t, report.hiddenIDs())
		cancellation := c.order(received).Data["cancellation"].(map[string]any)
		require.Equal(t, "Tienda cerrada", cancellation["reason"])
		require.Equal(t, []string{"unchanged", "unchanged"}, assignmentOutcomes(c.post("/panel/pedidos/cancelar", url.Values{"reason": {"Otra"}, "id": {registered.id, received.id}})))
		require.Equal(t, "Tienda cerrada", c.order(received).Data["cancellation"].(map[string]any)["reason"])
	})
}

// A cancel is final: what a colleague has moved since the page was shown is not cancelled until its
// sender has seen that.
func TestOrders_cancelLeavesWhatChangedSinceThePage(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		moved, left := c.received(), c.received()
		asked := c.read("/panel/pedidos/cancelar?" + url.Values{"id": {moved.id, left.id}}.Encode())
		form := url.Values{"reason": {"Sin stock"}, "id": asked.hiddenIDs(), "version": {moved.id + ":2", left.id + ":2"}}
		for _, version := range form["version"] {
			require.Contains(t, asked.Text, `name="version" value="`+version+`"`)
		}
		require.Contains(t, c.read("/panel/pedidos/"+moved.id).Text, `name="expected_version" value="2"`)
		c.move(moved, "assign", map[string]any{"rider_id": c.tenant.Riders[0].ID})

		report := c.post("/panel/pedidos/cancelar", form)
		require.Contains(t, report.words(), "El pedido cambió desde que usted lo vio.")
		require.Contains(t, report.words(), "Cancelado: 1")
		require.Equal(t, "cancelled", c.order(left).String("status"))
		require.Equal(t, "assigned", c.order(moved).String("status"))

		path := "/panel/pedidos/" + moved.id + "/cancelar"
		shown := c.post(path, url.Values{"reason": {"Sin stock"}, "expected_version": {"2"}})
		require.Contains(t, shown.words(), "El pedido cambió desde que usted lo vio.")
		require.Contains(t, shown.Text, `name="expected_version" value="3"`, "whoever has read it can send the form again")
		require.Equal(t, "assigned", c.order(moved).String("status"))
		require.Contains(t, c.submit(path, url.Values{"reason": {"Sin stock"}, "expected_version": {"3"}}).words(), "Pedido cancelado.")
	})
}

// A store cancels its own orders while they are registered.
func TestOrders_bulkCancelByAStore(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		registered, received := c.parcel(), c.received()
		store, other := visit(t, s, c.tenant, &c.tenant.StoreA), visit(t, s, c.tenant, &c.tenant.StoreB)
		require.Equal(t, []string{"refused"}, assignmentOutcomes(store.post("/panel/pedidos/cancelar", url.Values{"id": {received.id}})))
		require.Equal(t, 404, other.get("/panel/pedidos/cancelar?id="+registered.id).Status)
		require.Equal(t, []string{"refused"}, assignmentOutcomes(other.post("/panel/pedidos/cancelar", url.Values{"id": {registered.id}})))
		require.Equal(t, []string{"cancelled"}, assignmentOutcomes(store.cancelMany("Sin stock", registered.id, received.id)))
		require.Equal(t, "cancelled", c.order(registered).String("status"))
		require.Equal(t, "received", c.order(received).String("status"))

		none := store.get("/panel/pedidos/cancelar")
		require.Equal(t, 303, none.Status)
		require.Contains(t, store.read(none.Location).words(), "Marque al menos un pedido.")
		many := slices.Repeat([]string{registered.id}, 201)
		require.Contains(t, store.read(store.get("/panel/pedidos/cancelar?"+url.Values{"id": many}.Encode()).Location).words(), "Se mueven hasta 200 pedidos a la vez.")
		for i := range many {
			many[i] = fmt.Sprintf("%s%012d", registered.id[:24], i)
		}
		require.Equal(t, 404, store.post("/panel/pedidos/cancelar", url.Values{"id": many}).Status, "orders that nobody has")
	})
}

// tenantDelivered is the id of a delivered order.
func tenantDelivered(t *testing.T, tenant *apptest.Tenant) string {
	t.Helper()
	row := tenant.Row(time.Now(), apptest.ReceivedAfter(0), apptest.DeliveredAfter(tenant.Riders[0], time.Hour))
	tenant.InsertRows(t, []models.Order{row})
	return row.ID.String()
}

// The ticked orders are received or assigned at once, and the page says what became of each.
func TestOrders_bulkReceiveAndAssign(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		first, second, there := c.parcel(), c.parcel(), c.received()
		ids := url.Values{"id": {first.id, second.id, there.id}}
		asked := c.read("/panel/pedidos/recibir?" + ids.Encode())
		require.Contains(t, asked.words(), "Se recibirán 2. Los paquetes tienen que estar aquí.")
		require.Contains(t, asked.words(), "No se pueden recibir Recibido")
		report := c.post("/panel/pedidos/recibir", url.Values{"id": {first.id, second.id, there.id}, "branch_id": {c.tenant.Main.ID.String()}})
		require.ElementsMatch(t, []string{"received", "received", "unchanged"}, assignmentOutcomes(report))

		asked = c.read("/panel/pedidos/asignar?" + ids.Encode())
		require.Contains(t, asked.words(), "Se asignarán 3.")
		require.Equal(t, 422, c.post("/panel/pedidos/asignar", url.Values{"id": asked.hiddenIDs()}).Status, "a rider is required")
		report = c.post("/panel/pedidos/asignar", url.Values{"id": asked.hiddenIDs(), "rider_id": {c.tenant.Riders[0].ID.String()}})
		require.Equal(t, []string{"assigned", "assigned", "assigned"}, assignmentOutcomes(report))
		for _, parcel := range []parcel{first, second, there} {
			require.Equal(t, "assigned", c.order(parcel).String("status"))
		}
		file := c.read("/panel/pedidos.csv?id=" + first.id + "&id=" + there.id).Text
		require.Contains(t, file, first.code)
		require.NotContains(t, file, second.code)
		for _, path := range []string{"/panel/pedidos/recibir", "/panel/pedidos/asignar"} {
			require.Equal(t, 403, visit(t, s, c.tenant, &c.tenant.StoreA).get(path+"?id="+first.id).Status)
		}
	})
}

// All orders that match a filter are moved in steps, also those on other pages; what was registered
// after the preview stays.
func TestOrders_allThatMatch(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		rows := make([]models.Order, 203)
		for i := range rows {
			rows[i] = c.tenant.Row(time.Now().Add(-time.Duration(i+1)*time.Minute), func(o *models.Order) { o.AmountToCollect = 100 })
		}
		rows[0].LocationID = apptest.Surco
		c.tenant.InsertRows(t, rows)
		kept := c.received()
		filter := "?todos=1&estado=registered&distrito=" + apptest.Miraflores.String()
		asked := c.read("/panel/pedidos/cancelar" + filter)
		require.Contains(t, plainSpaces.Replace(asked.words()), "Se cancelarán 202. No se podrán volver a poner en marcha. Por cobrar: S/ 202.00")
		_, action, _ := strings.Cut(asked.Text, `<form method="post" action="/panel/pedidos/cancelar`)
		action, _, _ = strings.Cut(action, `"`)
		path := "/panel/pedidos/cancelar" + strings.ReplaceAll(action, "&amp;", "&")
		late := c.parcel()

		step := c.post(path, url.Values{"reason": {"Tienda cerrada"}})
		require.Equal(t, 200, step.Status, step.words())
		require.Contains(t, step.words(), "Van 200. Quedan más.")
		again := step.hidden()
		require.Equal(t, []string{"Tienda cerrada"}, again["reason"])
		done := c.post(path, again)
		require.Contains(t, done.words(), "Terminó: 202 en total.")
		counts := c.read("/panel/pedidos").tabs()
		require.Equal(t, []string{"2", "1", "202"}, []string{counts["Registrado"], counts["Recibido"], counts["Cancelado"]}, "the one of another district and the late one")
		require.Equal(t, "registered", c.order(late).String("status"))
		require.Equal(t, "received", c.order(kept).String("status"))

		file := c.read("/panel/pedidos.csv?todos=1&estado=cancelled&id=" + late.id).Text
		require.Contains(t, file, "202 pedidos")
		require.Contains(t, c.read(c.get("/panel/etiquetas?todos=1&estado=cancelled").Location).words(), "Se imprimen 200 etiquetas como máximo")
	})
}
