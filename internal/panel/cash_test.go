package panel_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// delivered is a package that its rider has delivered and collected for.
func (c *counter) delivered(collections ...map[string]any) parcel {
	c.t.Helper()
	p := c.received(map[string]any{"payment_type": "cash_on_delivery", "amount_to_collect": 50})
	c.move(p, "assign", map[string]any{"rider_id": c.tenant.Riders[0].ID})
	c.move(p, "deliver", map[string]any{"collections": collections})
	return p
}

func paid(method string, amount float64, reference ...string) map[string]any {
	collection := map[string]any{"method": method, "amount": amount}
	if len(reference) > 0 {
		collection["reference"] = reference[0]
	}
	return collection
}

// One evening: a rider hands in what was collected, counted before the sum is shown, and the store
// is settled with and paid. Every page has the same amounts.
func TestCash_anEvening(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		c := counterOf(t, s, tenant)
		require.Contains(t, c.read("/panel/caja").words(), "Nadie tiene nada por rendir.")
		first := c.delivered(paid("cash", 30), paid("yape", 20, "00123"))
		c.delivered(paid("cash", 50))
		words := func(path string) string { return plainSpaces.Replace(c.read(path).words()) }
		require.Contains(t, words("/panel/caja"), "Carlos Quispe 2 S/ 80.00 S/ 20.00")
		require.Contains(t, words("/panel/caja"), "Tienda A S/ 100.00")

		form := "/panel/caja/rendir?motorizado=" + tenant.Riders[0].ID.String()
		opened := c.read(form)
		require.NotContains(t, opened.Text, "80.00", "the cashier counts first")
		require.Contains(t, plainSpaces.Replace(opened.words()), "Yape S/ 20.00 · "+first.code+" · operación 00123")
		require.Equal(t, http.StatusUnprocessableEntity, c.post(form, url.Values{"counted": {""}}).Status)

		differs := c.post(form, url.Values{"counted": {"75"}, "payments": {first.id + ".yape"}})
		require.Equal(t, http.StatusConflict, differs.Status, differs.Text)
		require.Contains(t, plainSpaces.Replace(differs.words()), "Contó S/ 75.00 y debe rendir S/ 80.00 en efectivo: faltan S/ 5.00")
		require.Contains(t, differs.Text, `value="`+first.id+`.yape" checked`)
		explained := url.Values{"counted": {"75"}, "payments": {first.id + ".yape"}, "expected": {"80.00"}, "borne_by": {"rider"}, "reason": {"Dio mal el vuelto"}}
		stale := url.Values{"counted": {"75"}, "expected": {"79.00"}, "borne_by": {"rider"}, "reason": {"Dio mal el vuelto"}}
		require.Contains(t, c.post(form, stale).words(), "Los montos cambiaron")
		closed := c.post(form, explained)
		require.Equal(t, http.StatusSeeOther, closed.Status, closed.Text)
		receipt := plainSpaces.Replace(c.read(closed.Location).words())
		for _, part := range []string{"Rendición 1", "Carlos Quispe", "Efectivo S/ 75.00", "Yape S/ 20.00", "Total S/ 95.00",
			"(queda en la cuenta del motorizado): Dio mal el vuelto", "3 cobros", first.code} {
			require.Contains(t, receipt, part)
		}
		require.Contains(t, words("/panel/caja"), "Carlos Quispe 0 S/ 5.00 S/ 0.00", "the debt stays with the rider")
		require.Contains(t, words("/panel/caja"), "En la caja S/ 75.00")

		// A correction of how something was paid moves what the rider owes.
		correct := func(values url.Values) *page {
			return c.upload("/panel/pedidos/"+first.id+"/corregir-entrega", values, "photo", "", nil)
		}
		refused := correct(url.Values{"reason": {"Pagó 52"}, "actual_amount_collected": {"52"}})
		require.Contains(t, refused.words(), "Se cobró de varias formas: indique cuánto por cada una.")
		require.Contains(t, correct(url.Values{"reason": {"Fue Plin"}, "method": {"plin"}}).words(), "Indique también el monto.")
		require.Equal(t, http.StatusSeeOther, correct(url.Values{"reason": {"Fue Plin"}, "actual_amount_collected": {"50"}, "method": {"cash"},
			"other_amount": {"20"}, "other_method": {"plin"}}).Status)
		require.Contains(t, words("/panel/pedidos/"+first.id), "Formas de pago Efectivo 30.00, Yape 20.00 → pasó a Efectivo 30.00, Plin 20.00")
		require.Contains(t, words("/panel/caja"), "Carlos Quispe 1 S/ 5.00 S/ 0.00", "Yape that was handed in and was not Yape")
		require.Equal(t, http.StatusSeeOther, correct(url.Values{"reason": {"Sí fue Yape"}, "actual_amount_collected": {"50"}, "method": {"cash"},
			"other_amount": {"20"}, "other_method": {"yape"}}).Status)

		draft := "/panel/liquidaciones/nueva?tienda=" + tenant.StoreA.ID.String()
		page := c.read(draft)
		require.Contains(t, plainSpaces.Replace(page.words()), "Cobrado y rendido S/ 100.00 Envíos − S/ 18.00 Se paga a la tienda S/ 82.00")
		values := page.fieldsOf(t, "/panel/liquidaciones/nueva")
		changed := url.Values{"tienda": values["tienda"], "hasta": values["hasta"], "neto": {"1"}}
		require.Contains(t, c.post("/panel/liquidaciones/nueva", changed).words(), "Los montos cambiaron")
		issued := c.post("/panel/liquidaciones/nueva", values)
		require.Equal(t, http.StatusSeeOther, issued.Status, issued.Text)
		again := c.post("/panel/liquidaciones/nueva", values)
		require.Contains(t, again.words(), "No hay nada por liquidar hasta ese día.", "an order is settled once")
		require.Contains(t, words("/panel/liquidaciones"), "1 Tienda A")
		require.Contains(t, words("/panel/caja"), "S/ 0.00 S/ 0.00 S/ 82.00")

		unpaid := c.post(issued.Location+"/pagar", url.Values{"paid_from": {"bank"}})
		require.Equal(t, http.StatusUnprocessableEntity, unpaid.Status)
		require.Contains(t, unpaid.words(), "Es obligatorio si se pagó desde el banco")
		require.Equal(t, http.StatusSeeOther, c.post(issued.Location+"/pagar", url.Values{"paid_from": {"bank"}, "reference": {"OP-77"}}).Status)
		require.Contains(t, words(issued.Location), "Pagada el")
		require.NotContains(t, words(issued.Location), "Marcar como pagada")
		require.Contains(t, c.read(c.post(issued.Location+"/pagar", url.Values{"paid_from": {"till"}}).Location).words(), "La liquidación ya está pagada.")
		require.Contains(t, c.get(issued.Location+"/pedidos.csv").Text, first.code+";;")

		// After that the delivery is no longer undone, and a correction is of the next settlement.
		require.Contains(t, c.post("/panel/pedidos/"+first.id+"/deshacer", url.Values{"reason": {"Era otro"}}).words()+
			c.read("/panel/pedidos/"+first.id).words(), "rindió")
		store := visit(t, s, tenant, &tenant.StoreA)
		require.Contains(t, plainSpaces.Replace(store.read("/panel/liquidaciones").words()), "Pagada")
		require.Contains(t, plainSpaces.Replace(store.read(issued.Location).words()), "operación OP-77")
		other := visit(t, s, tenant, &tenant.StoreB)
		require.Contains(t, other.read("/panel/liquidaciones").words(), "Todavía no hay liquidaciones.")
		require.Equal(t, http.StatusNotFound, other.get(issued.Location).Status)
		require.Equal(t, http.StatusForbidden, store.get("/panel/caja").Status)
		require.Equal(t, http.StatusForbidden, store.get(draft).Status)
	})
}

