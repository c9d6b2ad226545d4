package db

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"

	"gorm.io/gorm/schema"
)

// column pairs a column of a statement with the field of T that it is scanned into.
type column[T any] struct {
	name   string
	target func(*T) any
}

// tableColumns are the columns of T's table, one for each field of T except those left out, which
// are named by their column. The result's columns have the prefix.
func tableColumns[T any](table, prefix string, leftOut ...string) []column[T] {
	fields, err := schema.Parse(new(T), &sync.Map{}, schema.NamingStrategy{})
	if err != nil {
		panic(err)
	}
	var columns []column[T]
	for _, name := range fields.DBNames {
		if slices.Contains(leftOut, name) {
			continue
		}
		field, selected := fields.FieldsByDBName[name], table+"."+name
		if prefix != "" {
			selected += " AS " + prefix + name
		}
		scanned := scanType(reflect.PointerTo(field.FieldType))
		columns = append(columns, column[T]{selected, func(row *T) any {
			return field.ReflectValueOf(context.Background(), reflect.ValueOf(row).Elem()).Addr().Convert(scanned).Interface()
		}})
	}
	return columns
}

// scanType is the pointer type to which a pointer to a field is converted, so that pgx scans
// without a conversion of its own.
func scanType(field reflect.Type) reflect.Type {
	for _, plain := range []reflect.Type{reflect.TypeFor[*[16]byte](), reflect.TypeFor[*string](), reflect.TypeFor[*int64]()} {
		if field.ConvertibleTo(plain) {
			return plain
		}
	}
	return field
}

// columnsOf lifts the columns of a part to the struct that contains it.
func columnsOf[Whole, Part any](columns []column[Part], part func(*Whole) *Part) []column[Whole] {
	list := make([]column[Whole], len(columns))
	for i, c := range columns {
		list[i] = column[Whole]{c.name, func(whole *Whole) any { return c.target(part(whole)) }}
	}
	return list
}

// columnList is the column list of a SELECT.
func columnList[T any](columns []column[T]) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// Columns is the column list of a SELECT for every field of T, which is a row of the table. Reads
// name their columns: a prepared SELECT * fails once on every connection after a migration.
func Columns[T any](table string) string { return columnList(tableColumns[T](table, "")) }

// scanTargets returns the scan targets of one row, preceded by before.
func scanTargets[T any](columns []column[T], row *T, before ...any) []any {
	list := make([]any, 0, len(before)+len(columns))
	list = append(list, before...)
	for _, c := range columns {
		list = append(list, c.target(row))
	}
	return list
}
