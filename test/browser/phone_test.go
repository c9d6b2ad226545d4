package browser

import (
	"encoding/base32"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/internal/totp"
	"despacho/models"
	"despacho/test/apptest"
)

// narrowPhoneWidth is the width of the smallest phones that are in use.
const narrowPhoneWidth = 360

// On a phone the list to assign from shows several orders beside its bar, and the reference does
// not scroll sideways.
func TestPanel_assignmentOnAPhone(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		for range 5 {
			id := s.CreateOrder(t, tenant.KeyA, map[string]any{"amount_to_collect": 1250})
			moved := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/receive", Token: token})
			require.Equal(t, http.StatusOK, moved.Status, moved.Text)
		}
		p := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		p.do(emulatePhone())
		p.signIn(tenant, nil)
		p.visit("/panel/asignacion")
		p.press("#assignable .tick input")
		p.waitForText("1 marcado")
		whole := read(t, p.tab, chromedp.Evaluate[int](`(() => {
			const end = document.querySelector(".selection").getBoundingClientRect().top;
			return [...document.querySelectorAll("#assignable tbody tr")].filter((row) => row.getBoundingClientRect().bottom <= end).length;
		})()`))
		require.GreaterOrEqual(t, whole, 2, "orders that are wholly in sight")
		p.requireNoOverflow()
		p.visit("/docs")
		p.waitVisible("h1")
		p.requireNoOverflow()
		pages := read(t, p.tab, chromedp.Evaluate[[]string](`[...new Set([...document.querySelectorAll("a[href^='/docs/']:not([href$='.json'])")].map((link) => link.pathname))]`))
		require.NotEmpty(t, pages)
		for _, path := range pages {
			p.visit(path)
			p.waitVisible("h1")
			p.requireNoOverflow()
		}
	})
}

// The days of a webhook fit into the narrowest phones that are in use.
func TestPanel_webhookOnANarrowPhone(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		made := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/webhooks", Token: tenant.SignIn(t, nil), Body: map[string]any{
			"url": "https://tienda.example/avisos", "events": []string{"order.created"},
		}})
		require.Equal(t, http.StatusCreated, made.Status, made.Text)
		p := &browserUser{t, open(t, narrowPhoneWidth), s.BaseURL}
		p.signIn(tenant, nil)
		p.visit("/panel/webhooks/" + made.String("id"))
		p.waitVisible("table.days")
		p.requireNoOverflow()
		require.Empty(t, read(t, p.tab, chromedp.Evaluate[[]string](brokenLayout)))
	})
}

// A label shows its reference, however large the amount is.
func TestLabel_aLargeAmountLeavesRoomForTheReference(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA, map[string]any{
			"amount_to_collect": 10000, "recipient_name": "María Fernanda de los Ángeles Huamán Quispe", "delivery_reference": "Frente al parque, portón verde",
			"delivery_address": "Avenida General José de San Martín 1234, interior 5, urbanización Los Jardines del Sur, segunda etapa",
		})
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/etiquetas?formato=a6&id=" + id)
		p.waitForText("COBRAR S/\u00a010,000.00")
		require.True(t, read(t, p.tab, chromedp.Evaluate[bool](`(() => {
			const line = parseFloat(getComputedStyle(document.querySelector(".collect")).fontSize) * 2;
			return document.querySelector(".reference").getBoundingClientRect().bottom <= document.querySelector(".to").getBoundingClientRect().bottom
				&& document.querySelector(".collect").clientHeight < line;
		})()`)), "the reference is whole and the amount on one line")
	})
}

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
		p.waitForText("La tarifa pasa de S/\u00a09.00 a S/\u00a014.50.")
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
		p.until(func() error {
			return p.evaluates(isLoaded + ` && document.querySelector(".sorts a[aria-current]")?.textContent === "Destinatario ↑"`)
		})
		require.Equal(t, "order-"+second, read(t, p.tab, chromedp.Evaluate[string](`document.querySelector(".rows tbody tr").id`)))
		for _, id := range []string{first, second} {
			p.press(`input[name=id][value="` + id + `"]`)
		}
		p.requireNoOverflow()
		p.pressNamed("button", "Cancelar…")
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
		p.waitForText("Todavía no hay pedidos")

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
