package db

import "strings"

// column is a column of a statement and where its value goes in a T. Statements that are read by
// hand name both in one place, so that neither can be changed without the other.
type column[T any] struct {
	name  string
	place func(*T) any
}

// columnsOf are the columns of a part of something larger.
func columnsOf[Whole, Part any](columns []column[Part], part func(*Whole) *Part) []column[Whole] {
	list := make([]column[Whole], len(columns))
	for i, c := range columns {
		list[i] = column[Whole]{c.name, func(whole *Whole) any { return c.place(part(whole)) }}
	}
	return list
}

// columnList is the columns as a SELECT names them.
func columnList[T any](columns []column[T]) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// places is where the values of one row go, after those that stand before them.
func places[T any](columns []column[T], row *T, before ...any) []any {
	list := make([]any, 0, len(before)+len(columns))
	list = append(list, before...)
	for _, c := range columns {
		list = append(list, c.place(row))
	}
	return list
}
