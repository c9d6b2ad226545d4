package browser

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// An amount of a thousand and more is on one line, with its thousands separated, on a phone and on
// a desktop.
func TestPanel_amountsAreOnOneLine(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		for _, amount := range []float64{1250, 123456.78} {
			id := s.CreateOrder(t, tenant.KeyA, map[string]any{"amount_to_collect": amount, "delivery_address": "Avenida General José de San Martín 1234, interior 5"})
			moved := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/receive", Token: token})
			require.Equal(t, http.StatusOK, moved.Status, moved.Text)
		}
		for _, width := range []int{phoneWidth, desktopWidth} {
			p := &browserUser{t, open(t, width), s.BaseURL}
			if width == phoneWidth {
				p.do(emulatePhone())
			}
			p.signIn(tenant, nil)
			for _, path := range []string{"/panel/pedidos", "/panel/recepcion", "/panel/asignacion"} {
				p.visit(path)
				p.waitForText("S/\u00a01,250.00")
				p.waitForText("S/\u00a0123,456.78")
				require.Equal(t, []int{1, 1}, read(t, p.tab, chromedp.Evaluate[[]int](
					`[...document.querySelectorAll("main td .money")].map((amount) => amount.getClientRects().length)`)), "lines on %s at %d pixels", path, width)
				p.requireNoOverflow()
			}
			p.pressNamed("a", "Marcar todos")
			p.waitForText("S/\u00a0124,706.78 por cobrar")
		}
	})
}
