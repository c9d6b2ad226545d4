// Package sheet reads and writes tables as spreadsheet programs exchange them: CSV in whatever
// encoding and with whatever delimiter the program and the country of its user prefer.
package csvfile

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Reasons for not reading a file.
var (
	ErrEmpty    = errors.New("sheet: there is nothing in the file")
	ErrWorkbook = errors.New("sheet: the file is a workbook, not CSV")
	ErrNotText  = errors.New("sheet: the file is not text")
	ErrTooLong  = errors.New("sheet: the file has too many rows")
)

// QuoteError is a quotation mark that is not closed, or closed too early.
type QuoteError struct {
	// Line is counted in the file's text, from 1.
	Line int
}

func (e *QuoteError) Error() string {
	return fmt.Sprintf("sheet: misplaced quotation mark in line %d", e.Line)
}

// Sheet is a table with a header.
type Sheet struct {
	Header []string
	Rows   []Row
	// Delimiter is what parted the cells.
	Delimiter rune
}

// Row is one row below the header.
type Row struct {
	// Number is the row's as a spreadsheet program numbers it: the header is usually row 1.
	Number int
	// Cells are trimmed, and as many as the header has.
	Cells []string
	// Overflows says that there is something to the right of the last column: most likely a
	// delimiter inside a text that nobody quoted.
	Overflows bool
}

// Read reads a table. Rows with nothing in them are left out.
func Read(content []byte, maxRows int) (*Sheet, error) {
	text, err := decode(content)
	if err != nil {
		return nil, err
	}
	delimiter, text := delimiterOf(text)
	sheet, err := readTable(text, delimiter, maxRows, false)
	if errors.Is(err, csv.ErrBareQuote) {
		// A mark inside a text that is not quoted, as in 12" pizza, stands for itself.
		sheet, err = readTable(text, delimiter, maxRows, true)
	}
	var wrong *csv.ParseError
	if errors.As(err, &wrong) {
		return nil, &QuoteError{Line: wrong.Line}
	}
	return sheet, err
}

func readTable(text string, delimiter rune, maxRows int, lazyQuotes bool) (*Sheet, error) {
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma, reader.FieldsPerRecord, reader.LazyQuotes = delimiter, -1, lazyQuotes
	sheet := Sheet{Delimiter: delimiter}
	broken := 0 // line breaks inside cells so far: the program shows them in one row
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
		if sheet.Header == nil {
			sheet.Header = withoutBlankEnd(cells)
			continue
		}
		if len(sheet.Rows) == maxRows {
			return nil, ErrTooLong
		}
		sheet.Rows = append(sheet.Rows, fit(number, cells, len(sheet.Header)))
	}
	if sheet.Header == nil {
		return nil, ErrEmpty
	}
	return &sheet, nil
}

// clean trims the cells and takes back what Protect did to them; it returns how many are not blank.
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