// What is written by hand has a reason, and a count of the till says what is there.
func TestCash_byHand(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		c := counterOf(t, s, tenant)
		words := func() string { return plainSpaces.Replace(c.read("/panel/caja").words()) }
		send := func(kind string, values url.Values) *page { return c.post("/panel/caja/ajuste/"+kind, values) }
		require.Contains(t, send("count", url.Values{"amount": {"200"}}).words(), "Es obligatorio.")
		require.Equal(t, http.StatusSeeOther, send("count", url.Values{"amount": {"200"}, "reason": {"Sencillo"}}).Status)
		require.Contains(t, words(), "En la caja S/ 200.00")
		require.Equal(t, http.StatusSeeOther, send("deposit", url.Values{"amount": {"50"}, "reason": {"Depósito 12"}}).Status)
		require.Contains(t, words(), "En la caja S/ 150.00 según el libro; en el banco S/ 50.00")
		rider := tenant.Riders[0].ID.String()
		require.Equal(t, http.StatusSeeOther, send("rider", url.Values{"rider_id": {rider}, "amount": {"7.50"}, "reason": {"Perdió una bolsa"}}).Status)
		require.Contains(t, words(), "Carlos Quispe 0 S/ 7.50")
		require.Equal(t, http.StatusNotFound, send("rider", url.Values{"rider_id": {tenant.StoreA.ID.String()}, "amount": {"1"}, "reason": {"x"}}).Status)
		require.Equal(t, http.StatusSeeOther, send("store", url.Values{"store_id": {tenant.StoreB.ID.String()}, "amount": {"3"}, "less": {"true"},
			"reason": {"Bolsas"}}).Status)
		require.Contains(t, words(), "Tienda B S/ 0.00 S/ -3.00")

		onAccount := c.post("/panel/caja/rendir?motorizado="+rider, url.Values{"counted": {"5"}, "on_account": {"true"}})
		require.Equal(t, http.StatusSeeOther, onAccount.Status)
		require.Contains(t, words(), "Carlos Quispe 0 S/ 2.50")
		var audited []models.AuditAction
		require.NoError(t, s.App.DB.Query(t.Context()).Model(&models.AuditEntry{}).Where("operator_id = ?", tenant.Operator.ID).
			Pluck("action", &audited).Error)
		require.Contains(t, audited, models.AuditAdjusted)
		require.Contains(t, audited, models.AuditHandedIn)
	})
}

