package panel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/apptest"
	"despacho/internal/testenv"
	"despacho/models"
)

// A tab with ten thousand orders is read as quickly as anybody turns a page.
func TestBoard_tenThousandOrdersInATab(t *testing.T) {
	const most = 200 * time.Millisecond
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true})
		tenant := s.NewTenant(t)
		rows := make([]models.Order, 10_000)
		if apptest.RaceDetector {
			rows = rows[:1_000] // it takes its time to write them, and no time is measured
		}
		for i := range rows {
			rows[i] = tenant.Row(time.Now().Add(-time.Duration(i)*time.Minute), apptest.ReceivedAfter(time.Hour))
		}
		tenant.InsertRows(t, rows)
		v := visit(t, s, tenant, nil)
		for name, path := range map[string]string{
			"first page": "/panel/pedidos?estado=received", "last page": "/panel/pedidos?estado=received&pagina=" + fmt.Sprint(len(rows)/50), "all": "/panel/pedidos",
			"one store": "/panel/pedidos?estado=received&tienda=" + tenant.StoreA.ID.String(), "search": "/panel/pedidos?estado=received&q=nadie",
		} {
			best := quickest(v, path, most)
			t.Logf("%s: %s", name, best.Round(100*time.Microsecond))
			if !apptest.RaceDetector {
				require.Less(t, best, most, name)
			}
		}
		require.Contains(t, v.read("/panel/pedidos?estado=received").words(), fmt.Sprintf("1–50 de %d", len(rows)))
	})
}

// quickest is the least time that a page took. A machine that is busy with other tests is given some more turns: what counts is how long
// the page takes, not how long it waits.
func quickest(v *visitor, path string, goal time.Duration) time.Duration {
	best, began := time.Hour, time.Now()
	for turns := 0; turns < 5 || best > goal && time.Since(began) < 15*time.Second; turns++ {
		sent := time.Now()
		v.read(path)
		best = min(best, time.Since(sent))
	}
	return best
}

// A busy operator's quarter: a hundred thousand orders, nearly all of them delivered.
func BenchmarkSummary_hundredThousandOrders(b *testing.B) {
	for name, open := range map[string]func(testing.TB) string{"sqlite": testenv.SQLite, "postgres": testenv.Postgres} {
		b.Run(name, func(b *testing.B) {
			s := apptest.Boot(b, open(b), apptest.Options{NoWorker: true})
			tenant := s.NewTenant(b)
			rows := make([]models.Order, 100_000)
			for i := range rows {
				created := time.Now().Add(-time.Duration(i) * 75 * time.Second)
				took := time.Duration(i%997) * time.Minute
				rows[i] = tenant.Row(created, apptest.ReceivedAfter(took/2), apptest.DeliveredAfter(tenant.Riders[i%2], took))
				if i%10 == 0 {
					rows[i] = tenant.Row(created, apptest.CancelledBy(models.ByStore, fmt.Sprintf("Motivo %d", i%70)))
				}
			}
			tenant.InsertRows(b, rows)
			v := visit(b, s, tenant, nil)
			for b.Loop() {
				v.read("/panel/resumen?periodo=90")
			}
		})
	}
}
