// Package csvfile reads and writes the files of spreadsheet programs: CSV in the encodings and with
// the delimiters that they use in different countries, and workbooks.
package csvfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The errors of Read.
var (
	ErrEmpty       = errors.New("csvfile: there is nothing in the file")
	ErrOldWorkbook = errors.New("csvfile: the file is a workbook in the old format, or has a password")
	ErrWorkbook    = errors.New("csvfile: the workbook cannot be read")
	ErrTooLarge    = errors.New("csvfile: the workbook is too large once it is unpacked")
	ErrNotText     = errors.New("csvfile: the file is not text")
	ErrTooLong     = errors.New("csvfile: the file has too many rows")
	ErrTooWide     = errors.New("csvfile: the file has too many columns")
)

// maxColumns is more than a file of orders has from any program. Each row gets a cell for each of
// them, so that a heading of a million commas would take gigabytes.
const maxColumns = 200

// QuoteError is a quotation mark that is not closed, or closed too early.
type QuoteError struct {
	// Line is counted in the file's text, from 1.
	Line int
}

func (e *QuoteError) Error() string {
	return fmt.Sprintf("csvfile: misplaced quotation mark in line %d", e.Line)
}

// Table is a table with a header.
type Table struct {
	Header []string
	Rows   []Row
	// Delimiter is the one found in the file, or the usual one.
	Delimiter rune
}

// Row is one row below the header.
type Row struct {
	// Number is the row number in a spreadsheet program: the header is usually row 1.
	Number int
	// Cells are trimmed, as many as the header has.
	Cells []string
	// Overflows means that the row has more cells than the header, usually because of an unquoted
	// delimiter in a text.
	Overflows bool
}

// Read reads a table, of a workbook that of its first sheet. Blank rows are left out.
func Read(content []byte, maxRows int) (*Table, error) {
	if bytes.HasPrefix(content, []byte("PK\x03\x04")) {
		return readWorkbook(content, maxRows)
	}
	text, err := decode(content)
	if err != nil {
		return nil, err
	}
	delimiter, text := delimiterOf(text)
	table, err := readTable(text, delimiter, maxRows, false)
	if errors.Is(err, csv.ErrBareQuote) {
		// A quote inside an unquoted text, as in 12" pizza, is literal.
		table, err = readTable(text, delimiter, maxRows, true)
	}
	var wrong *csv.ParseError
	if errors.As(err, &wrong) {
		return nil, &QuoteError{Line: wrong.Line}
	}
	return table, err
}

func readTable(text string, delimiter rune, maxRows int, lazyQuotes bool) (*Table, error) {
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma, reader.FieldsPerRecord, reader.LazyQuotes = delimiter, -1, lazyQuotes
	table := Table{Delimiter: delimiter}
	broken := 0 // line breaks inside cells so far: spreadsheet programs show them in one row
	for {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		line, _ := reader.FieldPos(0)
		number := line - broken
		if clean(cells, &broken) == 0 {
			continue
		}
		if err := table.add(number, cells, maxRows); err != nil {
			return nil, err
		}
	}
	if table.Header == nil {
		return nil, ErrEmpty
	}
	return &table, nil
}

// Valid reports whether a table that was written elsewhere is one that Read could have read.
func (t *Table) Valid(maxRows int) bool {
	if len(t.Header) == 0 || len(t.Header) > maxColumns || len(t.Rows) > maxRows {
		return false
	}
	for _, row := range t.Rows {
		if len(row.Cells) != len(t.Header) {
			return false
		}
	}
	return true
}

// add adds the next row that is not blank; the first one is the header.
func (t *Table) add(number int, cells []string, maxRows int) error {
	switch {
	case t.Header == nil:
		if t.Header = withoutBlankEnd(cells); len(t.Header) > maxColumns {
			return ErrTooWide
		}
		return nil
	case len(t.Rows) == maxRows:
		return ErrTooLong
	}
	t.Rows = append(t.Rows, fit(number, cells, len(t.Header)))
	return nil
}

// clean trims the cells and undoes Protect; it returns how many are not blank.
func clean(cells []string, broken *int) (filled int) {
	for i, cell := range cells {
		*broken += strings.Count(cell, "\n")
		cells[i] = unprotect(strings.TrimSpace(cell))
		if cells[i] != "" {
			filled++
		}
	}
	return filled
}

func withoutBlankEnd(cells []string) []string {
	for len(cells) > 0 && cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1]
	}
	return cells
}

func fit(number int, cells []string, columns int) Row {
	row := Row{Number: number, Cells: make([]string, columns)}
	copy(row.Cells, cells)
	row.Overflows = len(withoutBlankEnd(cells)) > columns
	return row
}
