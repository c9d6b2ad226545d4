package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// deliverable is the page of an order that a rider has.
func deliverable(t *testing.T, s *apptest.Service, tenant *apptest.Tenant, amount float64) (path string) {
	t.Helper()
	token := tenant.SignIn(t, nil)
	id := s.CreateOrder(t, tenant.KeyA, map[string]any{"amount_to_collect": amount})
	for _, move := range []apptest.Request{{Path: "/receive"}, {Path: "/assign", Body: map[string]any{"rider_id": tenant.Riders[0].ID}}} {
		move.Method, move.Token, move.Path = http.MethodPost, token, "/panel/api/orders/"+id+move.Path
		moved := s.Do(t, move)
		require.Equal(t, http.StatusOK, moved.Status, moved.Text)
	}
	return "/panel/pedidos/" + id
}

// waitForFocus waits until the cursor is in a field: a browser puts it there some time after the
// page is shown.
func (p *browserUser) waitForFocus(id string) {
	p.t.Helper()
	p.until(func() error {
		if focused := read(p.t, p.tab, chromedp.Evaluate[string](`document.activeElement.id`)); focused != id {
			return fmt.Errorf("the cursor is in %q, not in %q", focused, id)
		}
		return nil
	})
}

// openDelivery opens the form that delivers an order of 120 soles, with a photo chosen.
func openDelivery(t *testing.T, s *apptest.Service) *browserUser {
	t.Helper()
	tenant := s.NewTenant(t)
	path := deliverable(t, s, tenant, 120)
	p := openDesktop(t, s)
	p.signIn(tenant, nil)
	p.visit(path)
	p.pressNamed("summary", "Entregar")
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#photo"), []string{writePhoto(t)}))
	return p
}

// A form with a file is sent once, also when it is clicked again while the session is looked at.
func TestPanel_aSecondClickSendsNothing(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		p := openDelivery(t, s)
		// The count of what the browser sends outlives the page.
		read(t, p.tab, chromedp.Evaluate[bool](`(() => {
			sessionStorage.sent = 0;
			const send = XMLHttpRequest.prototype.send;
			XMLHttpRequest.prototype.send = function (body) { sessionStorage.sent++; send.call(this, body); };
			const button = [...document.querySelectorAll("button")].find((e) => e.textContent.includes("Confirmar entrega"));
			button.click();
			button.click();
			return true; })()`))
		p.waitForText("Pedido entregado.")
		require.Equal(t, "1", read(t, p.tab, chromedp.Evaluate[string](`sessionStorage.sent`)))
	})
}

// A form with a file is sent also if the look at the session gets no answer, as over a bad
// connection.
func TestPanel_aFormDoesNotWaitForItsSession(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		p := openDelivery(t, s)
		read(t, p.tab, chromedp.Evaluate[bool](`(() => {
			const later = setTimeout;
			window.setTimeout = (run) => later(run);
			window.fetch = (_, { signal }) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
			return true; })()`))
		p.pressNamed("button", "Confirmar entrega")
		p.waitForText("Pedido entregado.")
	})
}

// shownCopyButtons is how many buttons that copy something are on the page.
func (p *browserUser) shownCopyButtons() int {
	p.t.Helper()
	return read(p.t, p.tab, chromedp.Evaluate[int](`[...document.querySelectorAll("[data-copy]")].filter((button) => button.checkVisibility()).length`))
}

// A button that copies a new key is there only where it works, and where the browser refuses to
// copy it the key is marked.
func TestPanel_aKeyIsCopiedOrMarked(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		create := func() {
			p.visit("/panel/claves")
			p.fill("#name", "Caja")
			p.press("input[value='read:orders']")
			p.pressNamed("main button[type=submit]", "Crear clave")
			p.waitVisible("#new-key")
		}
		scripts := func(disabled bool) chromedp.Action[chromedp.Void] {
			return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
				_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: disabled})
				return err
			})
		}
		p.do(scripts(true))
		create()
		p.do(scripts(false)) // for the test: the page's own did not run
		require.Zero(t, p.shownCopyButtons(), "without scripts")

		create()
		require.Equal(t, 2, p.shownCopyButtons())
		key := read(t, p.tab, chromedp.Text(chromedp.CSS("#new-key")))
		read(t, p.tab, chromedp.Evaluate[bool](`navigator.clipboard.writeText = () => Promise.reject(new Error("refused")), true`))
		p.press("[data-copy=new-key]")
		p.waitForText("Cópielo: está marcado")
		require.Equal(t, key, read(t, p.tab, chromedp.Evaluate[string](`getSelection().toString().trim()`)))
	})
}

