package panel_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// An attempt fails, somebody decides, another one fails, and the package goes back to its store:
// all from the order's page.
func TestOrderFailure_fromTheFirstAttemptToTheStore(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v, store := visit(t, s, tenant, nil), visit(t, s, tenant, &tenant.StoreA)
		path := assignedOrder(t, s, tenant, v, map[string]any{"amount_to_collect": 120, "delivery_address": "Jr. Junín 77"})
		require.NotContains(t, store.read(path).Text, path+"/no-entregado", "it is the operator's to report")

		refused := v.upload(path+"/no-entregado", url.Values{"note": {"Tocó tres veces"}}, "photo", "puerta.jpg", photoOf(t, 80, 60))
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "Es obligatorio.")
		require.Contains(t, refused.words(), "La foto que eligió está guardada")
		require.Contains(t, refused.Text, ">Tocó tres veces</textarea>")
		again := refused.fieldsOf(t, path+"/no-entregado")
		again.Set("reason", "absent")
		failed := v.read(v.upload(path+"/no-entregado", again, "photo", "", nil).Location)
		require.Contains(t, failed.words(), "No se pudo entregar · 1 intento · falta decidir, hasta el")
		require.Contains(t, failed.words(), "Intentos fallidos 1 1. No había nadie Tocó tres veces Carlos Quispe")
		require.Contains(t, failed.Text, `alt="Foto del intento 1: abrir completa"`)
		require.Contains(t, failed.words(), "No se pudo entregar: no había nadie Lo llevaba Carlos Quispe")
		require.Contains(t, v.read("/panel/pedidos?estado=assigned").words(), "No se pudo entregar")

		seen := store.read(path)
		require.Contains(t, seen.words(), "1. No había nadie Tocó tres veces")
		require.NotContains(t, seen.Text[strings.Index(seen.Text, `id="attempts"`):], "Carlos Quispe", "a store is not told who it was")
		form := seen.fieldsOf(t, path+"/decidir")
		form.Set("delivery_reference", "Portón verde")
		decided := store.submit(path+"/decidir", form)
		require.Contains(t, decided.words(), "Decidido: se intenta el ")
		require.Contains(t, decided.words(), "Se intentará otra vez · 1 intento · se intenta el ")
		require.Contains(t, decided.words(), "Portón verde")
		require.Contains(t, decided.words(), "Jr. Junín 77", "what was left alone stays")
		require.NotContains(t, decided.Text, path+"/decidir", "a store decides once")

		require.Contains(t, v.submit(path+"/recibir", nil).words(), "De vuelta en la sucursal: lo traía Carlos Quispe")
		v.submit(path+"/asignar", url.Values{"rider_id": {tenant.Riders[1].ID.String()}})
		v.upload(path+"/no-entregado", url.Values{"reason": {"refused"}}, "photo", "", nil)
		returning := v.submit(path+"/decidir", url.Values{"decision": {"return"}, "note": {"Lo pidió la tienda"}})
		require.Contains(t, returning.words(), "Decidido: por devolver a la tienda.")
		require.Contains(t, returning.words(), "Se devuelve a la tienda Lo pidió la tienda")
		require.NotContains(t, returning.Text, path+"/devolver", "the rider has it")
		atCounter := v.submit(path+"/recibir", nil)
		require.Contains(t, atCounter.Text, path+"/devolver")
		back := v.submit(path+"/devolver", url.Values{"note": {"Recibió Lucía"}}).words()
		require.Contains(t, back, "Paquete entregado a la tienda.")
		require.Contains(t, back, "Motivo Devuelto a la tienda Nota Recibió Lucía")
		require.Contains(t, back, "Devuelto · 2 intentos · la tienda lo tiene")
		require.Contains(t, back, "Entregado a la tienda")
		summary := v.read("/panel/resumen")
		require.Contains(t, summary.words(), "Motivo Intentos No había nadie 1 No quiso recibirlo 1")
		require.Contains(t, summary.words(), "Distrito Intentos Miraflores, Lima 2")
		require.Contains(t, summary.words(), "Motorizado Intentos Carlos Quispe 1 María Huamán 1")
		require.NotContains(t, store.read("/panel/resumen").words(), "Intentos fallidos por motorizado")
	})
}

