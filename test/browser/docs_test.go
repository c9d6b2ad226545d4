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
		p.do(chromedp.WaitVisible(chromedp.CSS("h1")))
		p.do(chromedp.WaitVisible(chromedp.CSS(".back"))) // only the style sheet shows it, on a phone
		p.requireNoOverflow()
	}
	require.Empty(t, complaints())
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
	p.until(func() error {
		if address := p.address(); address != "/docs/catalogo#op-lookupUbigeo" {
			return errors.New(address)
		}
		return nil
	})

	p.do(chromedp.WaitVisible(chromedp.CSS("[name=s-lookupUbigeo] .copy")))
	copied := read(t, p.tab, chromedp.Evaluate[string](`(() => {
		let copied = "";
		Object.defineProperty(navigator, "clipboard", {value: {writeText: async (text) => { copied = text; }}});
		document.querySelector("[name=s-lookupUbigeo] .copy").click();
		return copied; })()`))
	require.Equal(t, `curl "`+s.BaseURL+`/public/locations/ubigeo?codes=150122,999999&country_code=PE"`, strings.Split(copied, " \\\n")[0])
	p.waitForText("Copiado")
	require.Empty(t, complaints())
}
