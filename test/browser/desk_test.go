package browser

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// rowsInSight counts the orders that are wholly in the window, with nothing over them.
const rowsInSight = `[...document.querySelectorAll(".rows tbody tr[data-guide]")].filter((row) => {
	const { left, top, bottom } = row.getBoundingClientRect();
	return top >= 0 && bottom <= innerHeight && [top + 1, bottom - 1].every((y) => row.contains(document.elementFromPoint(left + 100, y)));
}).length`

// The list of orders shows twelve of them on a laptop and twenty on a large screen.
func TestDesk_ordersInSight(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		rows := make([]models.Order, 60)
		for i := range rows {
			rows[i] = tenant.Row(time.Now().Add(-time.Duration(i) * time.Minute))
		}
		tenant.InsertRows(t, rows)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		for _, window := range []struct {
			width, height int64
			orders        int
		}{{1366, 640, 12}, {1920, 950, 20}} {
			p.do(chromedp.EmulateViewport(window.width, window.height))
			p.visit("/panel/pedidos")
			p.waitVisible("#lista tr")
			require.GreaterOrEqual(t, read(t, p.tab, chromedp.Evaluate[int](rowsInSight)), window.orders, "at %d × %d", window.width, window.height)
		}
	})
}

// waitForRow waits until the focus is on the link of an order's row.
func (p *browserUser) waitForRow(id string) {
	p.t.Helper()
	p.until(func() error {
		return p.evaluates(fmt.Sprintf(`!!document.activeElement.closest("#order-%s .guide")`, id))
	})
}

// waitForOrder waits until the page of an order is shown.
func (p *browserUser) waitForOrder(id string) {
	p.t.Helper()
	p.until(func() error {
		if address := p.address(); address != "/panel/pedidos/"+id {
			return fmt.Errorf("%s is not the page of the order", address)
		}
		return nil
	})
	p.waitVisible("#guide-code")
}

// With the keyboard alone: the first stop leads to the list, the slash to the search, arrows
// through the rows, and a guide code to its order.
func TestDesk_byKeyboard(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		first, second := s.CreateOrder(t, tenant.KeyA), s.CreateOrder(t, tenant.KeyA) // the newest is on top
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/pedidos")
		p.waitVisible("#lista tr")
		p.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
		tabs := 1
		for ; tabs < 8 && p.evaluates(`!!document.activeElement.closest(".guide")`) != nil; tabs++ {
			p.do(chromedp.KeyEvent(kb.Tab))
		}
		p.waitForRow(second)
		p.do(chromedp.KeyEvent(kb.ArrowDown))
		p.waitForRow(first)
		p.do(chromedp.KeyEvent(kb.ArrowUp))
		p.waitForRow(second)
		p.do(chromedp.KeyEvent(kb.Enter))
		p.waitForOrder(second)

		code := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + first, Key: tenant.Key}).String("guide_code")
		for _, path := range []string{"/panel/hoy", "/panel/tiendas", "/panel/pedidos"} {
			p.visit(path)
			p.waitVisible("#menu a")
			p.types("/", personsKey)
			p.until(func() error { return p.evaluates(`document.activeElement.matches("input[type=search]")`) })
			p.types(code+"\r", personsKey)
			p.waitForOrder(first)
		}
	})
}

// A scan on the first page opens its order, without a click.
func TestDesk_aScanOnTheFirstPage(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		code := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + id, Key: tenant.Key}).String("guide_code")
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/hoy")
		p.waitVisible(".today")
		p.types(code+"\r", readersKey)
		p.waitForOrder(id)
	})
}
