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
	// Chosen are the headings that are known only because somebody has said what they are.
	Chosen []string
	// Unknown are the unrecognised headings, Repeated those of a column that occurred before.
	Unknown, Repeated []string
}

// Match finds the known columns by their headings, in any order, ignoring case, accents, spaces and
// punctuation. Chosen are the names of further headings, as Heading writes them; they come first.
func (t *Table) Match(known []Column, chosen map[string]string) Columns {
	names := map[string]string{}
	for _, column := range known {
		names[Heading(column.Name)] = column.Name
		for _, alias := range column.Aliases {
			names[Heading(alias)] = column.Name
		}
	}
	columns := Columns{at: map[string]int{}}
	for i, written := range t.Header {
		name, isKnown := names[Heading(written)]
		if choice := chosen[Heading(written)]; choice != "" && choice != name {
			name, isKnown = choice, true
			columns.Chosen = append(columns.Chosen, written)
		}
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

// Heading is a heading without what does not matter in it.
func Heading(written string) string { return strings.ReplaceAll(textnorm.String(written), " ", "") }

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
