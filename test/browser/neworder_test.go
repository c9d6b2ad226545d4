package browser

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// Orders are created one after the other with the keyboard alone: few keys besides their text, and
// the price is there before they are.
func TestPanel_newOrdersByKeyboard(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/pedidos/nuevo")
		keys := 0
		press := func(key string) {
			p.do(chromedp.KeyEvent(key))
			keys++
		}
		fillIn := func() {
			p.waitForFocus("recipient_name")
			for i, text := range []string{"Rosa Díaz", "987654321", "Miraflores", "Av. Larco 345", "Zapatillas", "89.90"} {
				if i > 0 {
					press(kb.Tab)
				}
				p.do(chromedp.KeyEvent(text))
			}
			p.waitForText("Tarifa a Miraflores, Lima (150122):")
			p.waitForText("9.00")
		}
		fillIn()
		for range 3 { // "Más datos", "Crear", "Crear y otro"
			press(kb.Tab)
		}
		press(kb.Enter)
		p.waitForText("Ver el pedido")
		require.LessOrEqual(t, keys, 40)
		fillIn()
		press(kb.Enter)
		p.until(func() error {
			if address := p.address(); !regexp.MustCompile(`^/panel/pedidos/[0-9a-f-]{36}$`).MatchString(address) {
				return fmt.Errorf("%s is no order's page", address)
			}
			return nil
		})
		listed := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders", Key: tenant.Key})
		require.EqualValues(t, 2, listed.Data["total"])
	})
}
