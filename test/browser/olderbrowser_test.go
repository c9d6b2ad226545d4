package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

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

// Older browsers know neither AbortSignal.timeout nor requestSubmit, and some no dialogs: packages
// are received all the same, and forms with a file sent.
func TestPanel_scriptsInOlderBrowsers(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		forget := func(p *browserUser) {
			read(t, p.tab, chromedp.Evaluate[bool](`delete AbortSignal.timeout && delete HTMLFormElement.prototype.requestSubmit && delete window.HTMLDialogElement`))
		}
		p := openDelivery(t, s)
		forget(p)
		p.pressNamed("button", "Confirmar entrega")
		p.waitForText("Pedido entregado.")

		p.visit("/panel/recepcion")
		p.waitForFocus("codigo")
		forget(p)
		p.scan("00000-000000")
		p.waitVisible(`.outcome:not([data-outcome="unsent"])`)
	})
}
