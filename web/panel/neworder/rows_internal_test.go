package neworder

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
