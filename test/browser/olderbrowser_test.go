package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// withoutPopovers makes the page what a browser that does not know popovers makes of it.
const withoutPopovers = `(async () => {
	const link = document.querySelector("link[rel=stylesheet]"), sheet = new CSSStyleSheet();
	sheet.replaceSync((await (await fetch(link.href)).text()).replaceAll(":popover-open", ":unheard-of"));
	document.adoptedStyleSheets = [sheet];
	link.disabled = true;
	document.getElementById("menu").removeAttribute("popover");
	return true;
})()`

// In a browser without popovers the menu is at the top of the page, and the page is below it.
func TestPanel_theMenuWithoutPopovers(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		p := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		p.do(emulatePhone())
		p.signIn(tenant, nil)
		p.visit("/panel/recepcion")
		p.waitForFocus("codigo")
		read(t, p.tab, chromedp.Evaluate[bool](withoutPopovers, chromedp.EvalAwaitPromise))
		require.Equal(t, []bool{false, true, true}, read(t, p.tab, chromedp.Evaluate[[]bool](`(() => {
			const inSight = (element) => {
				element.scrollIntoView({ block: "start" });
				const { left, top, width, height } = element.getBoundingClientRect();
				return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
			};
			return [".menu-button", "#menu a[href='/panel/cuenta']", "h1"].map((selector) => inSight(document.querySelector(selector)));
		})()`)), "the button of the menu, its last link, and the page")
		p.requireNoOverflow()
	})
}

// forget makes the page what an older browser makes of it: one that knows neither
// AbortSignal.timeout nor requestSubmit, nor dialogs.
func (p *browserUser) forget() {
	p.t.Helper()
	read(p.t, p.tab, chromedp.Evaluate[bool](`delete AbortSignal.timeout && delete HTMLFormElement.prototype.requestSubmit && delete window.HTMLDialogElement`))
}

// In older browsers packages are received, and forms with a file sent.
func TestPanel_scriptsInOlderBrowsers(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		p := openDelivery(t, s)
		p.forget()
		p.pressNamed("button", "Confirmar entrega")
		p.waitForText("Pedido entregado.")

		p.visit("/panel/recepcion")
		p.waitForFocus("codigo")
		p.forget()
		p.scan("00000-000000")
		p.waitVisible(`.outcome:not([data-outcome="unsent"])`)
	})
}

// In a browser without dialogs a form with a file is sent without a session all the same, and the
// page of signing in says that it has to be filled in again.
func TestPanel_aSessionEndsInAnOlderBrowser(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		path := deliverable(t, s, tenant, 120)
		user := models.User{}
		p := openDesktop(t, s)
		p.signInAs(tenant, &user)
		p.visit(path)
		p.forget()
		p.pressNamed("summary", "Entregar")
		p.do(chromedp.SetUploadFiles(chromedp.CSS("#photo"), []string{writePhoto(t)}))
		endSessions(t, s, user)
		p.pressNamed("button", "Confirmar entrega")
		p.waitForText("Su sesión terminó y el formulario no se envió.")
	})
}
