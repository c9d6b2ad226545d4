package csvfile

import (
	"strings"

	"despacho/internal/textnorm"
)

// Column is something that a table may say about each of its rows.
type Column struct {
	// Name is how we write it; Aliases are other words that people use for it.
	Name    string
	Aliases []string
}

// Columns says where in a table the known columns are.
type Columns struct {
	at map[string]int
	// Unknown are the headings that mean nothing to us, Repeated those that mean the same as an
	// earlier one.
	Unknown, Repeated []string
}

// Match finds the known columns by their headings, in any order, with case, accents, spaces and
// punctuation ignored.
func (s *Sheet) Match(known []Column) Columns {
	names := map[string]string{}
	for _, column := range known {
		names[heading(column.Name)] = column.Name
		for _, alias := range column.Aliases {
			names[heading(alias)] = column.Name
		}
	}
	columns := Columns{at: map[string]int{}}
	for i, written := range s.Header {
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

// Of gives the cells of a row that are not blank, by the names of their columns.
func (c Columns) Of(row Row) map[string]string {
	cells := map[string]string{}
	for name, i := range c.at {
		if row.Cells[i] != "" {
			cells[name] = row.Cells[i]
		}
	}
	return cells
}