// A delivery with a wrong amount comes back open, with the cursor in the amount, and the photo does
// not have to be chosen again.
func TestPanel_aWrongFormKeepsWhatWasTyped(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		p := openDelivery(t, s)
		p.fill("#actual_amount_collected", "1,200")
		p.fill("#photo-lat", "-12,13")
		p.fill("#photo-lng", "-77,03")
		p.pressNamed("button", "Confirmar entrega")
		p.waitForText("No queda claro si la coma o el punto separa miles o decimales")
		p.waitForFocus("actual_amount_collected")
		require.Equal(t, []string{"1,200", "-12,13", "-77,03"}, read(t, p.tab, chromedp.Evaluate[[]string](
			`["actual_amount_collected", "photo-lat", "photo-lng"].map((id) => document.getElementById(id).value)`)))

		p.fill("#actual_amount_collected", "500")
		p.pressNamed("button", "Confirmar entrega")
		p.waitForText("por este pedido se cobran")
		p.pressNamed("button", "Sí, es correcto")
		p.waitForText("Pedido entregado.")
		p.waitForText("Prueba de entrega")
	})
}

// Reloading the page that shows a new key makes no second key, and reloading the result of an
// assignment, which sends it again, assigns nothing again.
func TestPanel_reloadsTheResultOfAForm(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		moved := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/receive", Token: tenant.SignIn(t, nil)})
		require.Equal(t, http.StatusOK, moved.Status, moved.Text)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/asignacion")
		p.press("#assignable [data-tick-group]")
		p.choose("#rider_id", tenant.Riders[0].Name)
		p.pressNamed("button", "Asignar")
		p.waitForText("Asignado: 1")
		require.Empty(t, read(t, p.tab, chromedp.Value(chromedp.CSS("#rider_id"))), "no rider stays selected")
		p.do(chromedp.Reload())
		p.waitForText("Ya lo tenía: 1")

		p.visit("/panel/claves")
		p.fill("#name", "Una sola")
		p.press(`input[name="scopes"][value="read:orders"]`)
		p.pressNamed("button", "Crear clave")
		p.waitForText("no se volverá a mostrar")
		p.do(chromedp.Reload())
		p.waitForText("Una sola")
		require.Equal(t, 1, read(t, p.tab, chromedp.Evaluate[int](`[...document.querySelectorAll("summary")].filter((button) => button.textContent.includes("Revocar Una sola")).length`)))
	})
}

// Whoever stops the browser while a form has no answer can send the form again.
func TestPanel_aStoppedFormIsSentAgain(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		address, err := url.Parse(s.BaseURL)
		require.NoError(t, err)
		service := httputil.NewSingleHostReverseProxy(address)
		var silent atomic.Bool
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !silent.Load() || r.Method != http.MethodPost {
				service.ServeHTTP(w, r)
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done() // until the browser is stopped
		}))
		t.Cleanup(front.Close)
		p := openDesktop(t, s)
		p.base = front.URL
		p.signIn(tenant, nil)
		p.visit("/panel/claves")
		p.fill("#name", "Caja")
		p.press("input[value='read:orders']")
		silent.Store(true)
		// The page stops itself: the browser takes no commands for a page that is being left.
		read(t, p.tab, chromedp.Evaluate[bool](`(() => {
			window.creates = [...document.querySelectorAll("main button[type=submit]")].find((e) => e.textContent.includes("Crear clave"));
			let leaving = false;
			navigation.addEventListener("navigate", () => { leaving = true; });
			const stopping = setInterval(() => {
				if (!leaving || !creates.disabled) return;
				clearInterval(stopping);
				stop();
				window.stopped = true;
			}, 20);
			creates.click();
			return true; })()`))
		p.until(func() error {
			if !read(t, p.tab, chromedp.Evaluate[bool](`window.stopped === true && !creates.disabled`)) {
				return errors.New("the form cannot be sent")
			}
			return nil
		})
		silent.Store(false)
		p.pressNamed("main button[type=submit]", "Crear clave")
		p.waitVisible("#new-key")
	})
}
