package panel_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/fields"
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
		require.Contains(t, v.read("/panel/ajustes").Text, `href="/panel/actividad"`)
		filtered := v.read("/panel/actividad?accion=store.created&usuario=" + admin.ID.String()).Text
		require.Contains(t, filtered, "Zapatería Sol")
		require.NotContains(t, filtered, "<td data-label=\"Acción\">Inició sesión")
		require.Contains(t, v.read("/panel/actividad?hasta=2001-01-01").Text, "Nada cumple con el filtro")
		swapped := v.read("/panel/actividad?desde=2100-01-01&hasta=2001-01-01")
		require.Contains(t, swapped.Text, "Zapatería Sol")
		require.Equal(t, []string{"2001-01-01", "2100-01-01"}, swapped.days())
		require.Equal(t, []string{"", ""}, v.read("/panel/actividad?desde=0026-03-10&hasta=ayer").days(), "no filter is shown that is not applied")

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

// The details of the log name what was changed in Spanish, on the page and in the file.
func TestAudit_detailsAreInSpanish(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := getAs(t, s, tenant, &models.User{Admin: true})
		v.submit("/panel/ajustes", url.Values{"name": {tenant.OwnName("Rauda")}, "base_price": {"5"}})
		load(t, v, "ubigeo,precio\n150122,10\n080101,30\n", false)
		shown := v.read("/panel/actividad").words()
		require.Contains(t, shown, "Cambió los ajustes Persona de prueba 127.0.0.1 nombre, precio base")
		require.Contains(t, shown, "Cargó la cobertura de un archivo Persona de prueba 127.0.0.1 agregados: 1, cambiados: 1, quitados: 0")

		record := func(detail string) {
			require.NoError(t, s.App.DB.Audit(t.Context(), models.AuditEntry{OperatorID: tenant.Operator.ID, At: time.Now(), Action: models.AuditDeliveryCorrected, Detail: &detail}))
		}
		record("actual_amount_collected: 40.00 -> 45.50, delivery_proof")
		names := slices.Concat([]string{"url", "events", "retry", "paused"},
			columnsOf[models.Store](), columnsOf[models.Rider](), columnsOf[models.Branch](), columnsOf[models.Size](),
			columnsOf[models.Coverage](), columnsOf[models.RiskZone](), columnsOf[models.User](), columnsOf[models.Operator]())
		record(strings.Join(names, ", "))
		file := v.read("/panel/actividad.csv?accion=order.delivery_corrected").Text
		require.Contains(t, file, "cobrado: 40.00 → 45.50, foto")
		for _, name := range names {
			require.NotRegexp(t, `[ ;"]`+name+`[,"\r]`, file, "web/panel/audit_detail.go has no words for it")
		}
	})
}

// neverChanged are the columns that no audited change writes, and those whose change has an action
// of its own.
var neverChanged = []string{
	"id", "operator_id", "created_at", "updated_at", "country_code", "timezone", "currency", "plan", "suspended_at", "settings_version",
	"test", "password_hash", "totp_secret", "totp_confirmed_at", "totp_last_step",
}

// columnsOf are the columns of a table that the details of the log can name.
func columnsOf[T any]() []string {
	var empty, filled T
	(&fields.Filler{Bool: true}).Fill(&filled)
	return slices.DeleteFunc(db.ChangedColumns(&empty, &filled), func(name string) bool { return slices.Contains(neverChanged, name) })
}
