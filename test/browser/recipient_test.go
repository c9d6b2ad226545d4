package browser

import (
	"context"
	"net/http"
	"strings"
	"testing"

	chromium "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// standsAt is a phone that says where it is.
func standsAt(lat, lng float64) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		accuracy := 12.0
		_, err := cdp.Call(ctx, target, emulation.SetGeolocationOverride, emulation.SetGeolocationOverrideParams{Latitude: &lat, Longitude: &lng, Accuracy: &accuracy})
		return err
	})
}

// mayLocate says whether the page may ask where the phone is.
func mayLocate(setting chromium.PermissionSetting) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, chromium.SetPermission, chromium.SetPermissionParams{
			Permission: &chromium.PermissionDescriptor{Name: "geolocation"}, Setting: setting, BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
		})
		return err
	})
}

// undeliveredOrder is an order with a failed attempt that nobody has decided about, and the
// recipient's link.
func undeliveredOrder(t *testing.T, s *apptest.Service, tenant *apptest.Tenant, token string) (id, guide, link string) {
	t.Helper()
	id = s.CreateOrder(t, tenant.KeyA, map[string]any{"delivery_reference": "Puerta azul"})
	for _, move := range []struct {
		name string
		body map[string]any
	}{{"receive", map[string]any{}}, {"assign", map[string]any{"rider_id": tenant.Riders[0].ID}}, {"attempt", map[string]any{"reason": "absent", "note": "Perro suelto"}}} {
		moved := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/" + move.name, Token: token, Body: move.body})
		require.Equal(t, http.StatusOK, moved.Status, moved.Text)
	}
	order := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/panel/api/orders/" + id, Token: token})
	return id, order.String("guide_code"), strings.TrimPrefix(order.String("recipient_link"), s.Config.BaseURL)
}

// The recipient of a package that could not be delivered chooses a day, marks where they are and
// adds a reference, on a phone, and finds on the page of the package that it was understood.
func TestRecipient_choosesOnAPhone(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		id, guide, link := undeliveredOrder(t, s, tenant, token)

		p := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		p.do(emulatePhone())
		p.visit("/track/" + guide)
		p.waitForText("No se pudo entregar")
		p.requireNoOverflow()
		p.do(mayLocate(chromium.PermissionSettingGranted), standsAt(-12.1215, -77.0301))
		p.visit(link)
		p.waitForText("¿Qué día volvemos?")
		p.requireNoOverflow()
		for _, private := range []string{"Rosa", "Larco", "Puerta azul", "Perro", "Carlos", "Miraflores"} {
			require.NotContains(t, p.text(), private)
		}
		require.True(t, read(t, p.tab, chromedp.Evaluate[bool](`[...document.querySelectorAll(".days label, .help button:not([hidden])")].every((target) => target.getBoundingClientRect().height >= 44)`)),
			"what is tapped is large enough for a thumb")
		p.press("#locate")
		p.waitForText("Tu ubicación está marcada, con unos 12 m de precisión.")
		p.do(chromedp.SendKeys(chromedp.CSS("#reference"), "Al lado de la botica"))
		p.press(".days label:nth-of-type(2)")
		p.press(".help button[type=submit]")
		p.waitForText("Iremos otra vez")
		p.requireNoOverflow()
		require.Equal(t, "/track/"+guide, p.address())

		order := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + id, Key: tenant.KeyA})
		require.Equal(t, "Puerta azul\nAl lado de la botica", order.String("delivery_reference"))
		require.Equal(t, []any{-12.1215, -77.0301}, []any{order.Data["delivery_lat"], order.Data["delivery_lng"]})
		p.visit(link)
		p.waitForText("Este enlace ya se usó")
	})
}

// A phone that does not say where it is does not stand in the way: a map link does, too, and a
// wrong one is shown again with what was typed.
func TestRecipient_withoutALocation(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		id, _, link := undeliveredOrder(t, s, tenant, token)
		p := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		p.do(emulatePhone(), mayLocate(chromium.PermissionSettingDenied))
		p.visit(link)
		p.press("#locate")
		p.waitForText("El teléfono no dio su ubicación.")
		p.do(chromedp.SendKeys(chromedp.CSS("#reference"), "Timbre 2"), chromedp.SendKeys(chromedp.CSS("#map"), "por la plaza"))
		p.press(".help button[type=submit]")
		p.waitForText("Revisa: ahí no encontramos un punto")
		require.Equal(t, "Timbre 2", read(t, p.tab, chromedp.Evaluate[string](`document.querySelector("#reference").value`)))
		p.fill("#map", "https://www.google.com/maps?q=-12.1216,-77.0302")
		p.press(".help button[type=submit]")
		p.waitForText("Iremos otra vez")
		order := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + id, Key: tenant.KeyA})
		require.Equal(t, []any{-12.1216, -77.0302}, []any{order.Data["delivery_lat"], order.Data["delivery_lng"]})
	})
}

// The pages of a recipient are as accessible as the others, on a desk and on a phone, in light and
// in dark.
func TestRecipient_isAccessible(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		axe, tenant := axeCore(t), s.NewTenant(t)
		_, guide, link := undeliveredOrder(t, s, tenant, tenant.SignIn(t, nil))
		for _, w := range windows() {
			v := &visitor{browserUser: &browserUser{t, open(t, desktopWidth), s.BaseURL}, window: w, axe: axe}
			v.do(w.emulate())
			for _, path := range []string{link, "/track/" + guide, "/track/" + guide + "/ayuda?k=x"} {
				v.visit(path)
				v.waitVisible("h1")
				v.look("recipient", path)
			}
		}
	})
}
