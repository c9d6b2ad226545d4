package browser

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// With the riders opened, a scan ticks its package and changes no rider.
func TestReader_overAnOpenList(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		first, _ := received(t, s, tenant, token)
		_, code := received(t, s, tenant, token)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/asignacion")
		p.waitForText(code)
		p.press("#order-" + first + " input")
		p.choose("#rider_id", tenant.Riders[1].Name)
		p.do(chromedp.Click(chromedp.CSS("#rider_id")))
		p.types(code+"\r", readersKey)
		p.waitForText("Marcado " + code)
		require.Equal(t, tenant.Riders[1].ID.String(), p.evaluate("document.getElementById('rider_id').value"))
	})
}

// In the list of orders a scan opens its order, whatever has the focus, and changes nothing else.
func TestReader_inTheListOfOrders(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		code := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + id, Key: tenant.Key}).String("guide_code")
		other := s.CreateOrder(t, tenant.KeyA)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		for name, focus := range map[string]string{
			"nothing": "document.activeElement.blur()", "a tick box": "document.querySelector('#order-" + other + " input').focus()",
			"all": "document.querySelector('.all input').focus()", "a filter": "document.getElementById('tienda').focus()",
			"the search": "document.getElementById('q').focus()", "another order": "document.querySelector('#order-" + other + " a').focus()",
		} {
			p.visit("/panel/pedidos")
			p.waitVisible("#order-" + id)
			p.evaluate(focus)
			p.types(code+"\r", slowReadersKey)
			t.Log(name)
			p.waitForOrder(id)
		}
	})
}

// What is typed by hand on the page of an order is not left behind by a scan, and what is no guide
// code stays in the field that it was read into.
func TestReader_whileSomebodyWrites(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		code := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + s.CreateOrder(t, tenant.KeyA), Key: tenant.Key}).String("guide_code")
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/pedidos/" + id)
		p.waitVisible("#guide-code")
		p.evaluate("document.getElementById('reason').closest('details').open = true")
		p.fill("#reason", "Sin stock")
		p.types(code+"\r", readersKey)
		p.waitForText("aquí hay algo escrito sin guardar")
		require.Equal(t, "Sin stock", p.evaluate("document.getElementById('reason').value"))
		p.types("7751234567890", readersKey)
		require.Equal(t, "Sin stock7751234567890", p.evaluate("document.getElementById('reason').value"))
		require.Equal(t, "/panel/pedidos/"+id, p.address())
	})
}
