package panel_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// While nobody has decided what follows a failed attempt, the operator and the store send the
// recipient a link from the order's page.
func TestOrder_recipientLink(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		id := s.CreateOrder(t, tenant.KeyA)
		s.WaitForWorkflow(t, id)
		panelMove(t, s, token, id, "receive", nil)
		panelMove(t, s, token, id, "assign", map[string]any{"rider_id": tenant.Riders[0].ID})
		see := func(token string) string {
			page := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/panel/pedidos/" + id, Header: map[string]string{"Cookie": "despacho_session=" + token}})
			require.Equal(t, http.StatusOK, page.Status, page.Text)
			return html.UnescapeString(page.Text)
		}
		require.NotContains(t, see(token), "/ayuda?k=")
		panelMove(t, s, token, id, "attempt", map[string]any{"reason": "absent"})
		link := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/panel/api/orders/" + id, Token: token}).String("recipient_link")
		require.Contains(t, link, "/ayuda?k=")
		for _, who := range []string{token, tenant.SignIn(t, &tenant.StoreA)} {
			page := see(who)
			require.Contains(t, page, `id="recipient-link">`+link+"<")
			require.Contains(t, page, "https://wa.me/51987654321?text=Hola%2C+no+pudimos+entregar+su+pedido+")
			require.Equal(t, 2, strings.Count(page, "k%3D")+strings.Count(page, "?k="))
		}
		panelMove(t, s, token, id, "decision", map[string]any{"decision": "retry"})
		require.NotContains(t, see(token), "/ayuda?k=")
	})
}
