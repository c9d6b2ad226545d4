package neworder

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/orders"
	"despacho/models"
)

// A panic while one row of a file becomes an order leaves that row to be tried again, and the
// others are gone through.
func TestCreate_panicInARow(t *testing.T) {
	t.Parallel()
	reader := &Reader{ // without the orders that it calls
		Creator: Creator{Clock: clock.System(), Log: slog.New(slog.DiscardHandler), Places: &Places{}},
		caller:  orders.Caller{Operator: &models.Operator{}},
	}
	rows := make([]*Row, createdAtOnce+1)
	for i := range rows {
		rows[i] = &Row{}
	}
	reader.Create(t.Context(), rows, time.Now().Add(time.Hour))
	for _, row := range rows {
		require.Equal(t, "pending", row.State())
	}
}

// The content of a row without a number is its idempotency key. A release that reads more columns
// must not make another order of the same row.
func TestInterpret_rowWithoutANumberHasNoExternalID(t *testing.T) {
	t.Parallel()
	for number, has := range map[string]bool{"": false, "PED-1": true} {
		reader := &Reader{}
		for _, column := range columns {
			if column.Name == codeColumn {
				reader.columns = append(reader.columns, column)
			}
		}
		row := &Row{FileRow: FileRow{Cells: map[string]string{codeColumn: number}}}
		require.NoError(t, reader.interpret(row))
		require.Equal(t, has, row.in.HasOrNull("external_id"))
	}
}
