package browser

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// failedOrder is an order whose rider could not deliver it; moves are made after that.
func failedOrder(t *testing.T, s *apptest.Service, tenant *apptest.Tenant, moves ...map[string]any) (id, code string) {
	t.Helper()
	token := tenant.SignIn(t, nil)
	id = s.CreateOrder(t, tenant.KeyA)
	steps := append([]map[string]any{
		{"": "receive"}, {"": "assign", "rider_id": tenant.Riders[0].ID}, {"": "attempt", "reason": "absent"},
	}, moves...)
	for _, step := range steps {
		move, body := step[""].(string), map[string]any{}
		for name, value := range step {
			if name != "" {
				body[name] = value
			}
		}
		answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/" + move, Token: token, Body: body})
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		code = answer.String("guide_code")
	}
	return id, code
}

// A package that comes back is scanned like every other; where nobody has decided what comes next,
// the desk does so with the keyboard and scans on.
func TestPanel_takesBackAndDecidesByKeyboard(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id, code := failedOrder(t, s, tenant)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/recepcion?motorizado=" + tenant.Riders[0].ID.String())
		p.waitForFocus("codigo")
		p.waitForText("Falta de la carga de Carlos Quispe 1")
		p.scan(code)
		p.waitVisible(`.outcome[data-outcome="taken_back"]`)
		p.waitForText("Carlos Quispe ya no tiene paquetes")
		for range 10 {
			if p.evaluates(`document.activeElement.value === "retry"`) == nil {
				break
			}
			p.do(chromedp.KeyEvent(kb.Tab))
		}
		p.do(chromedp.KeyEvent(kb.Enter))
		p.waitForText("Decidido: se intenta el")
		p.waitForFocus("codigo")
		order := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/panel/api/orders/" + id, Token: tenant.SignIn(t, nil)})
		require.Equal(t, "retry_planned", order.String("substatus"))
	})
}

// What goes back to its store is scanned, one package after the other, and handed over at once.
func TestPanel_handsBackByScan(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		returned := map[string]any{"": "decision", "decision": "return"}
		_, first := failedOrder(t, s, tenant, returned, map[string]any{"": "receive"})
		_, second := failedOrder(t, s, tenant, returned, map[string]any{"": "receive"})
		late, lateCode := failedOrder(t, s, tenant, returned)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/devoluciones?tienda=" + tenant.StoreA.ID.String())
		p.waitForFocus("codigo")
		p.scan(first)
		p.waitForText("Marcado " + first)
		p.scan(lateCode)
		p.waitForText("recíbalo primero")
		s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + late + "/receive", Token: tenant.SignIn(t, nil), Body: map[string]any{}})
		p.scan(lateCode)
		p.waitForText("Marcado " + lateCode)
		p.scan(second)
		p.waitForText("3 marcados")
		p.pressNamed("button", "Entregar los marcados")
		p.waitForText("Entregado: 3")
		p.pressNamed("a", "Imprimir el recibo")
		p.waitForText("La tienda recibió de vuelta los paquetes de esta lista.")
		p.waitForText("3 paquetes")
	})
}

// The pages of what failed and of what goes back, with something on them, in every window.
func TestAccessibility_ofAttemptsAndReturns(t *testing.T) {
	axe := axeCore(t)
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		returned := map[string]any{"": "decision", "decision": "return"}
		undecided, _ := failedOrder(t, s, tenant)
		failedOrder(t, s, tenant, returned, map[string]any{"": "receive"})
		failedOrder(t, s, tenant, returned)
		given, _ := failedOrder(t, s, tenant, returned, map[string]any{"": "receive"}, map[string]any{"": "hand-back"})
		back, code := failedOrder(t, s, tenant)
		rider, store := tenant.Riders[0].ID.String(), tenant.StoreA.ID.String()
		for _, w := range windows() {
			v := &visitor{browserUser: &browserUser{t, open(t, desktopWidth), s.BaseURL}, window: w, axe: axe}
			v.do(w.emulate())
			v.signIn(tenant, nil)
			for name, path := range map[string]string{
				"pedido-sin-decidir": "/panel/pedidos/" + undecided, "pedido-devuelto": "/panel/pedidos/" + given, "hoy": "/panel/hoy",
				"devoluciones": "/panel/devoluciones", "devoluciones-de-tienda": "/panel/devoluciones?tienda=" + store,
				"recibo-de-devolucion": "/panel/devoluciones/recibo?id=" + given, "carga-de-motorizado": "/panel/recepcion?motorizado=" + rider,
				"pedidos-del-motorizado": "/panel/pedidos?estado=assigned&motorizado=" + rider, "pedidos": "/panel/pedidos",
				"entregar-varios": "/panel/pedidos/entregar?id=" + undecided, "reglas": "/panel/ajustes/entregas", "resumen": "/panel/resumen",
			} {
				v.visit(path)
				v.waitVisible("main, body")
				v.picture(name + "-" + w.name)
				v.look("street", name)
			}
			v.visit("/panel/pedidos/" + undecided)
			for _, move := range []string{"Qué sigue", "No se pudo entregar", "Entregar"} {
				v.pressNamed(".moves summary", move)
				v.picture(move + "-" + w.name)
			}
		}
		v := openDesktop(t, s)
		v.signIn(tenant, nil)
		v.visit("/panel/recepcion")
		v.waitForFocus("codigo")
		v.scan(code)
		v.waitVisible(`.outcome[data-outcome="taken_back"]`)
		v.picture("de-vuelta")
		v.visit("/panel/pedidos/" + back)
		v.waitForText("Espera una decisión")
	})
}
