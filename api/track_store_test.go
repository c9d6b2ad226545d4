package api_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
	"despacho/test/poll"
)

// The tracking page tells how to reach the store, as the operator has set it.
func TestTrackPage_contactsOfTheStore(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		path := "/stores/" + tenant.StoreA.ID.String()
		ofA, ofB, own := created(t, s, tenant.KeyA), created(t, s, tenant.KeyB), created(t, s, tenant.Key)
		see := func(order *apptest.Answer) string {
			page := trackPage(t, s, order.String("guide_code"), nil)
			requirePage(t, page, http.StatusOK)
			return html.UnescapeString(page.Text)
		}
		require.NotContains(t, see(ofA), "¿Dudas con tu pedido?")

		set := operator.change(path, fields{"contact_phone": "(01) 234-5678", "contact_whatsapp": "911 000 111", "contact_email": " hola+ventas@tienda.example "})
		require.Equal(t, []any{"+5112345678", "+51911000111", "hola+ventas@tienda.example"}, []any{set["contact_phone"], set["contact_whatsapp"], set["contact_email"]})
		page := see(ofA)
		for _, shown := range []string{
			"¿Dudas con tu pedido?", "Comunícate con Tienda A.", `href="tel:+5112345678"`, `href="mailto:hola+ventas@tienda.example"`,
			`href="https://wa.me/51911000111?text=Hola%2C+consulto+por+mi+pedido+` + ofA.String("guide_code") + `."`,
		} {
			require.Contains(t, page, shown)
		}
		require.NotContains(t, see(ofB), "¿Dudas con tu pedido?", "another store's")
		require.NotContains(t, see(own), "¿Dudas con tu pedido?", "the operator's own")
		view := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/track/" + ofA.String("guide_code")})
		require.Len(t, view.Data, 7, "the JSON has what contract 2.4 lists")

		require.Equal(t, "Tienda A", operator.change(path, fields{"contact_phone": nil, "contact_whatsapp": "  ", "active": true})["name"])
		page = see(ofA)
		require.NotContains(t, page, "tel:")
		require.NotContains(t, page, "wa.me/51911000111")
		require.Contains(t, page, "mailto:", "what is not sent stays")
		for field, values := range map[string][]any{
			"contact_phone": {"hola", 5, "12"}, "contact_whatsapp": {"javascript:alert(1)", true}, "contact_email": {"hola", "a@b.example?subject=x y", "<a@b.example>", 5, strings.Repeat("a", 250) + "@b.example"},
		} {
			for _, value := range values {
				requireWrongFields(t, operator.patch(path, fields{field: value}), field)
			}
		}
	})
}

var sharedPhoto = regexp.MustCompile(`<a href="([^"]+)" rel="noreferrer noopener"><img class="proof" src="([^"]+)"`)

// The photo of a delivery is on the tracking page if the operator shares it, and never after an
// erasure.
func TestTrackPage_photoOfTheDelivery(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		admin, tenant, _ := adminDesk(t, s)
		order := created(t, s, tenant.KeyA)
		id, code := order.String("id"), order.String("guide_code")
		s.WaitForWorkflow(t, id)
		see := func() *apptest.Answer {
			page := trackPage(t, s, code, nil)
			requirePage(t, page, http.StatusOK)
			return page
		}
		require.Equal(t, false, admin.send(http.MethodGet, "/settings", nil).Data["share_proof_photo"], "off unless somebody turns it on")
		panelMove(t, s, admin.token, id, "receive", nil, http.StatusOK)
		panelMove(t, s, admin.token, id, "assign", fields{"rider_id": tenant.Riders[0].ID}, http.StatusOK)
		require.Equal(t, http.StatusOK, s.Do(t, deliveryWithPhoto(t, id, admin.token)).Status)
		require.NotContains(t, see().Text, "Foto de la entrega")

		require.Equal(t, true, admin.change("/settings", fields{"share_proof_photo": true})["share_proof_photo"])
		page := see()
		addresses := sharedPhoto.FindStringSubmatch(html.UnescapeString(page.Text))
		require.NotNil(t, addresses, page.Text)
		for _, address := range addresses[1:] {
			photo := s.Do(t, apptest.Request{Method: http.MethodGet, Path: strings.TrimPrefix(address, s.BaseURL)})
			require.Equal(t, http.StatusOK, photo.Status, address)
		}
		require.Contains(t, page.Header.Get("Content-Security-Policy"), "img-src https: data: "+s.BaseURL+";")
		require.NotContains(t, s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/track/" + code}).Text, "signature")
		other := created(t, s, tenant.KeyA)
		require.NotContains(t, trackPage(t, s, other.String("guide_code"), nil).Text, "Foto de la entrega", "not delivered")

		poll.Until(t, func() error { return workflowEnded(t, s, id) })
		require.Equal(t, http.StatusOK, admin.post("/orders/"+id+"/erase", nil).Status)
		require.NotContains(t, see().Text, "Foto de la entrega")
		requireRefused(t, s.Do(t, apptest.Request{Method: http.MethodGet, Path: strings.TrimPrefix(addresses[1], s.BaseURL)}), http.StatusNotFound, "file_not_found")
		require.Equal(t, false, admin.change("/settings", fields{"share_proof_photo": false})["share_proof_photo"])
		requireWrongFields(t, admin.patch("/settings", fields{"share_proof_photo": "sí"}), "share_proof_photo")
	})
}
