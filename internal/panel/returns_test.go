package panel_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// returning is a package that goes back to its store; atCounter says whether its rider has brought
// it.
func (c *counter) returning(atCounter bool, changes ...map[string]any) parcel {
	c.t.Helper()
	p := c.received(changes...)
	c.move(p, "assign", map[string]any{"rider_id": c.tenant.Riders[0].ID})
	c.move(p, "attempt", map[string]any{"reason": "refused"})
	c.move(p, "decision", map[string]any{"decision": "return"})
	if atCounter {
		c.move(p, "receive", nil)
	}
	return p
}

// What goes back is listed by store, handed over at once, and the store gets a receipt.
func TestReturns_handedOverWithAReceipt(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		number := "+51987000111"
		tenant.StoreA.ContactWhatsApp = &number
		require.NoError(t, s.App.DB.Query(t.Context()).Model(&tenant.StoreA).Where("id = ?", tenant.StoreA.ID).Update("contact_whatsapp", number).Error)
		c := counterOf(t, s, tenant)
		require.Contains(t, c.read("/panel/devoluciones").words(), "No hay paquetes por devolver.")
		first, second, out := c.returning(true), c.returning(true), c.returning(false)
		stays := c.received()
		require.Contains(t, c.read("/panel/devoluciones").words(), "Tienda A 2 en la sucursal y 1 con su motorizado")
		list := "/panel/devoluciones?tienda=" + tenant.StoreA.ID.String()
		shown := c.read(list)
		require.Contains(t, shown.words(), "Intento 1: no quiso recibirlo")
		require.Contains(t, shown.words(), "Con Carlos Quispe")
		require.NotContains(t, shown.Text, `value="`+out.id+`"`, "what the rider has is not handed over")

		scan := func(code, from string) *page { return c.read(from + "&codigo=" + url.QueryEscape(code)) }
		require.Contains(t, scan(first.code, list).Text, `value="`+first.id+`" checked`)
		require.Contains(t, scan(second.code, list+"&id="+first.id).Text, `value="`+first.id+`" checked`, "what was ticked stays")
		require.Contains(t, scan(out.code, list).words(), "todavía está con Carlos Quispe: recíbalo primero.")
		require.Contains(t, scan(stays.code, list).words(), "no está por devolver: recibido.")
		require.Contains(t, scan(first.code, "/panel/devoluciones?tienda="+tenant.StoreB.ID.String()).words(), "No queda nada por devolver a Tienda B.")
		require.Contains(t, scan("X", list).words(), "Un código de guía tiene 11 letras y números.")

		wrong := c.post("/panel/devoluciones", url.Values{"tienda": {tenant.StoreB.ID.String()}, "id": {first.id}})
		require.Equal(t, http.StatusUnprocessableEntity, wrong.Status)
		require.Equal(t, "received", c.order(first).String("status"))
		require.Contains(t, c.post("/panel/devoluciones", url.Values{"tienda": {tenant.StoreA.ID.String()}}).words(), "Marque al menos un pedido.")

		given := c.post("/panel/devoluciones", url.Values{"tienda": {tenant.StoreA.ID.String()}, "note": {"Recibió Lucía"}, "id": {first.id, second.id, stays.id}})
		require.Equal(t, http.StatusOK, given.Status, given.Text)
		require.Equal(t, []string{"refused", "returned", "returned"}, assignmentOutcomes(given))
		require.Equal(t, "cancelled", c.order(first).String("status"))
		require.Equal(t, "returned", c.order(first).String("substatus"))
		require.Contains(t, given.Text, "https://wa.me/51987000111?text=")
		receipt := c.read(given.links()["Imprimir el recibo"])
		require.Contains(t, receipt.words(), "Devolución a Tienda A")
		require.Contains(t, receipt.words(), "2 paquetes")
		require.Contains(t, receipt.words(), first.code)
		require.Equal(t, http.StatusSeeOther, c.get("/panel/devoluciones/recibo?id="+stays.id).Status, "nobody has got that one")

		again := c.post("/panel/devoluciones", url.Values{"tienda": {tenant.StoreA.ID.String()}, "id": {first.id}})
		require.Equal(t, []string{"unchanged"}, assignmentOutcomes(again))
		require.Equal(t, http.StatusForbidden, visit(t, s, tenant, &tenant.StoreA).get("/panel/devoluciones").Status)
	})
}
