package browser

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

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
