package panel_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// The deliveries of a rider without a phone are recorded at once, each with what was collected.
func TestOrders_bulkDeliver(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t, func(o *models.Operator) { o.Rules.ReferenceMethods = []models.Method{models.PaidByYape} }))
		out := func(changes map[string]any) parcel {
			p := c.received(changes)
			c.move(p, "assign", map[string]any{"rider_id": c.tenant.Riders[0].ID})
			return p
		}
		full, less, paid := out(map[string]any{"amount_to_collect": 120}), out(map[string]any{"amount_to_collect": 80}), out(nil)
		open, here := out(map[string]any{"payment_type": "cash_on_delivery"}), c.received()
		list := c.read("/panel/pedidos?estado=assigned&motorizado=" + c.tenant.Riders[0].ID.String())
		require.Contains(t, list.Text, `formaction="/panel/pedidos/entregar"`)
		require.Contains(t, list.Text, `data-reader="tick"`)
		require.NotContains(t, c.read("/panel/pedidos").Text, `formaction="/panel/pedidos/entregar"`)

		asked := c.read("/panel/pedidos/entregar?" + url.Values{"id": {full.id, less.id, paid.id, open.id, here.id}}.Encode())
		require.Contains(t, asked.words(), "Se entregarán 4.")
		require.Contains(t, asked.Text, `name="amount_`+full.id+`" type="text" inputmode="decimal" value="120.00" autocomplete="off" required`)
		form := asked.fieldsOf(t, "/panel/pedidos/entregar")
		form["id"], form["version"] = asked.hiddenIDs(), nil
		form.Set("amount_"+less.id, "")
		refused := c.post("/panel/pedidos/entregar", form)
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), less.code+": escriba lo que se cobró, 0 si no fue nada.")
		form.Set("amount_"+open.id, "15")
		form.Set("amount_"+less.id, "70")
		form.Set("method", "yape")
		require.Contains(t, c.post("/panel/pedidos/entregar", form).words(), "Pide un número de operación para cada entrega")
		form.Set("method", "plin")
		report := c.post("/panel/pedidos/entregar", form)
		require.Equal(t, []string{"delivered", "delivered", "delivered", "delivered"}, assignmentOutcomes(report))
		collected := func(p parcel) any { return c.order(p).Data["actual_amount_collected"] }
		require.EqualValues(t, 120, collected(full))
		require.EqualValues(t, 70, collected(less))
		require.EqualValues(t, 15, collected(open))
		require.Nil(t, collected(paid))
		parts, _ := c.order(less).Data["collections"].([]any)
		require.Len(t, parts, 1)
		require.Equal(t, "plin", parts[0].(map[string]any)["method"])
		require.Equal(t, []string{"unchanged"}, assignmentOutcomes(c.post("/panel/pedidos/entregar", url.Values{"id": {full.id}})))
		require.Equal(t, "received", c.order(here).String("status"))
	})
}

// So are the attempts that failed, for one reason; sent twice they are recorded once.
func TestOrders_bulkFail(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		one, other := c.received(), c.received()
		for _, p := range []parcel{one, other} {
			c.move(p, "assign", map[string]any{"rider_id": c.tenant.Riders[0].ID})
		}
		asked := c.read("/panel/pedidos/no-entregado?" + url.Values{"id": {one.id, other.id}}.Encode())
		require.Contains(t, asked.words(), "Se registrarán 2 intentos fallidos.")
		require.Contains(t, c.post("/panel/pedidos/no-entregado", url.Values{"id": {one.id}}).words(), "Es obligatorio.")
		form := url.Values{"reason": {"out_of_time"}, "note": {"Se hizo de noche"}, "id": {one.id, other.id}, "version": {one.id + ":3", other.id + ":3"}}
		require.Contains(t, asked.Text, `name="version" value="`+form["version"][0]+`"`)
		require.Equal(t, []string{"attempt_failed", "attempt_failed"}, assignmentOutcomes(c.post("/panel/pedidos/no-entregado", form)))
		require.Equal(t, []string{"refused", "refused"}, assignmentOutcomes(c.post("/panel/pedidos/no-entregado", form)))
		attempts, _ := c.order(one).Data["attempts"].([]any)
		require.Len(t, attempts, 1)
		require.Equal(t, "Se hizo de noche", attempts[0].(map[string]any)["note"])
		require.Equal(t, 2, strings.Count(c.read("/panel/pedidos?falta_decidir=1").Text, "<tr id=\"order-"))
	})
}
