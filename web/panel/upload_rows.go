package panel

import (
	"cmp"
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
)

// fileRow is a row that the preview page sends back for the creation: nothing is stored in
// between. It is read and checked like a row of a new file.
type fileRow struct {
	Number int `json:"n"`
	// Occurrence numbers the rows with the same content, so that two equal rows are two orders.
	Occurrence int               `json:"o,omitempty"`
	Overflows  bool              `json:"x,omitempty"`
	Cells      map[string]string `json:"c"`
}

// orderRow is a row with its result.
type orderRow struct {
	fileRow
	Place string
	// Quote is the order's quote; nil where the row is invalid.
	Quote *orders.Preview
	Notes []string
	Wrong []cellError
	// Created is the order, once there is one.
	Created *orders.Created
	// Pending means that the row was not processed yet and can be retried.
	Pending bool

	in  *jsonbody.Object
	key string
}

// cellError is an error in a cell, or without a column in the whole row.
type cellError struct{ Column, Cell, Message string }

// State is the row's state, for the page and its script.
func (r *orderRow) State() string {
	switch {
	case len(r.Wrong) > 0:
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

func (r *orderRow) addError(column, message string) {
	r.Wrong = append(r.Wrong, cellError{column, r.Cells[column], sentence(message)})
}

// problem is all errors of the row in one line.
func (r *orderRow) problem() string {
	var parts []string
	for _, wrong := range r.Wrong {
		if wrong.Column == "" {
			parts = append(parts, wrong.Message)
			continue
		}
		parts = append(parts, wrong.Column+": "+wrong.Message)
	}
	return strings.Join(parts, " ")
}

func (r *orderRow) cellsOf(columns []string) []string {
	cells := make([]string, len(columns))
	for i, column := range columns {
		cells[i] = r.Cells[column]
	}
	return cells
}

// inFileOrder sorts rows by their number in the file.
func inFileOrder(rows []*orderRow) []*orderRow {
	slices.SortStableFunc(rows, func(a, b *orderRow) int { return cmp.Compare(a.Number, b.Number) })
	return rows
}

// rowReader reads rows as orders of the caller.
type rowReader struct {
	pages   *Pages
	visit   *Request
	columns []uploadColumn
	places  *destinations
	// previewedAt is when the preview was made. Its day is part of the row's idempotency key: an equal
	// row on another day is another order.
	previewedAt time.Time
	day         string
}

func (p *Pages) rowReader(v *Request, seenAt time.Time) (*rowReader, error) {
	places, err := p.destinations(v)
	if err != nil {
		return nil, err
	}
	return &rowReader{pages: p, visit: v, columns: columnsFor(v), places: places, previewedAt: seenAt, day: seenAt.In(v.Operator().TimeZone()).Format(time.DateOnly)}, nil
}

// rowsOf reads the rows of a new file.
func (r *rowReader) rowsOf(table *csvfile.Table, columns csvfile.Columns) ([]*orderRow, error) {
	rows := make([]*orderRow, len(table.Rows))
	for i, row := range table.Rows {
		rows[i] = &orderRow{fileRow: fileRow{Number: row.Number, Overflows: row.Overflows, Cells: columns.Of(row)}}
		if err := r.interpret(rows[i]); err != nil {
			return nil, err
		}
	}
	countOccurrences(rows)
	return rows, r.check(rows)
}

// carriedRows reads rows that a preview sent back.
func (r *rowReader) carriedRows(carried []fileRow) ([]*orderRow, error) {
	rows := make([]*orderRow, len(carried))
	for i, row := range carried {
		rows[i] = &orderRow{fileRow: row}
		if err := r.interpret(rows[i]); err != nil {
			return nil, err
		}
	}
	return rows, r.check(rows)
}

// interpret builds the creation request of a row.
func (r *rowReader) interpret(row *orderRow) error {
	values, complaints := map[string][]string{}, map[string]string{}
	for _, column := range r.columns {
		cell := r.cell(row, column)
		value, complaint := cell, ""
		if cell != "" && column.take != nil {
			value, complaint = column.take(r, row, cell)
		}
		if column.Member != "" {
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
func (r *rowReader) cell(row *orderRow, column uploadColumn) string {
	if column.Name == placeColumn && row.Cells[placeColumn] == "" {
		return row.Cells[ubigeoColumn]
	}
	return row.Cells[column.Name]
}

// used are the columns that are not empty in all rows.
func (r *rowReader) used(rows []*orderRow) []string {
	var names []string
	for _, column := range r.columns {
		if slices.ContainsFunc(rows, func(row *orderRow) bool { return row.Cells[column.Name] != "" }) {
			names = append(names, column.Name)
		}
	}
	return names
}

// countOccurrences numbers equal rows, which are separate orders, and reports order numbers used
// twice, which are errors.
func countOccurrences(rows []*orderRow) {
	seen, codes := map[string]int{}, map[string]int{}
	for _, row := range rows {
		if code := row.Cells[codeColumn]; code != "" {
			if first, taken := codes[code]; taken {
				row.addError(codeColumn, fmt.Sprintf("se repite: ya está en la fila %d", first))
			} else {
				codes[code] = row.Number
			}
			continue
		}
		content := string(row.in.Hash())
		seen[content]++
		row.Occurrence = seen[content]
	}
}

// check finds for every row its quote, its existing order or its errors.
func (r *rowReader) check(rows []*orderRow) error {
	requests := map[string]*jsonbody.Object{}
	for _, row := range rows {
		if row.Overflows {
			row.addError("", "tiene más celdas que columnas: ponga entre comillas los textos que llevan el separador")
		}
		quote, err := r.pages.Orders.Check(r.visit.Ctx(), r.visit.Caller, row.in)
		if err := r.explain(row, err); err != nil {
			return err
		}
		if len(row.Wrong) > 0 {
			continue
		}
		row.Quote = quote
		row.key = row.keyOn(r.day)
		requests[row.key] = row.in
	}
	previous, err := r.pages.Orders.PreviousCreations(r.visit.Ctx(), r.visit.Caller, requests)
	if err != nil {
		return err
	}
	for _, row := range rows {
		before, known := previous[row.key]
		switch {
		case !known:
		case !before.SameBody:
			row.addError(codeColumn, "ya se usó con otros datos en el pedido "+before.Order.GuideCode)
		default:
			row.Created = before.Created
		}
	}
	return nil
}

// keyOn is the row's Idempotency-Key: the store's own order number or, without one, the row's
// content and the day.
func (r *orderRow) keyOn(day string) string {
	if code := r.Cells[codeColumn]; code != "" {
		return "codigo:" + code
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %x", day, r.Occurrence, r.in.Hash()))
	return "fila:" + hex.EncodeToString(sum[:])
}

// explain records a rejection in terms of the file's columns. Internal errors are returned.
func (r *rowReader) explain(row *orderRow, err error) error {
	if err == nil {
		return nil
	}
	problem := apperror.From(forForm(err))
	if problem.Kind == apperror.Internal {
		return err
	}
	for _, wrong := range problem.Fields {
		row.addError(r.columnOf(row, wrong.Field), wrong.Message)
	}
	if len(problem.Fields) == 0 {
		row.Wrong = append(row.Wrong, cellError{Message: problem.Message})
	}
	return nil
}

// columnOf returns the column that an order's field was read from.
func (r *rowReader) columnOf(row *orderRow, member string) string {
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

func ambiguousPlace(places *destinations, m placeMatch) string {
	if len(m.Candidates) == 0 {
		return noPlace
	}
	candidates := places.coveredFirst(m.Candidates)
	var names []string
	for _, place := range candidates[:min(len(candidates), maxNamed)] {
		names = append(names, places.name(place))
	}
	complaint := "puede ser " + strings.Join(names, " o ")
	if len(candidates) > maxNamed {
		complaint += fmt.Sprintf(" o alguno de otros %d", len(candidates)-maxNamed)
	}
	return complaint + ": escriba cuál"
}
