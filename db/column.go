package db

import "strings"

// column pairs a column of a statement with the field of T that it is scanned into. Statements
// scanned without GORM define both in one place, so that they cannot diverge.
type column[T any] struct {
	name   string
	target func(*T) any
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

// scanTargets returns the scan targets of one row, preceded by before.
func scanTargets[T any](columns []column[T], row *T, before ...any) []any {
	list := make([]any, 0, len(before)+len(columns))
	list = append(list, before...)
	for _, c := range columns {
		list = append(list, c.target(row))
	}
	return list
}
