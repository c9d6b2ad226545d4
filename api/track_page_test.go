package api_test

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/internal/guidecode"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

func trackPage(t *testing.T, s *apptest.Service, code string, header map[string]string) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/track/" + url.PathEscape(code), Header: header})
}

// An address that does not exist, and that of a form, is a page to a browser, and JSON to everybody
// else.
func TestNoRoute_isAPageInABrowser(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		html := map[string]string{"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
		get := func(path string, header map[string]string) *http.Response {
			request, err := http.NewRequest(http.MethodGet, s.BaseURL+path, nil)
			require.NoError(t, err)
			for name, value := range header {
				request.Header.Set(name, value)
			}
			client := &http.Client{Transport: apptest.Client.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			response, err := client.Do(request)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			return response
		}
		for path, status := range map[string]int{
			"/nada": http.StatusNotFound, "/panel/nada": http.StatusNotFound, "/docs/nada": http.StatusNotFound, "/track/a/b": http.StatusNotFound,
			"/panel/ingreso/codigo": http.StatusMethodNotAllowed, "/panel/pedidos/x/recibir": http.StatusMethodNotAllowed,
		} {
			for kind, header := range map[string]map[string]string{"text/html; charset=utf-8": html, "application/json; charset=utf-8": nil} {
				response := get(path, header)
				require.Equal(t, status, response.StatusCode, path)
				if status == http.StatusMethodNotAllowed {
					require.Equal(t, "POST", response.Header.Get("Allow"), path)
				}
				require.Equal(t, kind, response.Header.Get("Content-Type"), path)
			}
		}
		for _, path := range []string{"/v1/nada", "/panel/api/session/reset"} {
			require.Equal(t, "application/json; charset=utf-8", get(path, html).Header.Get("Content-Type"), "the API speaks JSON: %s", path)
		}
		require.Equal(t, "/panel", get("/panel/", html).Header.Get("Location"))
		require.Equal(t, "/docs", get("/docs/", html).Header.Get("Location"))
	})
}

// requirePage demands a page with the headers against storing, framing, indexing and referrers.
func requirePage(t *testing.T, answer *apptest.Answer, status int) {
	t.Helper()
	require.Equal(t, status, answer.Status, answer.Text)
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cache-Control": "no-store", "X-Robots-Tag": "noindex",
	} {
		require.Equal(t, value, answer.Header.Get(name), name)
	}
	policy := answer.Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'; style-src 'sha256-")
	require.NotContains(t, policy, "unsafe")
	require.NotContains(t, policy, "script-src")
}

// The page has every status, and never the rider, the address, a name or a phone.
func TestTrackPage_everyStatusAndNothingPrivate(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		logo := "https://operador.example/logo.png"
		tenant := s.NewTenant(t, func(o *models.Operator) { o.Name, o.LogoURL = "Rápidos <del> Perú", &logo })
		operator := tenant.SignIn(t, nil)
		private := map[string]any{
			"delivery_reference": "Puerta azul", "notes": "Cuidado con el perro", "recipient_doc_type": "ce", "recipient_doc_number": "77665544",
			"delivery_lat": -12.345678, "delivery_lng": -77.345678, "product": "Zapatillas <b>38</b>",
		}
		delivered, cancelled := created(t, s, tenant.KeyA, private), created(t, s, tenant.KeyA, private)
		see := func(order *apptest.Answer, words ...string) {
			t.Helper()
			page := trackPage(t, s, order.String("guide_code"), nil)
			requirePage(t, page, http.StatusOK)
			for _, shown := range append(words, order.String("guide_code"), "Rápidos &lt;del&gt; Perú", `src="`+logo+`"`, "Zapatillas &lt;b&gt;38&lt;/b&gt;") {
				require.Contains(t, page.Text, shown)
			}
			for _, hidden := range []string{
				"Carlos", "María", "98765432", "987 654", "Rosa", "Larco", "Miraflores", "Puerta azul", "perro", "77665544", "12.345678",
				"Dirección falsa", "dos veces", order.String("id"), tenant.Operator.ID.String(),
			} {
				require.NotContains(t, page.Text, hidden)
			}
		}
		move := func(order *apptest.Answer, name string, body any) {
			t.Helper()
			panelMove(t, s, operator, order.String("id"), name, body, http.StatusOK)
		}

		see(delivered, "<h1>Registrado</h1>", "La tienda preparó tu pedido; aún no llega al operador.")
		move(delivered, "receive", nil)
		see(delivered, "<h1>Recibido</h1>", "El operador ya tiene tu pedido.")
		move(delivered, "assign", map[string]any{"rider_id": tenant.Riders[0].ID})
		see(delivered, "<h1>En reparto</h1>", "Tu pedido está en camino.")
		move(delivered, "deliver", nil)
		see(delivered, "<h1>Entregado</h1>", "Tu pedido fue entregado.", "¿No lo recibiste? Comunícate con la tienda",
			"La tienda registró tu pedido", "El operador recibió el paquete", "Salió a reparto", "Se entregó el paquete")

		move(cancelled, "cancel", map[string]any{"reason": "Dirección falsa", "note": "Se llamó dos veces"})
		see(cancelled, "<h1>Cancelado</h1>", "el paquete no llegará con este código", "Comunícate con la tienda")
	})
}

