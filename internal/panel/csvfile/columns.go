package csvfile

import (
	"strings"

	"despacho/internal/textnorm"
)

// Column is a known column of a table.
type Column struct {
	// Name is its usual heading; Aliases are other accepted ones.
	Name    string
	Aliases []string
}

// Columns are the positions of the known columns in a table.
type Columns struct {
	at map[string]int
	// Unknown are the unrecognised headings, Repeated those of a column that occurred before.
	Unknown, Repeated []string
}

// Match finds the known columns by their headings, in any order, ignoring case, accents, spaces and
// punctuation.
func (t *Table) Match(known []Column) Columns {
	names := map[string]string{}
	for _, column := range known {
		names[heading(column.Name)] = column.Name
		for _, alias := range column.Aliases {
			names[heading(alias)] = column.Name
		}
	}
	columns := Columns{at: map[string]int{}}
	for i, written := range t.Header {
		name, isKnown := names[heading(written)]
		_, taken := columns.at[name]
		switch {
		case written == "":
		case !isKnown:
			columns.Unknown = append(columns.Unknown, written)
		case taken:
			columns.Repeated = append(columns.Repeated, written)
		default:
			columns.at[name] = i
		}
	}
	return columns
}

func heading(written string) string { return strings.ReplaceAll(textnorm.String(written), " ", "") }

// Has reports whether the table has the column.
func (c Columns) Has(name string) bool {
	_, has := c.at[name]
	return has
}

// Of returns the non-blank cells of a row by column name.
func (c Columns) Of(row Row) map[string]string {
	cells := map[string]string{}
	for name, i := range c.at {
		if row.Cells[i] != "" {
			cells[name] = row.Cells[i]
		}
	}
	return cells
}
