package browser

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// narrowPhoneWidth is the width of the smallest phones that are in use.
const narrowPhoneWidth = 360

// On a phone the list to assign from shows several orders beside its bar, and the reference does
// not scroll sideways.
func TestPanel_assignmentOnAPhone(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		for range 5 {
			id := s.CreateOrder(t, tenant.KeyA, map[string]any{"amount_to_collect": 1250})
			moved := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/receive", Token: token})
			require.Equal(t, http.StatusOK, moved.Status, moved.Text)
		}
		p := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		p.do(emulatePhone())
		p.signIn(tenant, nil)
		p.visit("/panel/asignacion")
		p.waitForText("Por asignar 5")
		whole := read(t, p.tab, chromedp.Evaluate[int](`(() => {
			const end = document.querySelector(".hand-over").getBoundingClientRect().top;
			return [...document.querySelectorAll("#assignable tbody tr")].filter((row) => row.getBoundingClientRect().bottom <= end).length;
		})()`))
		require.GreaterOrEqual(t, whole, 2, "orders that are wholly in sight")
		p.requireNoOverflow()
		p.visit("/docs")
		p.waitVisible("h1")
		p.requireNoOverflow()
		pages := read(t, p.tab, chromedp.Evaluate[[]string](`[...new Set([...document.querySelectorAll("a[href^='/docs/']:not([href$='.json'])")].map((link) => link.pathname))]`))
		require.NotEmpty(t, pages)
		for _, path := range pages {
			p.visit(path)
			p.waitVisible("h1")
			p.requireNoOverflow()
		}
	})
}

// The days of a webhook fit into the narrowest phones that are in use.
func TestPanel_webhookOnANarrowPhone(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		made := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/webhooks", Token: tenant.SignIn(t, nil), Body: map[string]any{
			"url": "https://tienda.example/avisos", "events": []string{"order.created"},
		}})
		require.Equal(t, http.StatusCreated, made.Status, made.Text)
		p := &browserUser{t, open(t, narrowPhoneWidth), s.BaseURL}
		p.signIn(tenant, nil)
		p.visit("/panel/webhooks/" + made.String("id"))
		p.waitVisible("table.days")
		p.requireNoOverflow()
		require.Empty(t, read(t, p.tab, chromedp.Evaluate[[]string](brokenLayout)))
	})
}

// A label shows its reference, however large the amount is.
func TestLabel_aLargeAmountLeavesRoomForTheReference(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA, map[string]any{
			"amount_to_collect": 10000, "recipient_name": "María Fernanda de los Ángeles Huamán Quispe", "delivery_reference": "Frente al parque, portón verde",
			"delivery_address": "Avenida General José de San Martín 1234, interior 5, urbanización Los Jardines del Sur, segunda etapa",
		})
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/etiquetas?formato=a6&id=" + id)
		p.waitForText("COBRAR S/\u00a010,000.00")
		require.True(t, read(t, p.tab, chromedp.Evaluate[bool](`(() => {
			const line = parseFloat(getComputedStyle(document.querySelector(".collect")).fontSize) * 2;
			return document.querySelector(".reference").getBoundingClientRect().bottom <= document.querySelector(".to").getBoundingClientRect().bottom
				&& document.querySelector(".collect").clientHeight < line;
		})()`)), "the reference is whole and the amount on one line")
	})
}
