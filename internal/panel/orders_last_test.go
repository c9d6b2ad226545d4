package panel_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// cookies are the panel's cookies that the browser has.
func (v *visitor) cookies() map[string]string {
	v.t.Helper()
	address, err := url.Parse(v.base + "/panel")
	require.NoError(v.t, err)
	kept := map[string]string{}
	for _, cookie := range v.client.Jar.Cookies(address) {
		kept[cookie.Name] = cookie.Value
	}
	return kept
}

// The filter of the last list may have the name of a recipient: it is nobody else's who signs in
// with the same browser, and nothing of it is left once its user has signed out.
func TestOrders_theLastListIsItsUsersOnly(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		row := tenant.Row(s.App.Clock().Now())
		tenant.InsertRows(t, []models.Order{row})
		order := "/panel/pedidos/" + row.ID.String()
		v := visit(t, s, tenant, nil)
		v.read("/panel/pedidos?q=Quintanilla")
		require.Contains(t, v.read(order).Text, `href="/panel/pedidos?q=Quintanilla"`)

		v.becomes(tenant, &models.User{})
		require.NotContains(t, v.read(order).Text, "Quintanilla")

		v.read("/panel/pedidos?q=Quintanilla")
		require.Contains(t, v.cookies(), "despacho_list")
		require.Equal(t, http.StatusSeeOther, v.post("/panel/salir", nil).Status)
		require.NotContains(t, v.cookies(), "despacho_list")
	})
}

// A search that cannot be made leaves the way back to the list before it.
func TestOrders_theLastListIsNoRefusedSearch(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		row := tenant.Row(s.App.Clock().Now())
		tenant.InsertRows(t, []models.Order{row})
		v := visit(t, s, tenant, nil)
		v.read("/panel/pedidos?q=Quintanilla")
		require.Equal(t, http.StatusBadRequest, v.get("/panel/pedidos?q=%25").Status)
		require.Contains(t, v.read("/panel/pedidos/"+row.ID.String()).Text, `href="/panel/pedidos?q=Quintanilla"`)
	})
}

// A list that was searched with a long text, as a pasted one, is too long for a cookie: the way
// back from an order leads to all orders, not to the list before.
func TestOrders_aListThatIsTooLongToRemember(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		row := tenant.Row(s.App.Clock().Now())
		tenant.InsertRows(t, []models.Order{row})
		v := visit(t, s, tenant, nil)
		v.read("/panel/pedidos?q=Quintanilla")
		v.read("/panel/pedidos?q=" + url.QueryEscape(strings.Repeat("ñ", 1000)))
		const largestCookie = 4096 // of what browsers keep
		require.Less(t, len("despacho_list="+v.cookies()["despacho_list"]), largestCookie)
		require.NotContains(t, v.read("/panel/pedidos/"+row.ID.String()).Text, "/panel/pedidos?q=")
	})
}
