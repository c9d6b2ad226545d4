package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// requireNamedControls fails if a control has no label, or two elements have the same id.
func (p *browserUser) requireNamedControls() {
	p.t.Helper()
	require.Empty(p.t, read(p.t, p.tab, chromedp.Evaluate[[]string](`(() => {
		const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
		const unnamed = [...document.querySelectorAll("main input:not([type=hidden]), main select, main textarea")].filter((e) => !e.labels.length);
		return [...ids.filter((id, i) => ids.indexOf(id) !== i), ...unnamed.map((e) => e.name)];
	})()`)), p.address())
}

// On a phone an operator corrects an order, answers the questions about its cost and its point, and
// cancels ticked orders after sorting the list.
func TestPanel_correctionsOnAPhone(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		first := s.CreateOrder(t, tenant.KeyA, map[string]any{"recipient_name": "Zoila Paz"})
		second := s.CreateOrder(t, tenant.KeyA, map[string]any{"recipient_name": "Ana Ruiz"})
		p := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		p.do(emulatePhone())
		p.signIn(tenant, nil)
		p.visit("/panel/pedidos/" + first)
		p.pressNamed("a", "Corregir datos")
		p.waitForText("Corregir el pedido")
		p.requireNamedControls()
		p.requireNoOverflow()
		p.fill("#recipient_phone", "987 111 222")
		p.choose("#size", "Grande")
		p.pressNamed("button", "Guardar la corrección")
		p.waitForText("El costo de envío pasa de S/\u00a09.00 a S/\u00a014.50.")
		p.requireNoOverflow()
		p.pressNamed("button", "Sí, es correcto")
		p.waitForText("Pedido corregido.")
		p.waitForText("+51987111222")

		p.pressNamed("summary", "Completar el punto")
		p.fill("#delivery_point", "-77.03, -12.12")
		p.pressNamed("button", "Guardar punto")
		p.waitForText("están al revés")
		p.waitForFocus("delivery_point")
		p.requireNamedControls()
		p.requireNoOverflow()
		p.pressNamed("button", "Sí, es correcto")
		p.waitForText("Punto guardado.")
		p.waitForText("-12.12,-77.03")

		p.visit("/panel/pedidos")
		p.pressNamed(".sorts a", "Destinatario")
		p.waitForText("Destinatario ↑")
		require.Equal(t, "order-"+second, read(t, p.tab, chromedp.Evaluate[string](`document.querySelector(".orders tbody tr").id`)))
		for _, id := range []string{first, second} {
			p.press(`input[name=id][value="` + id + `"]`)
		}
		p.requireNoOverflow()
		p.pressNamed("button", "Cancelar los marcados")
		p.waitForText("Se cancelarán 2.")
		p.requireNamedControls()
		p.requireNoOverflow()
		p.fill("#reason", "Tienda cerrada")
		p.pressNamed("button", "Sí, cancelar estos pedidos")
		p.waitForText("Cancelado: 2")
		p.requireNoOverflow()
		p.do(chromedp.Reload())
		p.waitForText("Ya estaba cancelado: 2")
	})
}