// A package that came too late is not lost, and its page says so.
func TestTrackPage_autoCancelled(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{Configure: func(c *config.Config) { c.AutoCancelAfter = time.Second }})
	tenant := s.NewTenant(t)
	operator := tenant.SignIn(t, nil)
	order := created(t, s, tenant.KeyA)
	poll.Until(t, func() error {
		if !strings.Contains(trackPage(t, s, order.String("guide_code"), nil).Text, "<h1>Cancelado</h1>") {
			return errors.New("not cancelled yet")
		}
		return nil
	})
	page := trackPage(t, s, order.String("guide_code"), nil)
	require.Contains(t, page.Text, "no llegó a tiempo al operador")
	require.Contains(t, page.Text, "el envío continúa con este mismo código")

	panelMove(t, s, operator, order.String("id"), "receive", nil, http.StatusOK)
	revived := trackPage(t, s, order.String("guide_code"), nil)
	require.Contains(t, revived.Text, "<h1>Recibido</h1>")
	require.Contains(t, revived.Text, "Se canceló el envío", "the timeline keeps the story")
}

// Times are the operator's own.
func TestTrackPage_operatorsTimeZone(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		for zone, want := range map[string]string{
			"America/Lima": "10 de marzo de 2026, 10:00\u00a0a.\u00a0m.", "Asia/Tokyo": "11 de marzo de 2026, 12:00\u00a0a.\u00a0m.",
		} {
			tenant := s.NewTenant(t, func(o *models.Operator) { o.Timezone = zone })
			require.Contains(t, trackPage(t, s, created(t, s, tenant.Key).String("guide_code"), ownAddress()).Text, want)
		}
	})
}

var typedCode = regexp.MustCompile(` value="[^"]*"`)

// The page names the store and, while the package is on its way, what to pay.
func TestTrackPage_storeAndAmount(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		created := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.KeyA, Body: apptest.Order(map[string]any{"amount_to_collect": 1250})})
		code := created.String("guide_code")
		page := trackPage(t, s, code, ownAddress())
		requirePage(t, page, http.StatusOK)
		for _, want := range []string{tenant.StoreA.Name, "Ten listo al recibir", "S/\u00a01,250.00", `<meta property="og:url" content="` + s.Config.BaseURL + "/track/" + code + `">`} {
			require.Contains(t, page.Text, want)
		}
		cancelled := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + created.String("id") + "/cancel", Key: tenant.KeyA, Body: map[string]any{"reason": "Sin stock"}})
		require.Equal(t, http.StatusOK, cancelled.Status, cancelled.Text)
		require.NotContains(t, trackPage(t, s, code, ownAddress()).Text, "1,250.00", "nothing is paid for a package that does not come")
	})
}

