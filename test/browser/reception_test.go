package browser

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// The branch that receives is chosen with the keyboard, whichever it is, and what a barcode reader
// types then is a code, not the name of another branch.
func TestPanel_theBranchAtTheCounterByKeyboard(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		made := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/branches", Token: token, Body: map[string]any{"name": "Tercera"}})
		require.Equal(t, http.StatusCreated, made.Status, made.Text)
		id := s.CreateOrder(t, tenant.KeyA)
		order := func() *apptest.Answer {
			return s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/panel/api/orders/" + id, Token: token})
		}
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/recepcion")
		p.waitForFocus("codigo")
		chosen := func() string {
			return read(t, p.tab, chromedp.Evaluate[string](`document.getElementById("sucursal").value`))
		}
		for _, branch := range read(t, p.tab, chromedp.Evaluate[[]string](`[...document.getElementById("sucursal").options].slice(1).map((option) => option.value)`)) {
			p.do(chromedp.Focus(chromedp.CSS("#sucursal")), chromedp.KeyEvent(kb.ArrowDown)) // opens the list
			p.until(func() error { return p.evaluates(`document.activeElement.matches("option")`) })
			p.do(chromedp.KeyEvent(kb.ArrowDown))
			p.types("\r", personsKey)
			p.waitForFocus("sucursal")
			require.Equal(t, branch, chosen())
		}
		p.do(chromedp.KeyEvent(order().String("guide_code") + "\r"))
		p.waitVisible(`.outcome[data-outcome="received"]`)
		require.Equal(t, chosen(), order().String("branch_id"))

		p.do(chromedp.Focus(chromedp.CSS("#sucursal")), chromedp.KeyEvent(kb.Enter))
		p.waitForFocus("codigo")
	})
}

// A scan whose answer is lost is sent again, and its package is shown as received, not as one that
// somebody had received before.
func TestPanel_anAnswerAtTheCounterIsLost(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		order := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + id, Key: tenant.KeyA})
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/recepcion")
		p.waitForFocus("codigo")
		read(t, p.tab, chromedp.Evaluate[bool](`(() => {
			const real = fetch;
			window.fetch = async (...request) => { window.fetch = real; await real(...request); throw new TypeError("lost"); };
			return true; })()`))
		p.scan(order.String("guide_code"))
		p.waitVisible(`.outcome[data-outcome="unsent"]`)
		p.pressNamed("button", "Reintentar ahora")
		p.waitVisible(`.outcome[data-outcome="received"]`)
	})
}
