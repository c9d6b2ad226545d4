package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// A session that ends in the middle of a form loses nothing, not even a photo.
func TestPanel_aSessionEndsInTheMiddleOfAForm(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		path := deliverable(t, s, tenant, 120)
		user := models.User{}
		p := openDesktop(t, s)
		p.signInAs(tenant, &user)
		end := func() {
			_, err := s.App.DB.SQL().ExecContext(t.Context(), "DELETE FROM sessions WHERE user_id = '"+user.ID.String()+"'")
			require.NoError(t, err)
		}
		p.visit("/panel/tiendas")
		p.fill("#name", "Zapatería Lux")
		end()
		p.pressNamed("main button[type=submit]", "Agregar")
		p.waitForText("Su sesión terminó.")
		p.fill("#email", user.Email)
		p.fill("#password", apptest.Password)
		p.press("main button[type=submit]")
		p.waitForText("Tienda agregada.")

		p.visit(path)
		p.pressNamed("summary", "Entregar")
		p.do(chromedp.SetUploadFiles(chromedp.CSS("#photo"), []string{writePhoto(t)}))
		end()
		p.pressNamed("button", "Confirmar entrega")
		p.waitForText("Ingrese y el formulario sigue como está.")
		p.fill("#resume-email", user.Email)
		p.fill("#resume-password", apptest.Password)
		p.press("dialog button[type=submit]")
		p.waitForText("Pedido entregado.")
		p.waitForText("Prueba de entrega")
	})
}
