package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

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
