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
		require.Contains(t, store.read(store.get("/panel/pedidos/cancelar?"+url.Values{"id": many}.Encode()).Location).words(), "Se cancelan hasta 200 pedidos a la vez.")
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
