package csvfile

import (
	"bufio"
	"bytes"
	"io"
	"strings"
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
	out       *bufio.Writer
	delimiter string
	started   bool
}

// NewWriter returns a writer of a file.
func NewWriter(out io.Writer, delimiter rune) *Writer {
	return &Writer{out: bufio.NewWriter(out), delimiter: string(delimiter)}
}

// Write adds a row. It may be buffered until Flush.
func (w *Writer) Write(cells ...string) error {
	if err := w.start(); err != nil {
		return err
	}
	written := make([]string, len(cells))
	for i, cell := range cells {
		written[i] = quote(Protect(cell))
	}
	_, err := w.out.WriteString(strings.Join(written, w.delimiter) + "\r\n")
	return err
}

// Flush writes what is buffered.
func (w *Writer) Flush() error {
	if err := w.start(); err != nil {
		return err
	}
	return w.out.Flush()
}

// start writes the mark that tells spreadsheet programs the encoding.
func (w *Writer) start() error {
	if w.started {
		return nil
	}
	w.started = true
	_, err := w.out.WriteString(utf8Mark)
	return err
}

var quotedText = strings.NewReplacer(`"`, `""`, "\r\n", "\r\n", "\r", "\r\n", "\n", "\r\n")

// quote puts a cell between quotes, as RFC 4180 says, if it has a delimiter of any country, a quote
// or a line end, or begins with a space, which some programs drop.
func quote(cell string) string {
	if !strings.ContainsAny(cell, splitting+`"`) && !strings.HasPrefix(cell, " ") {
		return cell
	}
	return `"` + quotedText.Replace(cell) + `"`
}
