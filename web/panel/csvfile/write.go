package csvfile

import (
	"bytes"
	"encoding/csv"
	"io"
)

// The delimiters that spreadsheet programs expect, depending on the country they are set to.
const (
	Semicolon = ';'
	Comma     = ','
)

// Write makes a CSV file that spreadsheet programs open with the right encoding and without running
// formulas.
func Write(rows [][]string, delimiter rune) ([]byte, error) {
	var out bytes.Buffer
	file := NewWriter(&out, delimiter)
	for _, row := range rows {
		if err := file.Write(row...); err != nil {
			return nil, err
		}
	}
	err := file.Flush()
	return out.Bytes(), err
}

// Writer writes a file as Write does, row by row, for files that are too long for memory.
type Writer struct {
	out     io.Writer
	rows    *csv.Writer
	started bool
}

// NewWriter returns a writer of a file.
func NewWriter(out io.Writer, delimiter rune) *Writer {
	rows := csv.NewWriter(out)
	rows.Comma, rows.UseCRLF = delimiter, true
	return &Writer{out: out, rows: rows}
}

// Write adds a row. It may be buffered until Flush.
func (w *Writer) Write(cells ...string) error {
	if err := w.start(); err != nil {
		return err
	}
	protected := make([]string, len(cells))
	for i, cell := range cells {
		protected[i] = Protect(cell)
	}
	return w.rows.Write(protected)
}

// Flush writes what is buffered.
func (w *Writer) Flush() error {
	if err := w.start(); err != nil {
		return err
	}
	w.rows.Flush()
	return w.rows.Error()
}

// start writes the mark that tells spreadsheet programs the encoding.
func (w *Writer) start() error {
	if w.started {
		return nil
	}
	w.started = true
	_, err := io.WriteString(w.out, utf8Mark)
	return err
}
