package panel_test

import (
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/money"
	"despacho/models"
	"despacho/test/apptest"
)

// fileRows reads a file of orders.
func fileRows(t *testing.T, p *page) [][]string {
	t.Helper()
	require.Equal(t, "text/csv; charset=utf-8", p.Header.Get("Content-Type"))
	require.Regexp(t, `^attachment; filename="pedidos-.*\.csv"$`, p.Header.Get("Content-Disposition"))
	reader := csv.NewReader(strings.NewReader(strings.TrimPrefix(p.Text, "\ufeff")))
	reader.Comma = ';'
	rows, err := reader.ReadAll()
	require.NoError(t, err)
	return rows
}

// A list of orders as a file has the filters of its page, all its pages, its totals, and no
// formula.
func TestOrdersFile(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		var rows []models.Order
		for i := range 1200 { // more than two batches
			rows = append(rows, tenant.Row(apptest.FrozenAt.Add(-time.Duration(i)*time.Second), func(o *models.Order) { o.AmountToCollect = 100 }))
		}
		collected := money.Cents(4000)
		delivered := tenant.Row(apptest.FrozenAt.Add(-48*time.Hour), apptest.ReceivedAfter(time.Hour), apptest.DeliveredAfter(tenant.Riders[0], time.Hour), func(o *models.Order) {
			o.StoreID, o.RecipientName, o.Product = &tenant.StoreB.ID, "=HYPERLINK(\"http://malo\")", "Zapatos; \"rojos\""
			number := "=PED-1"
			notes := "Llamar antes"
			o.ExternalID, o.Notes = &number, &notes
			o.PaymentType, o.AmountToCollect, o.ActualAmountCollected = models.CashOnDelivery, 4550, &collected
		})
		tenant.InsertRows(t, append(rows, delivered))
		v := visit(t, s, tenant, nil)
		require.Contains(t, v.read("/panel/pedidos?desde=2020-01-01&estado=delivered").Text, `href="/panel/pedidos.csv?desde=2020-01-01&amp;estado=delivered"`)
		require.Contains(t, v.read("/panel/pedidos").Text, `href="/panel/pedidos.csv"`)

		all := fileRows(t, v.read("/panel/pedidos.csv"))
		require.Len(t, all, 1+1201+1)
		seen := map[string]bool{}
		for i, row := range all[1:1201] {
			require.Equal(t, rows[i].GuideCode, row[0], "newest first")
			seen[row[0]] = true
		}
		require.Len(t, seen, 1200)
		last := all[len(all)-1]
		require.Equal(t, []string{"TOTAL", "1201 pedidos"}, last[:2])
		totals := map[string]string{}
		for i, name := range all[0] {
			totals[name] = last[i]
		}
		require.Equal(t, []string{"1245.50", "40.00", fmt.Sprintf("%d.00", 1201*9)}, []string{totals["monto_a_cobrar"], totals["cobrado"], totals["tarifa"]})

		one := fileRows(t, v.read("/panel/pedidos.csv?estado=delivered&tienda="+tenant.StoreB.ID.String()))
		require.Len(t, one, 3)
		require.Equal(t, []string{"TOTAL", "1 pedido"}, one[2][:2])
		cells := map[string]string{}
		for i, name := range one[0] {
			cells[name] = one[1][i]
		}
		require.Equal(t, "'=HYPERLINK(\"http://malo\")", cells["destinatario"])
		require.Equal(t, "'=PED-1", cells["numero_de_pedido"])
		require.Equal(t, []string{"Entregado", "Tienda B", "Zapatos; \"rojos\"", "Llamar antes", "Carlos Quispe", "45.50", "40.00"},
			[]string{cells["estado"], cells["tienda"], cells["producto"], cells["notas"], cells["motorizado"], cells["monto_a_cobrar"], cells["cobrado"]})
		require.Equal(t, delivered.DeliveredAt.In(tenant.Operator.TimeZone()).Format("2006-01-02 15:04:05"), cells["entregado"])

		require.Len(t, fileRows(t, visit(t, s, tenant, &tenant.StoreB).read("/panel/pedidos.csv")), 3, "a store has its own")
		require.Len(t, fileRows(t, visit(t, s, s.NewTenant(t), nil).read("/panel/pedidos.csv")), 2, "and another operator none of them")
	})
}

// The file of the assignment has what its page lists.
func TestOrdersFile_ofTheAssignment(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		inSurco := func(o *models.Order) { o.LocationID = apptest.Surco }
		received := apptest.ReceivedAfter(time.Hour)
		assigned := func(o *models.Order) {
			o.Status, o.RiderID, o.AssignedAt = models.StatusAssigned, &tenant.Riders[0].ID, o.ReceivedAt
		}
		day := apptest.FrozenAt.Add(-24 * time.Hour)
		tenant.InsertRows(t, []models.Order{
			tenant.Row(day), tenant.Row(day, received), tenant.Row(day, received, inSurco), tenant.Row(day, received, assigned), tenant.Row(day, received, assigned, inSurco),
		})
		v := visit(t, s, tenant, nil)
		for query, orders := range map[string]int{
			"": 2, "?distrito=" + apptest.Surco.String(): 1, "?estado=assigned": 2, "?estado=assigned&motorizado=" + tenant.Riders[1].ID.String(): 0,
		} {
			require.Len(t, fileRows(t, v.read("/panel/asignacion.csv"+query)), 1+orders+1, query)
		}
		require.Contains(t, v.read("/panel/asignacion?todos=1&distrito="+apptest.Surco.String()).Text, `href="/panel/asignacion.csv?distrito=`+apptest.Surco.String()+`"`)
	})
}

// The file is sent while it is made: nobody knows its length beforehand.
func TestOrdersFile_isStreamed(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		var rows []models.Order
		for i := range 600 {
			rows = append(rows, tenant.Row(apptest.FrozenAt.Add(-time.Duration(i)*time.Second)))
		}
		tenant.InsertRows(t, rows)
		v := visit(t, s, tenant, nil)
		response, err := v.client.Get(v.base + "/panel/pedidos.csv")
		require.NoError(t, err)
		defer response.Body.Close()
		require.EqualValues(t, -1, response.ContentLength)
		content, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, response.StatusCode)
		require.Equal(t, 602, strings.Count(string(content), "\r\n"))
	})
}
