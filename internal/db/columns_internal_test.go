package db

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm/schema"
)

// Every field of a struct that is scanned without GORM has a column, and every column is scanned
// into the field of its name.
func TestColumns_areThoseOfTheStruct(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string][]string{
		// The caller has the hash already.
		"keyColumns":       wrongColumns(t, keyColumns, "key_", "hash"),
		"operatorColumns":  wrongColumns(t, operatorColumns, "op_"),
		"keyHolderColumns": wrongColumns(t, keyHolderColumns, "", "key_hash", "used"),
		"orderViewColumns": wrongColumns(t, orderViewColumns, ""),
	} {
		for _, complaint := range wrong {
			t.Errorf("%s: %s", name, complaint)
		}
	}
}

// wrongColumns compares a list of columns with the fields that GORM sees in the struct, except
// those left out on purpose.
func wrongColumns[T any](t *testing.T, columns []column[T], prefix string, leftOut ...string) []string {
	t.Helper()
	row := new(T)
	of, err := schema.Parse(row, &sync.Map{}, schema.NamingStrategy{})
	require.NoError(t, err)
	require.NotEmpty(t, of.DBNames)
	expected := map[string]uintptr{}
	for _, name := range of.DBNames {
		expected[name] = of.FieldsByDBName[name].ReflectValueOf(context.Background(), reflect.ValueOf(row).Elem()).Addr().Pointer()
	}
	for _, name := range leftOut {
		require.Contains(t, expected, name)
		delete(expected, name)
	}
	var wrong []string
	for _, c := range columns {
		name := c.name[strings.LastIndexAny(c.name, " .")+1:]
		name = strings.TrimPrefix(name, prefix)
		place, known := expected[name]
		switch {
		case !known:
			wrong = append(wrong, name+" is in the list twice, or is no field")
		case reflect.ValueOf(c.target(row)).Pointer() != place:
			wrong = append(wrong, name+" goes into the field of another column")
		}
		delete(expected, name)
	}
	for name := range expected {
		wrong = append(wrong, name+" is missing")
	}
	return wrong
}
