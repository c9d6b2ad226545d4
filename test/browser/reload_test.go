package browser

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// Reloading the page that shows a new key makes no second key, and reloading the result of an
// assignment, which sends it again, assigns nothing again.
func TestPanel_reloadsTheResultOfAForm(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		moved := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/receive", Token: tenant.SignIn(t, nil)})
		require.Equal(t, http.StatusOK, moved.Status, moved.Text)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/asignacion")
		p.pressNamed("a", "Marcar todos")
		p.choose("#rider_id", tenant.Riders[0].Name)
		p.pressNamed("button", "Asignar")
		p.waitForText("Asignado: 1")
		require.Empty(t, read(t, p.tab, chromedp.Value(chromedp.CSS("#rider_id"))), "no rider stays selected")
		p.do(chromedp.Reload())
		p.waitForText("Ya lo tenía: 1")

		p.visit("/panel/claves")
		p.fill("#name", "Una sola")
		p.press(`input[name="scopes"][value="read:orders"]`)
		p.pressNamed("button", "Crear clave")
		p.waitForText("no se volverá a mostrar")
		p.do(chromedp.Reload())
		p.waitForText("Una sola")
		require.Equal(t, 1, read(t, p.tab, chromedp.Evaluate[int](`[...document.querySelectorAll("summary")].filter((button) => button.textContent.includes("Revocar Una sola")).length`)))
	})
}
