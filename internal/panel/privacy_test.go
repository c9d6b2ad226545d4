package panel_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/dbtest"
)

// A phone erases nothing by itself: the page shows the orders first, and erases those that it has
// shown. If they are others meanwhile, it shows them again.
func TestPrivacy_showsTheOrdersFirst(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		const path = "/panel/privacidad"
		tenant := s.NewTenant(t)
		cancelled := func() models.Order {
			return tenant.Row(time.Now().Add(-time.Hour), apptest.CancelledBy(models.ByStore, "Ya no"))
		}
		rows := []models.Order{cancelled(), tenant.Row(time.Now())}
		tenant.InsertRows(t, rows)
		v := getAs(t, s, tenant, &models.User{Admin: true})
		nameOf := func(order models.Order) string {
			return dbtest.Row[models.Order](t, s.App.DB, "id = ?", order.ID).RecipientName
		}

		shown := v.post(path, url.Values{"phone": {"987 654 321"}})
		require.Equal(t, http.StatusOK, shown.Status)
		for _, row := range rows {
			require.Contains(t, shown.words(), row.GuideCode)
		}
		require.Contains(t, shown.words(), "Nada todavía: sigue en curso")
		require.Contains(t, shown.words(), "Eliminar los datos de 1 pedido")
		require.Equal(t, "Rosa Díaz", nameOf(rows[0]), "nothing has been erased")

		confirmation := url.Values{"phone": {"+51987654321"}, "seen": {shown.seen(t)}}
		another := cancelled()
		tenant.InsertRows(t, []models.Order{another})
		again := v.post(path, confirmation)
		require.Contains(t, again.words(), "los pedidos cambiaron desde que usted los revisó")
		require.Contains(t, again.words(), "Eliminar los datos de 2 pedidos")
		require.Equal(t, "Rosa Díaz", nameOf(rows[0]), "nothing has been erased")

		confirmation.Set("seen", again.seen(t))
		require.Contains(t, v.submit(path, confirmation).words(),
			"Pedidos cuyos datos se eliminaron: 2. Todavía en curso: 1; elimínelos cuando terminen.")
		require.Equal(t, []string{models.ErasedText, models.ErasedText, "Rosa Díaz"},
			[]string{nameOf(rows[0]), nameOf(another), nameOf(rows[1])})
		require.Contains(t, v.post(path, url.Values{"phone": {"987000111"}}).words(), "Ningún pedido tiene ese teléfono.")
	})
}
