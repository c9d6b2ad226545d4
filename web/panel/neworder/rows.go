package neworder

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/orders"
	"despacho/web/panel/csvfile"
	"despacho/web/panel/format"
	"despacho/web/panel/forms"
	"despacho/web/panel/places"
)

// FileRow is a row that the preview page sends back for the creation: nothing is stored in
// between. It is read and checked like a row of a new file.
type FileRow struct {
	Number int `json:"n"`
	// Occurrence numbers the rows with the same content, so that two equal rows are two orders.
	Occurrence int               `json:"o,omitempty"`
	Overflows  bool              `json:"x,omitempty"`
	Cells      map[string]string `json:"c"`
}

// Row is a row with its result.
type Row struct {
	FileRow
	Place string
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
	// key is the row's Idempotency-Key. earlierKey is the one that the release before gave it, where
	// that is another: a file that is uploaded again after the upgrade creates nothing twice.
	key, earlierKey string
}

// CellError is an error in a cell, or without a column in the whole row.
type CellError struct{ Column, Cell, Message string }

// State is the row's state, for the page and its script.
func (r *Row) State() string {
	switch {
	case len(r.Errors) > 0:
		return "wrong"
	case r.Created != nil && r.Created.Replayed:
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

// Reader reads rows as orders of the caller, and creates them.
type Reader struct {
	Creator
	caller  orders.Caller
	columns []Column
	places  *places.Destinations
	// PreviewedAt is when the preview was made. Its day is part of the row's idempotency key: an equal
	// row on another day is another order.
	PreviewedAt    time.Time
	day, dayBefore string
}

// NewReader makes the reader of a file whose preview was made at a time.
func NewReader(creator Creator, caller orders.Caller, destinations *places.Destinations, previewedAt time.Time) *Reader {
	today := previewedAt.In(caller.Operator.TimeZone())
	return &Reader{
		Creator: creator, caller: caller, columns: ColumnsFor(caller), places: destinations, PreviewedAt: previewedAt,
		day: today.Format(time.DateOnly), dayBefore: today.AddDate(0, 0, -1).Format(time.DateOnly),
	}
}

// Rows reads the rows of a new file.
func (r *Reader) Rows(ctx context.Context, table *csvfile.Table, columns csvfile.Columns) ([]*Row, error) {
	rows := make([]*Row, len(table.Rows))
	for i, row := range table.Rows {
		rows[i] = &Row{FileRow: FileRow{Number: row.Number, Overflows: row.Overflows, Cells: columns.Of(row)}}
		if err := r.interpret(rows[i]); err != nil {
			return nil, err
		}
	}
	countOccurrences(rows)
	return rows, r.check(ctx, rows)
}

// Returned reads rows that a preview sent back, in any order. Those of a part of the file keep the
// occurrences that were counted in all of it.
func (r *Reader) Returned(ctx context.Context, returned []FileRow) ([]*Row, error) {
	rows := make([]*Row, len(returned))
	for i, row := range returned {
		rows[i] = &Row{FileRow: row}
		if err := r.interpret(rows[i]); err != nil {
			return nil, err
		}
	}
	return rows, r.check(ctx, rows)
}

// interpret builds the creation request of a row.
func (r *Reader) interpret(row *Row) error {
	values, complaints := map[string][]string{}, map[string]string{}
	for _, column := range r.columns {
		cell := r.cell(row, column)
		value, complaint := cell, ""
		if cell != "" && column.take != nil {
			value, complaint = column.take(r, row, cell)
		}
		if column.Name == storeColumn {
			row.store = cmp.Or(value, cell)
		}
		// The content of a row without a number is its idempotency key. It is the same as before rows
		// had this member.
		if column.Member != "" && !(column.Name == codeColumn && cell == "") {
			values[column.Member] = []string{value}
		}
		if complaint != "" {
			complaints[column.Name] = complaint
		}
	}
	in, err := jsonbody.FromForm(values, numberMembers)
	if err != nil {
		return err
	}
	for _, column := range r.columns {
		switch complaint := complaints[column.Name]; {
		case complaint == "":
		case column.Member == "":
			row.addError(column.Name, complaint)
		default:
			in.AddError(column.Member, complaint)
		}
	}
	row.in = in
	return nil
}

// cell is a row's text in a column; a place may be in either of two columns.
func (r *Reader) cell(row *Row, column Column) string {
	if column.Name == placeColumn && row.Cells[placeColumn] == "" {
		return row.Cells[ubigeoColumn]
	}
	return row.Cells[column.Name]
}

// Used are the columns that are not empty in all rows.
func (r *Reader) Used(rows []*Row) []string {
	var names []string
	for _, column := range r.columns {
		if slices.ContainsFunc(rows, func(row *Row) bool { return row.Cells[column.Name] != "" }) {
			names = append(names, column.Name)
		}
	}
	return names
}

// ToCorrect are the columns of a file in which the rows can be uploaded again: those that are not
// empty in all rows, and the required ones.
func (r *Reader) ToCorrect(rows []*Row) []string {
	used := r.Used(rows)
	var names []string
	for _, column := range r.columns {
		if column.Required || slices.Contains(used, column.Name) {
			names = append(names, column.Name)
		}
	}
	return names
}

// countOccurrences numbers equal rows, which are separate orders.
func countOccurrences(rows []*Row) {
	seen := map[string]int{}
	for _, row := range rows {
		if row.Cells[codeColumn] != "" {
			continue
		}
		content := string(row.in.Hash())
		seen[content]++
		row.Occurrence = seen[content]
	}
}

// refuseRepeated reports order numbers that a store uses twice: they are errors of all rows but the
// first. Two stores may have the same number.
func refuseRepeated(rows []*Row) {
	type storesNumber struct{ store, code string }
	first := map[storesNumber]int{}
	for _, row := range InFileOrder(slices.Clone(rows)) {
		number := storesNumber{row.store, row.Cells[codeColumn]}
		if number.code == "" {
			continue
		}
		if before, taken := first[number]; taken {
			row.addError(codeColumn, fmt.Sprintf("se repite: ya está en la fila %d", before))
		} else {
			first[number] = row.Number
		}
	}
}

// check finds for every row its quote, its existing order or its errors.
func (r *Reader) check(ctx context.Context, rows []*Row) error {
	refuseRepeated(rows)
	var keys []string
	for _, row := range rows {
		if row.Overflows {
			row.addError("", csvfile.OverflowMessage)
		}
		quote, err := r.Orders.Check(ctx, r.caller, row.in)
		if err := r.explain(row, err); err != nil {
			return err
		}
		if len(row.Errors) > 0 {
			continue
		}
		row.Quote = quote
		row.key = row.keyOn(r.day)
		keys = append(keys, row.key)
		switch code := row.Cells[codeColumn]; {
		case code == "":
			keys = append(keys, row.keyOn(r.dayBefore))
		case row.store != "":
			row.earlierKey = numberKey(code)
			keys = append(keys, row.earlierKey)
		}
	}
	previous, err := r.Orders.PreviousCreations(ctx, r.caller, keys)
	if err != nil {
		return err
	}
	for _, row := range rows {
		before, known := previous[row.key]
		if !known {
			before, known = previous[row.earlierKey]
			// That key was shared by all stores.
			known = known && before.Order.StoreID != nil && before.Order.StoreID.String() == row.store
		}
		switch {
		case !known:
		case !before.SameBody(row.in):
			row.addError(codeColumn, "ya se usó con otros datos en el pedido "+before.Order.GuideCode)
		default:
			row.Created = before.Created
		}
		if len(row.Errors) == 0 && row.Created == nil {
			r.noteDayBefore(row, previous)
		}
	}
	return nil
}

// noteDayBefore says that an equal row became an order the day before: this one is another order,
// which somebody who uploads the same file again may not want.
func (r *Reader) noteDayBefore(row *Row, previous map[string]orders.PreviousCreation) {
	if before, known := previous[row.keyOn(r.dayBefore)]; known {
		row.Notes = append(row.Notes, "Ayer se creó uno igual: "+before.Order.GuideCode+".")
	}
}

// keyOn is the row's Idempotency-Key: the store's own order number or, without one, the row's
// content and the day. A row of an operator's file has its store in the key, since two stores may
// have the same number.
func (r *Row) keyOn(day string) string {
	switch code := r.Cells[codeColumn]; {
	case code != "" && r.store != "":
		return "tienda:" + r.store + ":" + code
	case code != "":
		return numberKey(code)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %x", day, r.Occurrence, r.in.Hash()))
	return "fila:" + hex.EncodeToString(sum[:])
}

// numberKey is the key of a row that has a number and names no store.
func numberKey(code string) string { return "codigo:" + code }

// explain records a rejection in terms of the file's columns. Internal errors are returned.
func (r *Reader) explain(row *Row, err error) error {
	if err == nil {
		return nil
	}
	problem := apperror.From(ForForm(err))
	if problem.Kind == apperror.Internal {
		return err
	}
	for _, wrong := range problem.Fields {
		row.addError(r.columnOf(row, wrong.Field), wrong.Message)
	}
	if len(problem.Fields) == 0 {
		row.Errors = append(row.Errors, CellError{Message: problem.Message})
	}
	return nil
}

// columnOf returns the column that an order's field was read from.
func (r *Reader) columnOf(row *Row, member string) string {
	for _, column := range r.columns {
		if column.Member != member {
			continue
		}
		if column.Name == placeColumn && row.Cells[placeColumn] == "" && row.Cells[ubigeoColumn] != "" {
			return ubigeoColumn
		}
		return column.Name
	}
	return ""
}

// maxNamed is how many places an error message lists.
const maxNamed = 4

// ambiguous is the message for a place that is not clear.
func (r *Reader) ambiguous(m places.Match) string {
	names := r.places.Candidates(m)
	if len(m.Similar) > 0 {
		return places.UnknownDestination + ": " + places.DidYouMean(places.Names(r.places.Index(), m.Similar[:min(len(m.Similar), maxNamed)]))
	}
	if len(names) == 0 {
		return places.UnknownDestination
	}
	complaint := "puede ser " + strings.Join(names[:min(len(names), maxNamed)], " o ")
	if more := len(names) - maxNamed; more > 0 {
		complaint += format.Plural(more, " o un lugar más", fmt.Sprintf(" o alguno de otros %d", more))
	}
	return complaint + ": escriba cuál"
}
