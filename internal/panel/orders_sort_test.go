package panel_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/money"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// heads are the sorted columns of a list, by their aria-sort.
func heads(p *page) map[string]string {
	found := map[string]string{}
	for _, part := range strings.Split(p.Text, "<th ")[1:] {
		attributes, rest, _ := strings.Cut(part, ">")
		if _, sorted, ok := strings.Cut(attributes, `aria-sort="`); ok {
			label := rest[strings.Index(rest, ">")+1:]
			found[label[:strings.IndexAny(label, " <")]] = strings.TrimSuffix(sorted, `"`)
		}
	}
	return found
}

// The list sorts by its columns with links, and keeps the filter and the pages.
func TestOrders_sort(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		var rows []models.Order
		for i, order := range []struct {
			name  string
			place uuid.UUID
			owed  money.Cents
		}{{"Beatriz", apptest.Surco, 300}, {"ana", apptest.Miraflores, 200}, {"Carla", apptest.SanJuan, 100}} {
			rows = append(rows, tenant.Row(time.Now().Add(-time.Duration(i)*time.Hour), func(o *models.Order) {
				o.RecipientName, o.LocationID, o.AmountToCollect, o.PaymentType = order.name, order.place, order.owed, models.CashOnDelivery
			}))
		}
		tenant.InsertRows(t, rows)
		v := visit(t, s, tenant, nil)
		sequence := func(names ...int) []string {
			var ids []string
			for _, i := range names {
				ids = append(ids, rows[i].ID.String())
			}
			return ids
		}
		list := v.read("/panel/pedidos?estado=registered&tienda=" + tenant.StoreA.ID.String())
		require.Equal(t, map[string]string{"Creado": "descending"}, heads(list))
		for _, step := range []struct {
			column, sorted string
			want           []string
		}{
			{"Destinatario", "ascending", sequence(1, 0, 2)}, {"Destinatario", "descending", sequence(2, 0, 1)}, {"Distrito", "ascending", sequence(1, 2, 0)},
			{"Por cobrar", "descending", sequence(0, 1, 2)}, {"Por cobrar", "ascending", sequence(2, 1, 0)}, {"Creado", "descending", sequence(0, 1, 2)}, {"Creado", "ascending", sequence(2, 1, 0)},
		} {
			link := list.headLink(t, step.column)
			require.Contains(t, link, "tienda="+tenant.StoreA.ID.String(), "the filter stays")
			require.Contains(t, link, "estado=registered")
			list = v.read(link)
			require.Equal(t, step.want, list.rows(), "%s %s", step.column, step.sorted)
			require.Equal(t, map[string]string{strings.Fields(step.column)[0]: step.sorted}, heads(list))
		}
		require.Contains(t, list.Text, `<input type="hidden" name="orden" value="fecha">`, "a search keeps the sort")
		require.Contains(t, list.Text, `href="/panel/pedidos.csv?estado=registered&amp;tienda=`, "the file is newest first")
		require.Equal(t, sequence(0, 1, 2), v.read("/panel/pedidos?orden=clave%27--").rows(), "an unknown column is ignored")
	})
}

// headLink is the address that a column's head leads to.
func (p *page) headLink(t *testing.T, label string) string {
	t.Helper()
	for _, part := range strings.Split(p.Text, "<th ")[1:] {
		cell, _, _ := strings.Cut(part, "</th>")
		if _, link, ok := strings.Cut(cell, `href="`); ok && strings.Contains(link, ">"+label) {
			address, _, _ := strings.Cut(link, `"`)
			return strings.ReplaceAll(address, "&amp;", "&")
		}
	}
	t.Fatalf("no head %s leads anywhere", label)
	return ""
}

// Delivered orders sort by the date that the list shows, and an index has them so. A list that is
// too long to sort by another column does not offer it.
func TestOrders_sortOfALongList(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true})
		watched := &statementLog{byRequest: map[string][]statement{}}
		require.NoError(t, s.App.DB.Use(watched))
		tenant := s.NewTenant(t)
		rows := make([]models.Order, 2001)
		for i := range rows {
			// The first one created was delivered last.
			rows[i] = tenant.Row(time.Now().Add(-time.Duration(i)*time.Minute), apptest.ReceivedAfter(0), apptest.DeliveredAfter(tenant.Riders[0], time.Duration(2*i)*time.Minute))
		}
		rows[1500].RecipientName = "Ana"
		tenant.InsertRows(t, rows)
		v := visit(t, s, tenant, nil)
		list := v.read("/panel/pedidos?estado=delivered")
		require.Empty(t, heads(list), "newest first is by the creation, which this list does not show")
		id := uuid.NewString()
		sorted := v.getWith(list.headLink(t, "Entregado"), "X-Request-Id", id)
		require.Equal(t, rows[2000].ID.String(), sorted.rows()[0])
		require.Equal(t, map[string]string{"Entregado": "descending"}, heads(sorted))
		checked := 0
		for _, sent := range watched.of(id) {
			if strings.Contains(sent.text, "ORDER BY orders.delivered_at DESC") {
				checked++
				requireNoSorting(t, s.App.DB, sent.text)
			}
		}
		require.Equal(t, 1, checked)
		require.NotContains(t, list.links(), "Destinatario")
		unsorted := v.read("/panel/pedidos?estado=delivered&orden=destinatario")
		require.Equal(t, list.rows(), unsorted.rows(), "newest first instead")
		require.Empty(t, heads(unsorted))
	})
}

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
