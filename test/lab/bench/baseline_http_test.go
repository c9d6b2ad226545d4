package bench

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
	"despacho/test/testenv"
)

// A ratio against a handler that writes less than a creation does would be about something else.
func TestBaseline_writesTheRowsOfACreation(t *testing.T) {
	t.Parallel()
	address := testenv.Postgres(t)
	_, err := seedTenants(t.Context(), address, 1)
	require.NoError(t, err)
	pool, err := pgxpool.New(t.Context(), address)
	require.NoError(t, err)
	defer pool.Close()

	service := apptest.Boot(t, address, apptest.Options{})
	created := service.CreateOrder(t, service.NewTenant(t).Key)
	var bare bareOrder
	require.NoError(t, json.Unmarshal(newOrder, &bare))
	_, err = insertBare(t.Context(), pool, &bare)
	require.NoError(t, err)

	written := rowsOf(t, pool, uuid.MustParse(created))
	require.NotEmpty(t, written)
	require.Equal(t, written, rowsOf(t, pool, bare.ID))
}

// rowsOf counts an order's rows in each table that has any.
func rowsOf(t *testing.T, pool *pgxpool.Pool, order uuid.UUID) map[string]int {
	t.Helper()
	rows, err := pool.Query(t.Context(), `SELECT ARRAY[table_name::text, column_name::text] FROM information_schema.columns
		WHERE table_schema = 'public' AND (column_name = 'order_id' OR (table_name = 'orders' AND column_name = 'id'))`)
	require.NoError(t, err)
	columns, err := pgx.CollectRows(rows, pgx.RowTo[pgx.Identifier])
	require.NoError(t, err)
	counts := map[string]int{}
	for _, c := range columns {
		var count int
		statement := "SELECT count(*) FROM " + pgx.Identifier{c[0]}.Sanitize() + " WHERE " + pgx.Identifier{c[1]}.Sanitize() + " = $1"
		require.NoError(t, pool.QueryRow(t.Context(), statement, order).Scan(&count))
		if count > 0 {
			counts[c[0]] = count
		}
	}
	return counts
}