// What was recorded by mistake is taken back with a reason, for as long as the operator allows it.
func TestOrderFailure_undo(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		path := assignedOrder(t, s, tenant, v, map[string]any{"amount_to_collect": 120})
		v.upload(path+"/entregar", url.Values{"actual_amount_collected": {"120"}}, "photo", "", nil)
		delivered := v.read(path)
		require.Equal(t, "100 %", v.read("/panel/resumen").figures()["Al primer intento"])
		require.Contains(t, v.read("/panel/resumen").words(), "La mitad se entregó en")
		require.Contains(t, delivered.words(), "Se deshace: Entregado, hasta las")
		require.NotContains(t, visit(t, s, tenant, &tenant.StoreA).read(path).Text, path+"/deshacer")
		require.Contains(t, v.post(path+"/deshacer", url.Values{"reason": {""}}).words(), "Es obligatorio.")
		undone := v.submit(path+"/deshacer", url.Values{"reason": {"Era otro paquete"}})
		require.Contains(t, undone.words(), "El cambio se deshizo: el pedido está como antes.")
		require.Contains(t, undone.words(), "Se deshizo: entregado Era otro paquete")
		require.Equal(t, "—", v.read("/panel/resumen").figures()["Al primer intento"])
		require.NotContains(t, v.read("/panel/resumen").words(), "La mitad se entregó en", "nothing was delivered")
		require.Contains(t, undone.Text, path+"/entregar", "it is with its rider again")
		require.NotContains(t, undone.Text, path+"/deshacer", "what was taken back is not taken back again")
		require.Contains(t, v.submit(path+"/asignar", url.Values{"rider_id": {tenant.Riders[1].ID.String()}}).words(), "Pasó de Carlos Quispe a María Huamán")
	})
}

// What is collected is paid one way unless the form says otherwise; a part may be paid another way.
func TestOrderDelivery_waysOfPayment(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t, func(o *models.Operator) { o.Rules.ReferenceMethods = []models.Method{models.PaidByYape} })
		v := visit(t, s, tenant, nil)
		collections := func(path string) string {
			order := readOrder(t, s, tenant, strings.TrimPrefix(path, "/panel/pedidos/"))
			encoded, err := json.Marshal(order.Data["collections"])
			require.NoError(t, err)
			return string(encoded)
		}
		cash := assignedOrder(t, s, tenant, v, map[string]any{"amount_to_collect": 120})
		v.upload(cash+"/entregar", url.Values{"actual_amount_collected": {"120"}, "received_by": {"Su hermana"}}, "photo", "", nil)
		require.JSONEq(t, `[{"method":"cash","amount":120,"reference":null}]`, collections(cash))
		require.Contains(t, v.read(cash).words(), "Lo recibió Su hermana")

		both := assignedOrder(t, s, tenant, v, map[string]any{"amount_to_collect": 120})
		fields := url.Values{"actual_amount_collected": {"120"}, "method": {"cash"}, "other_amount": {"150"}, "other_method": {"yape"}}
		require.Contains(t, v.upload(both+"/entregar", fields, "photo", "", nil).words(), "Es más que el monto cobrado.")
		fields.Set("other_amount", "50")
		missing := v.upload(both+"/entregar", fields, "photo", "", nil)
		require.Contains(t, missing.words(), "Es obligatorio con esta forma de pago.")
		require.Regexp(t, `<details class="wide" open>\s*<summary>Pagó con dos formas`, missing.Text)
		fields.Set("other_reference", "004512")
		delivered := v.read(v.upload(both+"/entregar", fields, "photo", "", nil).Location)
		require.JSONEq(t, `[{"method":"cash","amount":70,"reference":null},{"method":"yape","amount":50,"reference":"004512"}]`, collections(both))
		require.Contains(t, plainSpaces.Replace(delivered.words()), "Efectivo S/ 70.00; Yape S/ 50.00, operación 004512")

		nothing := assignedOrder(t, s, tenant, v, nil)
		v.upload(nothing+"/entregar", nil, "photo", "", nil)
		require.JSONEq(t, `[]`, collections(nothing))
	})
}
