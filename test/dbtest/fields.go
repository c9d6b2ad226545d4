package dbtest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"despacho/test/fields"
)

// ClearOptional zeroes every optional field of a struct.
func ClearOptional(row any) {
	value := reflect.ValueOf(row).Elem()
	for i := range value.NumField() {
		if value.Field(i).Kind() == reflect.Pointer {
			value.Field(i).SetZero()
		}
	}
}

// RequireRead compares what was read with what was written, field by field, except the fields left
// out on purpose.
func RequireRead(t testing.TB, want, got any, leftOut ...string) {
	t.Helper()
	written, read := columnsOf(want), columnsOf(got)
	require.NotEmpty(t, read)
	require.Len(t, read, len(written))
	for field, value := range read {
		if slices.Contains(leftOut, field) {
			assert.Zero(t, value, "%s is read: do not leave it out", field)
			continue
		}
		assert.NotZero(t, written[field], "%s was given no value", field)
		assert.Equal(t, written[field], value, "%s is not what was written", field)
	}
	for _, field := range leftOut {
		assert.Contains(t, read, field)
	}
}

// OnlyRow returns the only row of a list.
func OnlyRow[T any](rows []T, err error) (any, error) {
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("%d rows instead of one", len(rows))
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// RequireWritten compares what is stored after a write with what was there before and what was to
// be written: every field has been given another value and is written, except those that are kept.
func RequireWritten(t testing.TB, was, wanted, got any, kept ...string) {
	t.Helper()
	old, given, stored := columnsOf(was), columnsOf(wanted), columnsOf(got)
	for field, value := range stored {
		if slices.Contains(kept, field) {
			assert.Equal(t, old[field], value, "%s does not stay as it was", field)
			continue
		}
		assert.NotEqual(t, old[field], given[field], "%s was given no other value", field)
		assert.Equal(t, given[field], value, "%s is not written", field)
	}
	for _, field := range kept {
		assert.Contains(t, stored, field)
	}
}

// columnsOf are the fields of a row, without those that no column stores.
func columnsOf(row any) map[string]any {
	columns := fields.Of(row)
	for name := range columns {
		if strings.HasSuffix(name, "RecipientDocNumber") {
			delete(columns, name)
		}
	}
	return columns
}
