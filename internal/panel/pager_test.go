package panel_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/models"
	"despacho/test/apptest"
)

// In place of a page after the last one, every list shows its last one.
func TestPager_showsTheLastPageAfterIt(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := getAs(t, s, tenant, &models.User{Admin: true})
		var received []models.Order
		for i := range 201 {
			received = append(received, tenant.Row(apptest.FrozenAt.Add(-time.Duration(i)*time.Minute), apptest.ReceivedAfter(0)))
		}
		tenant.InsertRows(t, received)
		for range 60 {
			require.NoError(t, s.App.DB.Audit(t.Context(), models.AuditEntry{OperatorID: tenant.Operator.ID, At: apptest.FrozenAt, Action: models.AuditErased}))
		}
		hook, _ := v.registerAt(t, "https://receptor.example/hook", nil)
		var deliveries []models.WebhookDelivery
		for range 26 {
			deliveries = append(deliveries, models.WebhookDelivery{
				ID: uuid.New(), WebhookID: uuid.MustParse(strings.TrimPrefix(hook, "/panel/webhooks/")), OperatorID: tenant.Operator.ID,
				Event: models.EventTest, Data: "{}", Status: models.WebhookDeliveryFailed, CreatedAt: apptest.FrozenAt, FinishedAt: &apptest.FrozenAt,
			})
		}
		require.NoError(t, s.App.DB.InsertDeliveries(t.Context(), deliveries))
		coverDistricts(t, tenant, 51)

		for list, shown := range map[string]string{
			"/panel/pedidos?estado=received&":                                "201–201 de 201",
			"/panel/asignacion?abierto=" + apptest.Miraflores.String() + "&": "201–201 de 201",
			"/panel/actividad?accion=" + string(models.AuditErased) + "&":    "51–60 de 60",
			hook + "?estado=failed&":                                         "26–26 de 26",
			"/panel/cobertura?":                                              "51–51 de 51",
		} {
			for _, number := range []string{"9", "2147483648", "9223372036854775807", "99999999999999999999"} {
				last := v.read(list + "pagina=" + number)
				require.Contains(t, last.words(), shown, list+number)
				require.Contains(t, last.words(), "Anteriores", list+number)
				require.NotContains(t, last.Text, `class="empty"`, list+number)
			}
			require.Contains(t, v.read(list+"pagina=-9223372036854775809").words(), " 1–", list)
		}
	})
}

// coverDistricts gives the tenant so many covered places in all.
func coverDistricts(t *testing.T, tenant *apptest.Tenant, count int) {
	t.Helper()
	_, places := catalog.Embedded()
	var rows []any
	for _, place := range places {
		// A tenant covers Lima and Miraflores from the start.
		if place.Type == catalog.TypeDistrict && place.ID != apptest.Miraflores && len(rows) < count-2 {
			rows = append(rows, &models.Coverage{ID: uuid.New(), OperatorID: tenant.Operator.ID, LocationID: place.ID, CreatedAt: apptest.FrozenAt})
		}
	}
	tenant.Change(t, rows...)
}

// Removing the only place of the last page leads to the page before it, not to the news that
// nothing is covered.
func TestCoverage_removingTheLastPage(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		coverDistricts(t, tenant, 51)
		second := v.read("/panel/cobertura?pagina=2")
		require.Len(t, second.places(), 1)
		remove := regexp.MustCompile(`action="(/panel/cobertura/[^"]+/quitar\?pagina=2)&amp;`).FindStringSubmatch(second.Text)
		require.Len(t, remove, 2)
		left := v.submit(remove[1], nil)
		require.Len(t, left.places(), 50)
		require.Contains(t, left.words(), "1–50 de 50")
		require.NotContains(t, left.words(), "Todavía no cubre ningún lugar")
	})
}