// Unknown and malformed codes answer the same page, which asks for another, wherever they were
// typed.
func TestTrackPage_unknownAndMalformedCode(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		address := ownAddress()
		unknown := trackPage(t, s, guidecode.New(), address)
		requirePage(t, unknown, http.StatusNotFound)
		require.Contains(t, unknown.Text, "No encontramos tu envío")
		require.Contains(t, unknown.Text, `<form action="/track" method="get">`)
		for _, malformed := range []string{
			"x", "UUUUU-UUUUUU", "00000-000001", strings.Repeat("A", 5000), "\x00", "ñandú", "<script>alert(1)</script>", "\xff\xfe", "a/b", "..",
		} {
			inForm := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/track?code=" + url.QueryEscape(malformed), Header: address})
			for _, answer := range []*apptest.Answer{trackPage(t, s, malformed, address), inForm} {
				requirePage(t, answer, http.StatusNotFound)
				require.Equal(t, typedCode.ReplaceAllString(unknown.Text, ""), typedCode.ReplaceAllString(answer.Text, ""), malformed)
			}
		}
		for _, path := range []string{"/track?code=8njkt-b3t3e2", "/track/8njkt-b3t3e2"} {
			wrong := s.Do(t, apptest.Request{Method: http.MethodGet, Path: path, Header: address})
			require.Contains(t, wrong.Text, ` value="8njkt-b3t3e2"`, "it stays in the field, to be corrected")
		}
	})
}

// Pages and JSON count together, so that neither is a way around the other's limit.
func TestTrackPage_sharesTheLimitOfTracking(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		code, address := guidecode.New(), ownAddress()
		paths := []string{"/v1/track/" + code, "/track/" + code, "/track?code=x"}
		answers := inParallel(t, 126, func(i int) apptest.Request {
			return apptest.Request{Method: http.MethodGet, Path: paths[i%len(paths)], Header: address}
		}, s)
		require.Equal(t, map[int]int{http.StatusNotFound: 120, http.StatusTooManyRequests: 6}, answers)
		requireRefused(t, track(t, s, code, address), http.StatusTooManyRequests, "too_many_requests")

		limited := trackPage(t, s, code, address)
		requirePage(t, limited, http.StatusTooManyRequests)
		require.Equal(t, "30", limited.Header.Get("Retry-After"), "the clock stands half a minute before the next")
		require.Contains(t, limited.Text, "en 30 segundos")
		require.Contains(t, limited.Text, ` value="`+code+`"`, "to be asked for again")
		requirePage(t, trackPage(t, s, code, ownAddress()), http.StatusNotFound)
	})
}

// The form needs no script: it leads to the package's own address, or back to itself when nothing
// was typed.
func TestTrackPage_formLeadsToTheCanonicalCode(t *testing.T) {
	t.Parallel()
	handler, code := newServer(t).Handler(), guidecode.New()
	for typed, target := range map[string]string{
		code: "/track/" + code, " " + strings.ToLower(strings.ReplaceAll(code, "-", " ")) + " ": "/track/" + code, "": "/", "  ": "/",
		code + ".": "/track/" + code, "https://despacho.example/track/" + code: "/track/" + code, "despacho.example/track/" + code + "/": "/track/" + code,
	} {
		for _, path := range []string{"/track", "/track/"} {
			response := fetch(t, handler, path+"?code="+url.QueryEscape(typed), nil)
			require.Equal(t, http.StatusSeeOther, response.StatusCode, typed)
			require.Equal(t, target, response.Header.Get("Location"), typed)
			require.Equal(t, "no-store", response.Header.Get("Cache-Control"))
		}
	}
}

// The front page asks for the code; it may be listed, for there is nothing to hide.
func TestTrackPage_homeHasTheForm(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		page := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/"})
		require.Equal(t, http.StatusOK, page.Status)
		require.Contains(t, page.Text, `<form action="/track" method="get">`)
		require.Contains(t, page.Header.Get("Content-Security-Policy"), "form-action 'self'")
		require.Empty(t, page.Header.Get("X-Robots-Tag"))
	})
}

// An internal error is a page, too.
func TestTrackPage_failureIsAPage(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true})
	require.NoError(t, s.App.DB.Close())
	code := guidecode.New()
	page := trackPage(t, s, code, nil)
	requirePage(t, page, http.StatusInternalServerError)
	require.Contains(t, page.Text, "Algo salió mal")
	require.Contains(t, page.Text, ` value="`+code+`"`, "to be asked for again")
}
