package browser

import (
	"errors"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
	"despacho/test/testenv"
)

// The pages of the API reference fit a phone: what is wider scrolls in its own box.
func TestReference_everyPageOnAPhone(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true})
	p := &browserUser{t, open(t, phoneWidth), s.BaseURL}
	complaints := collectConsoleErrors(p.tab)
	p.do(emulatePhone())
	p.visit("/docs")
	pages := read(t, p.tab, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".side .page")].map((a) => a.getAttribute("href"))`))
	require.Greater(t, len(pages), 10)
	for _, path := range pages {
		p.visit(path)
		p.waitVisible("h1")
		p.waitVisible(".back") // only the style sheet shows it, on a phone
		p.requireNoOverflow()
	}
	require.Empty(t, complaints())
}

// An operation is tried on its page: the form sends the example with the key that is typed, which
// the next form of the page has too, and shows the answer.
func TestReference_trial(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true})
	tenant := s.NewTenant(t)
	p := openDesktop(t, s)
	p.visit("/docs/pedidos")
	p.pressNamed("[aria-labelledby=op-createOrder] .trial-open", "Probar")
	p.fill("[aria-labelledby=op-createOrder] .key", "dsp_live_wrong")
	p.requireTrial("createOrder", "401\n", "invalid_api_key")
	p.fill("[aria-labelledby=op-createOrder] .key", tenant.KeyA)
	p.requireTrial("createOrder", "201\n", tenant.StoreA.ID.String())
	p.pressNamed("[aria-labelledby=op-getOrder] .trial-open", "Probar")
	p.waitVisible("[aria-labelledby=op-getOrder] .key")
	p.requireTrial("getOrder", "404\n", "order_not_found")
	listed := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders", Key: tenant.KeyA})
	require.InDelta(t, 1, listed.Data["total"], 0, "the first attempt was refused, the second created one")
	p.visit("/docs/panel-pedidos")
	p.waitVisible(".search")
	require.Zero(t, read(t, p.tab, chromedp.Evaluate[int](`document.querySelectorAll(".trial-open").length`)), "the panel's operations take no key")
}

// requireTrial sends the form of an operation and waits for its answer.
func (p *browserUser) requireTrial(operation, status, text string) {
	p.t.Helper()
	p.pressNamed("[aria-labelledby=op-"+operation+"] .trial > button", "Enviar")
	p.until(func() error {
		shown := read(p.t, p.tab, chromedp.Evaluate[string](`document.querySelector("[aria-labelledby=op-`+operation+`] .trial pre").textContent`))
		if !strings.HasPrefix(shown, status) || !strings.Contains(shown, text) {
			return errors.New(shown)
		}
		return nil
	})
}

// The search of the reference finds what is on any of its pages, with or without accents, and the
// buttons copy what they stand at.
func TestReference_searchAndCopy(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true})
	p := openDesktop(t, s)
	complaints := collectConsoleErrors(p.tab)
	p.visit("/docs")
	p.fill(".search input", "codigo desconocido nada-de-esto")
	p.waitForText("Nada con esas palabras")
	p.fill(".search input", "ubigeo códigos")
	p.pressNamed(".search li a", "De ubigeo a location_id")
	p.waitVisible("[name=s-lookupUbigeo] .copy")
	require.Equal(t, "/docs/catalogo#op-lookupUbigeo", p.address())
	copied := read(t, p.tab, chromedp.Evaluate[string](`(() => {
		let copied = "";
		Object.defineProperty(navigator, "clipboard", {value: {writeText: async (text) => { copied = text; }}});
		document.querySelector("[name=s-lookupUbigeo] .copy").click();
		return copied; })()`))
	require.Equal(t, `curl "`+s.BaseURL+`/public/locations/ubigeo?codes=150122,999999&country_code=PE"`, strings.Split(copied, " \\\n")[0])
	p.waitForText("Copiado")
	require.Empty(t, complaints())
}
