package browser

import (
	"context"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// sheetWidth is what an A4 sheet has between its margins.
const sheetWidth = 718

// printed looks at the page as it would be on paper.
func printed(ctx context.Context, target *chromedp.Target) error {
	_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	return err
}

// On paper the lists of the daily work are tables with their headings, without what is for a
// screen.
func TestPanel_listsOnPaper(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA, map[string]any{"recipient_name": "Rosa Díaz", "amount_to_collect": 120})
		moved := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/receive", Token: tenant.SignIn(t, nil)})
		require.Equal(t, http.StatusOK, moved.Status, moved.Text)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.do(chromedp.EmulateViewport(sheetWidth, 900), chromedp.Func(printed))
		for path, first := range map[string]string{"/panel/pedidos": "Guía", "/panel/asignacion": "Guía", "/panel/recepcion": "Hora", "/panel/tiendas": "Nombre"} {
			p.visit(path)
			p.waitVisible("tbody tr")
			require.Empty(t, read(t, p.tab, chromedp.Evaluate[[]string](
				`[...document.querySelectorAll("nav a, button, .button, input, select")].filter((e) => e.checkVisibility() && !e.closest(".tabs")).map((e) => e.outerHTML)`)), path)
			require.Equal(t, []string{"table-header-group", "table-row", first}, read(t, p.tab, chromedp.Evaluate[[]string](`[
				getComputedStyle(document.querySelector("thead")).display, getComputedStyle(document.querySelector("tbody tr")).display,
				[...document.querySelectorAll("thead th")].find((e) => e.checkVisibility()).innerText.trim(),
			]`)), path)
			p.requireNoOverflow()
		}
	})
}
