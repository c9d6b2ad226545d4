package browser

import (
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
