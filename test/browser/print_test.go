package browser

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
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

// A route sheet is whole on paper, with no row over two sheets and no name of a district at the
// foot of one; on a phone it is read without being moved aside.
func TestRouteSheet_onPaperAndOnAPhone(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		rows := make([]models.Order, 30)
		note := strings.Repeat("Tocar el timbre del vecino. ", 6)
		for i := range rows {
			rows[i] = tenant.Row(time.Now().Add(-time.Duration(i)*time.Minute), apptest.ReceivedAfter(0), apptest.AssignedAfter(tenant.Riders[0], 0), func(o *models.Order) {
				o.LocationID, o.AmountToCollect = []uuid.UUID{apptest.Miraflores, apptest.Surco, apptest.SanJuan}[i%3], 123456
				if i%4 == 0 {
					o.Notes, o.DeliveryReference = &note, &note
				}
			})
		}
		tenant.InsertRows(t, rows)
		path := "/panel/hoja?motorizado=" + tenant.Riders[0].ID.String()
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.do(chromedp.EmulateViewport(sheetWidth, 900), chromedp.Func(printed))
		p.visit(path)
		p.waitVisible(".stops")
		p.requireNoOverflow()
		require.Equal(t, "none,avoid,avoid,table-header-group", p.evaluate(`[getComputedStyle(document.querySelector(".toolbar")).display,
			getComputedStyle(document.querySelector("tr.stop")).breakInside, getComputedStyle(document.querySelector("tr.place")).breakAfter,
			getComputedStyle(document.querySelector("thead")).display].join(",")`))
		require.NoError(t, p.evaluates(`parseFloat(getComputedStyle(document.querySelector(".collect")).fontSize) >= 20`))

		phone := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		phone.do(emulatePhone())
		phone.signIn(tenant, nil)
		phone.visit(path)
		phone.waitVisible(".stops")
		phone.requireNoOverflow()
		phone.waitForText("Enviar por WhatsApp: 1 a")
		require.Empty(t, read(t, phone.tab, chromedp.Evaluate[[]string](brokenLayout)))
	})
}
