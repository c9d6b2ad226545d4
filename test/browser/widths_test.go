package browser

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// requireTablesFit visits pages in windows of several widths: no page is wider than its window, and
// no table wider than its card.
func (p *browserUser) requireTablesFit(widths []int64, paths ...string) {
	p.t.Helper()
	for _, width := range widths {
		p.do(chromedp.EmulateViewport(width, 900))
		for _, path := range paths {
			p.visit(path)
			p.waitVisible("h1")
			p.requireNoOverflow()
			for _, problem := range read(p.t, p.tab, chromedp.Evaluate[[]string](brokenLayout)) {
				require.NotContains(p.t, problem, "wider than its card", "%s at %d pixels", path, width)
			}
		}
	}
}

// The lists of the configuration fit into windows of any width, as of a small laptop or a tablet.
func TestPanel_configurationInWindowsOfAnyWidth(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for path, body := range map[string]map[string]any{
			"/panel/api/sizes":        {"code": "XL", "name": "Extra grande", "surcharge": 12.5},
			"/panel/api/risk-zones":   {"name": "Cerro San Cosme", "words": []string{"san cosme", "asentamiento"}},
			"/panel/api/store-prices": {"store_id": tenant.StoreA.ID, "location_id": apptest.Miraflores, "price": 7.5, "from_day": "2026-01-01", "until_day": "2026-12-31"},
			"/panel/api/webhooks":     {"url": "https://tienda.example/avisos", "events": []string{"order.created"}},
		} {
			made := s.Do(t, apptest.Request{Method: http.MethodPost, Path: path, Token: tenant.SignIn(t, nil), Body: body})
			require.Equal(t, http.StatusCreated, made.Status, made.Text)
		}
		tenant.ActivatePhone(t, tenant.Riders[0].ID)
		tenant.RiderLink(t, tenant.Riders[0].ID)
		p := openDesktop(t, s)
		p.signInAs(tenant, &models.User{Name: "Milagros Vega", Role: models.RoleOperator, Admin: true})
		p.requireTablesFit([]int64{320, 768, 1024, 1100, 1248, 1280}, p.firstLinkBelow("/panel/webhooks"),
			"/panel/tiendas/"+tenant.StoreA.ID.String()+"/tarifas", "/panel/tiendas", "/panel/motorizados", "/panel/sucursales", "/panel/tamanos", "/panel/zonas-de-riesgo", "/panel/cobertura", "/panel/usuarios")
	})
}

// The longest names that are accepted, without a space, leave the lists of the daily work in the
// window.
func TestPanel_longNamesAreBroken(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		long := strings.Repeat("M", 200)
		post := func(path string, body map[string]any) *apptest.Answer {
			made := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api" + path, Token: token, Body: body})
			require.Less(t, made.Status, http.StatusBadRequest, made.Text)
			return made
		}
		rider := post("/riders", map[string]any{"name": long, "phone": "987654321"}).String("id")
		store := post("/stores", map[string]any{"name": long}).String("id")
		branch := post("/branches", map[string]any{"name": long}).String("id")
		order := map[string]any{"recipient_name": long, "delivery_address": long, "store_id": store, "branch_id": branch}
		id := s.CreateOrder(t, tenant.Key, order)
		post("/orders/"+id+"/receive", map[string]any{})
		post("/orders/"+id+"/assign", map[string]any{"rider_id": rider})
		post("/orders/"+s.CreateOrder(t, tenant.Key, order)+"/receive", map[string]any{})
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.requireTablesFit([]int64{320, 640, 768, 1024, 1248, desktopWidth}, "/panel/pedidos", "/panel/pedidos/"+id,
			"/panel/recepcion", "/panel/asignacion", "/panel/asignacion?estado=assigned")
	})
}

