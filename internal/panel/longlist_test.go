package panel_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"despacho/internal/db"
	"despacho/internal/requestid"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// boardPage is how many orders a page of the board shows.
const boardPage = 50

// A tab with many orders shows the right ones on every page, reads no more of them than it shows,
// and has them in order by an index.
func TestBoard_manyOrdersInATab(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true})
		watched := &statementLog{byRequest: map[string][]statement{}}
		require.NoError(t, s.App.DB.Use(watched))
		tenant := s.NewTenant(t)
		rows := make([]models.Order, 4*boardPage+30)
		var all, ofStoreB []string
		for i := range rows {
			rows[i] = tenant.Row(time.Now().Add(-time.Duration(i)*time.Minute), apptest.ReceivedAfter(time.Hour))
			all = append(all, rows[i].ID.String())
			if i%2 == 1 {
				rows[i].StoreID = &tenant.StoreB.ID
				ofStoreB = append(ofStoreB, rows[i].ID.String())
			}
		}
		found := &rows[len(rows)/2]
		number := "PED-0117"
		found.RecipientName, found.SearchText, found.ExternalID = "Zoila Quintanilla", "zoila quintanilla", &number
		tenant.InsertRows(t, rows)
		v := visit(t, s, tenant, nil)
		last := len(rows) / boardPage * boardPage
		reversed := slices.Clone(all)
		slices.Reverse(reversed)
		const tab = "/panel/pedidos?estado=received"
		for name, c := range map[string]struct {
			path, pager string
			want        []string
		}{
			"first page": {tab, "1–50 de 230", all[:boardPage]},
			"last page":  {tab + "&pagina=5", "201–230 de 230", all[last:]},
			"all":        {"/panel/pedidos", "1–50 de 230", all[:boardPage]},
			"one store":  {tab + "&tienda=" + tenant.StoreB.ID.String(), "1–50 de 115", ofStoreB[:boardPage]},
			"search":     {tab + "&q=quintanilla", "1–1 de 1", []string{found.ID.String()}},
			"oldest":     {tab + "&orden=fecha", "1–50 de 230", reversed[:boardPage]},
			"its second": {tab + "&orden=fecha&pagina=2", "51–100 de 230", reversed[boardPage : 2*boardPage]},
		} {
			id := uuid.NewString()
			p := v.getWith(c.path, "X-Request-Id", id)
			require.Equal(t, 200, p.Status, p.Text)
			require.Equal(t, c.want, p.rows(), name)
			require.Contains(t, p.words(), c.pager, name)
			require.LessOrEqual(t, s.Statements(id), int64(maxStatements), name)
			lists := 0
			for _, sent := range watched.of(id) {
				require.LessOrEqual(t, sent.rows, int64(boardPage), "%s: %s", name, sent.text)
				if strings.Contains(sent.text, "ORDER BY orders.created_at ") {
					lists++
					if name != "search" { // finds fewer than a page, which are read by their ids
						requireNoSorting(t, s.App.DB, sent.text)
					}
				}
			}
			require.Equal(t, 1, lists, name)
		}

		id := uuid.NewString()
		numbered := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders?external_id=PED-0117", Key: tenant.Key, Header: map[string]string{"X-Request-Id": id}})
		require.Equal(t, 1.0, numbered.Data["total"], numbered.Text)
		for _, sent := range watched.of(id) {
			if strings.Contains(sent.text, "ORDER BY orders.created_at DESC") {
				requireNoSorting(t, s.App.DB, sent.text)
				require.Contains(t, planOf(t, s.App.DB, sent.text), "orders_external_newest", sent.text)
			}
		}
	})
}

// requireNoSorting holds that an index has the rows of a statement in the order that it asks for.
func requireNoSorting(t *testing.T, database *db.DB, text string) {
	t.Helper()
	sorting := "TEMP B-TREE"
	if database.Dialect() == db.Postgres {
		sorting = "Sort"
	}
	plan := planOf(t, database, text)
	require.NotContains(t, plan, sorting, text)
	require.Regexp(t, "orders_[a-z_]+_(newest|list|delivered)", plan, text)
}

// planOf is how the database would execute a statement.
func planOf(t *testing.T, database *db.DB, text string) string {
	t.Helper()
	explain := "EXPLAIN QUERY PLAN " + text
	if database.Dialect() == db.Postgres {
		explain = "EXPLAIN " + text
	}
	tx, err := database.SQL().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback()) }()
	if database.Dialect() == db.Postgres {
		// A table this small is quicker to sort: the plan shows whether it could be read in order.
		_, err = tx.ExecContext(t.Context(), "SET LOCAL enable_sort = off; SET LOCAL enable_incremental_sort = off; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
		require.NoError(t, err)
	}
	plan, err := tx.QueryContext(t.Context(), explain)
	require.NoError(t, err)
	defer plan.Close()
	columns, err := plan.Columns()
	require.NoError(t, err)
	var lines []string
	for plan.Next() {
		line := make([]string, len(columns))
		into := make([]any, len(columns))
		for i := range line {
			into[i] = &line[i]
		}
		require.NoError(t, plan.Scan(into...))
		lines = append(lines, line[len(line)-1])
	}
	require.NoError(t, plan.Err())
	return strings.Join(lines, "\n")
}

// statement is one that a request sent, with its values written into it, and how many rows came
// back.
type statement struct {
	text string
	rows int64
}

// statementLog keeps the queries of each request.
type statementLog struct {
	mu        sync.Mutex
	byRequest map[string][]statement
}

func (*statementLog) Name() string { return "panel_test:statement_log" }

func (l *statementLog) Initialize(database *gorm.DB) error {
	on := database.Callback()
	return errors.Join(on.Query().After("gorm:query").Register(l.Name(), l.keep), on.Raw().After("gorm:raw").Register(l.Name(), l.keep))
}

func (l *statementLog) keep(sent *gorm.DB) {
	id := requestid.From(sent.Statement.Context)
	if id == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byRequest[id] = append(l.byRequest[id], statement{sent.Dialector.Explain(sent.Statement.SQL.String(), sent.Statement.Vars...), sent.RowsAffected})
}

func (l *statementLog) of(requestID string) []statement {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byRequest[requestID]
}
