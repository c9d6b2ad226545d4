package neworder

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/panel/csvfile"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/places"
	"despacho/models"
)

// Reader reads rows as orders of the caller, and creates them.
type Reader struct {
	Creator
	caller  orders.Caller
	columns []Column
	places  *places.Destinations
	// stores and branches are the ids of those that an order may have, by normalized name.
	stores, branches map[string][]uuid.UUID
	// PreviewedAt is when the preview was made. Its day is part of the row's idempotency key: an equal
	// row on another day is another order.
	PreviewedAt    time.Time
	day, dayBefore string
	// Examples are the numbers of the rows that are the template's example.
	Examples []int
}

// NewReader makes the reader of a file whose preview was made at a time.
func NewReader(creator Creator, caller orders.Caller, destinations *places.Destinations, previewedAt time.Time) *Reader {
	today := previewedAt.In(caller.Operator.TimeZone())
	choices := destinations.Choices
	return &Reader{
		Creator: creator, caller: caller, columns: ColumnsFor(caller), places: destinations, PreviewedAt: previewedAt,
		stores:   idsByName(choices.Stores, func(store models.Store) (uuid.UUID, string) { return store.ID, store.Name }),
		branches: idsByName(choices.Branches, func(branch models.Branch) (uuid.UUID, string) { return branch.ID, branch.Name }),
		day:      today.Format(time.DateOnly), dayBefore: today.AddDate(0, 0, -1).Format(time.DateOnly),
	}
}

// Rows reads the rows of a new file, without the template's example.
func (r *Reader) Rows(ctx context.Context, table *csvfile.Table, columns csvfile.Columns) ([]*Row, error) {
	rows := make([]*Row, 0, len(table.Rows))
	for _, row := range table.Rows {
		cells := columns.Of(row)
		if isExample(cells) {
			r.Examples = append(r.Examples, row.Number)
			continue
		}
		read := &Row{FileRow: FileRow{Number: row.Number, Overflows: row.Overflows, Cells: cells}}
		if err := r.interpret(read); err != nil {
			return nil, err
		}
		rows = append(rows, read)
	}
	if len(rows) == 0 {
		return nil, csvfile.Invalid("El archivo solo tiene el ejemplo de la plantilla. Ponga sus pedidos en su lugar.")
	}
	countOccurrences(rows)
	if err := r.check(ctx, rows); err != nil {
		return nil, err
	}
	for _, row := range rows {
		row.Existed = row.Created != nil
	}
	return rows, nil
}

// Returned reads rows that a preview sent back, in any order. Those of a part of the file keep the
// occurrences that were counted in all of it; a corrected one is counted after them.
func (r *Reader) Returned(ctx context.Context, returned []FileRow) ([]*Row, error) {
	rows := make([]*Row, len(returned))
	for i, row := range returned {
		rows[i] = &Row{FileRow: row}
		if err := r.interpret(rows[i]); err != nil {
			return nil, err
		}
	}
	countOccurrences(rows)
	if err := r.check(ctx, rows); err != nil {
		return nil, err
	}
	for _, row := range rows {
		row.Existed = row.Existed || row.corrected && row.Created != nil
	}
	return rows, nil
}

// numbers are the members that are read as numbers.
var numbers = func() map[string]jsonbody.FormField {
	kinds := map[string]jsonbody.FormField{}
	for _, of := range fields {
		if of.Kind == forms.Money || of.Kind == forms.Number {
			kinds[of.Name] = jsonbody.FormNumber
		}
	}
	return kinds
}()

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
		// A row without a number has no such member: its content is its idempotency key.
		if column.Member != "" && !(column.Name == codeColumn && cell == "") {
			values[column.Member] = []string{value}
		}
		if complaint != "" {
			complaints[column.Name] = complaint
		}
	}
	in, err := jsonbody.FromForm(values, numbers)
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

// countOccurrences numbers equal rows, which are separate orders. Those that have a number keep it.
func countOccurrences(rows []*Row) {
	seen := map[string]int{}
	var others []*Row
	for _, row := range rows {
		switch content := string(row.in.Hash()); {
		case row.Cells[codeColumn] != "":
		case row.Occurrence == 0:
			others = append(others, row)
		default:
			seen[content] = max(seen[content], row.Occurrence)
		}
	}
	for _, row := range others {
		content := string(row.in.Hash())
		seen[content]++
		row.Occurrence = seen[content]
	}
}