// Who assigns more than a rider may carry is told.
func TestCash_ceiling(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		c := counterOf(t, s, tenant)
		c.submit("/panel/ajustes/entregas", url.Values{"rider_ceiling": {"120"}, "open_count": {"true"}, "delivery_days": {"1"},
			"methods": {"cash", "yape"}})
		c.delivered(paid("cash", 50))
		rider := tenant.Riders[0].ID.String()
		assign := func() string {
			p := c.received(map[string]any{"payment_type": "cash_on_delivery", "amount_to_collect": 50})
			sent := c.post("/panel/asignacion", url.Values{"rider_id": {rider}, "id": {p.id}})
			require.Equal(t, http.StatusOK, sent.Status)
			return plainSpaces.Replace(sent.words())
		}
		require.NotContains(t, assign(), "pasa el tope")
		require.Contains(t, assign(), "pasa el tope de S/ 120.00")
		p := c.received()
		assigned := c.post("/panel/pedidos/"+p.id+"/asignar", url.Values{"rider_id": {rider}})
		require.Contains(t, plainSpaces.Replace(c.read(assigned.Location).words()), "pasa el tope de S/ 120.00")
		require.Contains(t, plainSpaces.Replace(c.read("/panel/caja/rendir?motorizado="+rider).words()), "Debe rendir S/ 50.00 en efectivo.")
	})
}
