package browser

import (
	"encoding/base32"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/internal/totp"
	"despacho/models"
	"despacho/test/apptest"
)

// An administrator sets a second factor up on a phone, where the operator requires it, and signs in
// with a recovery code.
func TestPanel_secondFactorOnAPhone(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant, user := s.NewTenant(t, func(o *models.Operator) { o.RequireSecondFactor = true }), &models.User{Admin: true}
		p := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		complaints := collectConsoleErrors(p.tab)
		p.do(emulatePhone())
		tenant.SignInAs(t, user)
		p.visit("/panel/tiendas")
		p.fill("#email", user.Email)
		p.fill("#password", apptest.Password)
		p.press("main button[type=submit]")
		p.waitForText("El operador pide un segundo factor a sus administradores")
		require.Equal(t, "/panel/cuenta/segundo-factor", p.address())
		p.requireNoOverflow()
		p.fill("#password", apptest.Password)
		p.pressNamed("main button[type=submit]", "Activar")
		p.waitVisible("#totp-secret")
		p.requireNoOverflow()
		secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(read(t, p.tab, chromedp.Text(chromedp.CSS("#totp-secret"))))
		require.NoError(t, err)
		p.fill("#code", totp.Code(secret, totp.Step(time.Now())))
		p.pressNamed("main button[type=submit]", "Confirmar")
		p.waitVisible("#recovery-codes")
		p.requireNoOverflow()
		recovery := read(t, p.tab, chromedp.Evaluate[string](`document.querySelector("#recovery-codes").textContent.split("\n")[0]`))
		p.visit("/panel/pedidos")
		p.waitForText("No hay pedidos")

		again := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		again.do(emulatePhone())
		again.visit("/panel/ingreso?siguiente=%2Fpanel%2Ftiendas")
		again.fill("#email", user.Email)
		again.fill("#password", apptest.Password)
		again.pressNamed("main button[type=submit]", "Ingresar")
		again.waitVisible("#code")
		again.requireNoOverflow()
		again.waitForFocus("code") // ready to type
		again.fill("#code", recovery)
		again.pressNamed("main button[type=submit]", "Ingresar")
		again.waitForText("Tienda A")
		require.Equal(t, "/panel/tiendas", again.address())
		require.Empty(t, complaints())
	})
}
