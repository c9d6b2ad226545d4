package panel_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// An administrator reads the log as a page, filters it and saves it as a file whose cells are no
// formulas.
func TestAudit_pageAndFile(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		admin := &models.User{Admin: true, Name: "=HYPERLINK(1)"}
		v := getAs(t, s, tenant, admin)
		require.Equal(t, http.StatusSeeOther, v.post("/panel/tiendas", url.Values{"name": {"Zapatería Sol"}, "active": {"true"}}).Status)

		shown := v.read("/panel/actividad").Text
		require.Contains(t, shown, "Creó una tienda")
		require.Contains(t, shown, "Zapatería Sol")
		require.Contains(t, shown, "Inició sesión")
		require.Contains(t, v.read("/panel/pedidos").Text, `href="/panel/actividad"`)
		filtered := v.read("/panel/actividad?accion=store.created&usuario=" + admin.ID.String()).Text
		require.Contains(t, filtered, "Zapatería Sol")
		require.NotContains(t, filtered, "<td data-label=\"Acción\">Inició sesión")
		require.Contains(t, v.read("/panel/actividad?hasta=2001-01-01").Text, "Nada cumple con el filtro")

		file := v.read("/panel/actividad.csv?accion=store.created")
		require.Contains(t, file.Header.Get("Content-Disposition"), "attachment")
		reader := csv.NewReader(strings.NewReader(strings.TrimPrefix(file.Text, "\ufeff")))
		reader.Comma = ';'
		rows, err := reader.ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 2)
		require.Equal(t, []string{"Creó una tienda", "'=HYPERLINK(1)", "127.0.0.1", "Zapatería Sol", ""}, rows[1][1:])

		require.Equal(t, http.StatusForbidden, visit(t, s, tenant, nil).get("/panel/actividad").Status)
		require.Equal(t, http.StatusForbidden, visit(t, s, tenant, &tenant.StoreA).get("/panel/actividad.csv").Status)
	})
}

// Every action of the log has words of its own, and is among those to choose from.
func TestAudit_everyActionHasWords(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		shown := getAs(t, s, s.NewTenant(t), &models.User{Admin: true}).read("/panel/actividad").Text
		for _, action := range models.AuditActions {
			require.Contains(t, shown, `<option value="`+string(action)+`"`)
		}
	})
}
