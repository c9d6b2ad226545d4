package neworder

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/panel/forms"
)

// FileRow is a row that the preview page sends back for the creation: nothing is stored in
// between. It is read and checked like a row of a new file.
type FileRow struct {
	Number int `json:"n"`
	// Occurrence numbers the rows with the same content, so that two equal rows are two orders.
	Occurrence int  `json:"o,omitempty"`
	Overflows  bool `json:"x,omitempty"`
	// Existed means that the row was an order before its file was looked at.
	Existed bool              `json:"e,omitempty"`
	Cells   map[string]string `json:"c"`

	// corrected means that its cells are not those of the file.
	corrected bool
}

// Row is a row with its result.
type Row struct {
	FileRow
	Place string
	// Suggestions are places that may be meant, where the row names none.
	Suggestions []string
	// Quote is the order's quote; nil where the row is invalid.
	Quote  *orders.Preview
	Notes  []string
	Errors []CellError
	// Created is the order, once there is one.
	Created *orders.Created
	// Pending means that the row was not processed yet and can be retried.
	Pending bool

	in *jsonbody.Object
	// store is the store that the row names: its id, or the cell's text if there is no such store. It
	// is empty in a store's own file.
	store string
	// key is the row's Idempotency-Key.
	key string
}

// CellError is an error in a cell, or without a column in the whole row.
type CellError struct{ Column, Cell, Message string }

// State is the row's state, for the page and its script.
func (r *Row) State() string {
	switch {
	case len(r.Errors) > 0:
		return "wrong"
	case r.Created != nil && r.Existed:
		return "existed"
	case r.Created != nil:
		return "created"
	case r.Pending:
		return "pending"
	}
	return "ready"
}

func (r *Row) addError(column, message string) {
	r.Errors = append(r.Errors, CellError{column, r.Cells[column], forms.Sentence(message)})
}

// Problem is all errors of the row in one line.
func (r *Row) Problem() string {
	var parts []string
	for _, wrong := range r.Errors {
		if wrong.Column == "" {
			parts = append(parts, wrong.Message)
			continue
		}
		parts = append(parts, wrong.Column+": "+wrong.Message)
	}
	return strings.Join(parts, " ")
}

// CellsOf are the row's cells in the given columns.
func (r *Row) CellsOf(columns []string) []string {
	cells := make([]string, len(columns))
	for i, column := range columns {
		cells[i] = r.Cells[column]
	}
	return cells
}

// InFileOrder sorts rows by their number in the file.
func InFileOrder(rows []*Row) []*Row {
	slices.SortStableFunc(rows, func(a, b *Row) int { return cmp.Compare(a.Number, b.Number) })
	return rows
}

// keyOn is the row's Idempotency-Key: the store's own order number or, without one, the row's
// content and the day. A row of an operator's file has its store in the key, since two stores may
// have the same number.
func (r *Row) keyOn(day string) string {
	switch code := r.Cells[codeColumn]; {
	case code != "" && r.store != "":
		return "tienda:" + r.store + ":" + code
	case code != "":
		return "codigo:" + code
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %x", day, r.Occurrence, r.in.Hash()))
	return "fila:" + hex.EncodeToString(sum[:])
}
