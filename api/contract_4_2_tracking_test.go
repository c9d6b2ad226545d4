package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/guidecode"
	"despacho/models"
	"despacho/test/apptest"
)

func track(t *testing.T, s *apptest.Service, code string, header map[string]string) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/track/" + url.PathEscape(code), Header: header})
}

// The tracking view has these fields and no others, and needs no key (section 2.4).
func TestContract_2_4_trackingView(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		logo := "https://operador.example/logo.png"
		tenant := s.NewTenant(t, func(o *models.Operator) { o.Name, o.LogoURL = "Rápidos del Perú", &logo })
		order := created(t, s, tenant.KeyA, map[string]any{"product": "Zapatillas"})
		require.Equal(t, map[string]any{
			"guide_code": order.String("guide_code"), "status": "registered", "status_label": "Registrado", "product": "Zapatillas",
			"tenant_name": "Rápidos del Perú", "tenant_logo_url": logo,
			"events": []any{map[string]any{"type": "created", "status": "registered", "label": "Registrado", "at": order.String("created_at")}},
		}, track(t, s, order.String("guide_code"), ownAddress()).Data)

		plain := s.NewTenant(t)
		answer := track(t, s, created(t, s, plain.Key).String("guide_code"), ownAddress())
		require.Contains(t, answer.Data, "tenant_logo_url")
		require.Nil(t, answer.Data["tenant_logo_url"])
	})
}

// The timeline grows oldest first, and whatever happens the view never tells the rider, the address
// or a name.
func TestContract_2_4_neverRiderNorAddress(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		operator := tenant.SignIn(t, nil)
		order := created(t, s, tenant.KeyA, map[string]any{
			"delivery_reference": "Puerta azul", "notes": "Cuidado con el perro", "recipient_doc_type": "ce", "recipient_doc_number": "77665544",
			"delivery_lat": -12.345678, "delivery_lng": -77.345678,
		})
		id := order.String("id")
		panelMove(t, s, operator, id, "receive", nil, 200)
		panelMove(t, s, operator, id, "assign", map[string]any{"rider_id": tenant.Riders[0].ID}, 200)
		panelMove(t, s, operator, id, "assign", map[string]any{"rider_id": tenant.Riders[1].ID}, 200)
		panelMove(t, s, operator, id, "cancel", map[string]any{"reason": "Dirección falsa", "note": "Se llamó dos veces"}, 200)

		view := track(t, s, order.String("guide_code"), nil)
		require.Equal(t, "cancelled", view.String("status"))
		require.Equal(t, "Cancelado", view.String("status_label"))
		var events [][3]any
		for _, event := range objects(t, view.Data["events"].([]any)) {
			require.Len(t, event, 4, "type, status, label, at")
			require.NotEmpty(t, event["at"])
			events = append(events, [3]any{event["type"], event["status"], event["label"]})
		}
		require.Equal(t, [][3]any{
			{"created", "registered", "Registrado"}, {"received", "received", "Recibido"},
			{"assigned", "assigned", "En reparto"}, {"assigned", "assigned", "En reparto"}, {"cancelled", "cancelled", "Cancelado"},
		}, events)
		for _, private := range []string{
			"Carlos", "María", "+5198765432", "Rosa", "Larco", "Miraflores", "Puerta azul", "perro", "77665544", "12.345678",
			"Dirección falsa", "dos veces", tenant.StoreA.Name, id, tenant.Operator.ID.String(),
		} {
			require.NotContains(t, view.Text, private)
		}
	})
}

// Lookups ignore case and hyphen, and accept O for 0 and I or L for 1, and so does the page.
func TestContract_4_2_acceptedSpellings(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		code := created(t, s, tenant.Key).String("guide_code")
		for _, form := range []string{
			code, strings.ToLower(code), strings.ReplaceAll(code, "-", ""), " " + code + " ",
			strings.ReplaceAll(code, "0", "O"), strings.ReplaceAll(code, "1", "l"), strings.ReplaceAll(code, "1", "I"),
		} {
			answer := track(t, s, form, ownAddress())
			require.Equal(t, http.StatusOK, answer.Status, form)
			require.Equal(t, code, answer.String("guide_code"))
			for _, path := range []string{url.PathEscape(form), url.PathEscape(form) + "/"} {
				page := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/track/" + path, Header: ownAddress()})
				requirePage(t, page, http.StatusOK)
				require.Contains(t, page.Text, ">"+code+"<", form)
			}
		}
	})
}

// Unknown and malformed codes answer the same 404, so that nothing is learned from it.
func TestContract_4_2_unknownAndMalformedCode(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		address := ownAddress()
		unknown := track(t, s, guidecode.New(), address)
		requireRefused(t, unknown, http.StatusNotFound, "guide_code_not_found")
		for _, malformed := range []string{
			"x", "UUUUU-UUUUUU", "00000-000001", strings.Repeat("A", 5000), "\x00", "ñandú", "'; DROP TABLE orders; --", "\xff\xfe",
			"54c51d2b-049b-53b9-93ac-fa910f68ea0d", "a/b", "..",
		} {
			answer := track(t, s, malformed, address)
			require.Equal(t, unknown.Status, answer.Status, malformed)
			require.Equal(t, unknown.Text, answer.Text, malformed)
		}
	})
}

// Tracking is limited to 120 requests a minute for each client address.
func TestContract_4_2_limitPerAddress(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		code, address := guidecode.New(), ownAddress()
		statuses := inParallel(t, 125, func(int) apptest.Request {
			return apptest.Request{Method: "GET", Path: "/v1/track/" + code, Header: address}
		}, s)
		require.Equal(t, map[int]int{http.StatusNotFound: 120, http.StatusTooManyRequests: 5}, statuses)
		limited := track(t, s, code, address)
		requireRefused(t, limited, http.StatusTooManyRequests, "too_many_requests")
		require.Equal(t, "30", limited.Header.Get("Retry-After"), "the clock stands half a minute before the next")
		require.Equal(t, http.StatusNotFound, track(t, s, code, ownAddress()).Status, "another address is not affected")
	})
}
