package browser

import (
	"errors"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// endSessions ends every session of a user, as when they have expired.
func endSessions(t *testing.T, s *apptest.Service, user models.User) {
	t.Helper()
	_, err := s.App.DB.SQL().ExecContext(t.Context(), "DELETE FROM sessions WHERE user_id = $1", user.ID)
	require.NoError(t, err)
}

// A session that ends in the middle of a form loses nothing, not even a photo.
func TestPanel_aSessionEndsInTheMiddleOfAForm(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		path := deliverable(t, s, tenant, 120)
		user := models.User{}
		p := openDesktop(t, s)
		p.signInAs(tenant, &user)
		p.visit("/panel/tiendas")
		p.fill("#name", "Zapatería Lux")
		endSessions(t, s, user)
		p.pressNamed("main button[type=submit]", "Agregar")
		p.waitForText("Ingrese y el formulario sigue como está.")
		p.fill("#resume-email", user.Email)
		p.fill("#resume-password", apptest.Password)
		p.press("dialog button[type=submit]")
		p.waitForText("Tienda agregada.")

		p.visit(path)
		p.pressNamed("summary", "Entregar")
		p.do(chromedp.SetUploadFiles(chromedp.CSS("#photo"), []string{writePhoto(t)}))
		endSessions(t, s, user)
		p.pressNamed("button", "Confirmar entrega")
		p.waitForText("Ingrese y el formulario sigue como está.")
		p.fill("#resume-email", user.Email)
		p.fill("#resume-password", "equivocada")
		p.press("dialog button[type=submit]")
		p.waitForText("El correo o la contraseña no son correctos.")
		p.waitForFocus("resume-password")
		p.fill("#resume-password", apptest.Password)
		p.press("dialog button[type=submit]")
		p.waitForText("Pedido entregado.")
		p.waitForText("Prueba de entrega")
	})
}

// A list that refreshes itself says when it no longer can, and takes it back when it can again.
func TestPanel_aListThatIsNoLongerRefreshedSaysSo(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		user := models.User{}
		p := openDesktop(t, s)
		p.signInAs(tenant, &user)
		p.visit("/panel/pedidos")
		const notice = "#board-stale"
		refresh := func() {
			read(t, p.tab, chromedp.Evaluate[bool](`document.dispatchEvent(new Event("visibilitychange"))`))
		}
		isShown := func() bool {
			return read(t, p.tab, chromedp.Evaluate[bool](`!!document.querySelector("`+notice+`")`))
		}
		read(t, p.tab, chromedp.Evaluate[bool](`window.kept = fetch; window.tried = 0; window.fetch = async () => { tried++; throw new TypeError("offline"); }; true`))
		refresh()
		p.until(func() error {
			if tried := read(t, p.tab, chromedp.Evaluate[int](`window.tried`)); tried == 0 {
				return errors.New("nothing was requested")
			}
			return nil
		})
		require.False(t, isShown(), "one request failed")
		refresh()
		p.waitForText("El servicio no responde: esta lista puede no estar al día.")

		read(t, p.tab, chromedp.Evaluate[bool](`window.fetch = window.kept; true`))
		refresh()
		p.until(func() error {
			if isShown() {
				return errors.New("the notice is still there")
			}
			return nil
		})

		endSessions(t, s, user)
		refresh()
		p.waitForText("Esta lista ya no se actualiza: su sesión terminó o cambió. Recargue la página.")
	})
}