// The telephone number after an Arabic name is not turned around with it.
func TestPanel_aNumberAfterAnArabicName(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		s.CreateOrder(t, tenant.KeyA, map[string]any{"recipient_name": "شركة التوصيل السريع", "recipient_phone": "+56987654321"})
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/pedidos")
		p.waitForText("+56")
		require.True(t, read(t, p.tab, chromedp.Evaluate[bool](`(() => {
			const number = document.querySelector(".rows .phone").firstChild, range = document.createRange();
			const leftOf = (at) => (range.setStart(number, at), range.setEnd(number, at + 1), range.getBoundingClientRect().left);
			return leftOf(0) < leftOf(1);
		})()`)), "the plus sign is before the digits")
	})
}

// The box that ticks all orders is there only with the scripts that it needs.
func TestPanel_theBoxForAllNeedsScripts(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		s.CreateOrder(t, tenant.KeyA)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		for _, disabled := range []bool{true, false} {
			p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
				_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: disabled})
				return err
			}))
			p.visit("/panel/pedidos")
			p.waitVisible("tbody input[name=id]")
			shown := read(t, p.tab, chromedp.Evaluate[bool](`document.querySelector("[data-check-all]").checkVisibility()`))
			require.Equal(t, !disabled, shown)
		}
	})
}

// A store's long number is on the list, on a phone too, and on the label, and pushes nothing out.
func TestExternalID_leavesRoom(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA, map[string]any{
			"external_id": "PED-" + strings.Repeat("2026-", 19), "product": strings.Repeat("Zapatillas de cuero negro ", 10), "amount_to_collect": 10000,
		})
		p := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		p.do(emulatePhone())
		p.signIn(tenant, nil)
		p.visit("/panel/pedidos?q=PED-2026")
		p.waitForText("PED-2026")
		p.requireNoOverflow()
		p.visit("/panel/pedidos/" + id)
		p.waitForText("PED-2026")
		p.requireNoOverflow()
		for _, format := range []string{"a6", "termica"} {
			p.visit("/panel/etiquetas?formato=" + format + "&id=" + id)
			p.waitForText("PED-2026")
			require.True(t, read(t, p.tab, chromedp.Evaluate[bool](`(() => {
				const bottom = document.querySelector(".bottom").getBoundingClientRect(), list = document.querySelector(".bottom dl").getBoundingClientRect();
				const sheet = document.querySelector(".sheet").getBoundingClientRect(), square = document.querySelector(".square").getBoundingClientRect();
				return list.bottom <= bottom.bottom && bottom.bottom <= sheet.bottom && list.right <= square.left;
			})()`)), "the facts of the label %s are whole", format)
		}
	})
}

// An amount of a thousand and more is on one line, with its thousands separated, on a phone and on
// a desktop.
func TestPanel_amountsAreOnOneLine(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		for _, amount := range []float64{1250, 123456.78} {
			id := s.CreateOrder(t, tenant.KeyA, map[string]any{"amount_to_collect": amount, "delivery_address": "Avenida General José de San Martín 1234, interior 5"})
			moved := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/receive", Token: token})
			require.Equal(t, http.StatusOK, moved.Status, moved.Text)
		}
		for _, width := range []int{phoneWidth, desktopWidth} {
			p := &browserUser{t, open(t, width), s.BaseURL}
			if width == phoneWidth {
				p.do(emulatePhone())
			}
			p.signIn(tenant, nil)
			for _, path := range []string{"/panel/pedidos", "/panel/recepcion", "/panel/asignacion"} {
				p.visit(path)
				p.waitForText("S/\u00a01,250.00")
				p.waitForText("S/\u00a0123,456.78")
				require.Equal(t, []int{1, 1}, read(t, p.tab, chromedp.Evaluate[[]int](
					`[...document.querySelectorAll("main td .money")].map((amount) => amount.getClientRects().length)`)), "lines on %s at %d pixels", path, width)
				p.requireNoOverflow()
			}
			p.press("#assignable [data-tick-group]")
			p.waitForText("S/\u00a0124,706.78 por cobrar")
		}
	})
}
