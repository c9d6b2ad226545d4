package browser

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// Going back to the result of a form shows it again, and reloading it does not send the form again.
func TestPanel_goesBackToTheResultOfAForm(t *testing.T) {
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
		p.press("#content .report a.code")
		p.waitVisible("#guide-code")
		read(t, p.tab, chromedp.Evaluate[bool](`(history.back(), true)`))
		p.waitForText("Asignado: 1")

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
