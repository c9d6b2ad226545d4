// Package tablefile reads and writes tables as spreadsheets save them: comma, semicolon or tab between the cells, in UTF-8, UTF-16 or
// Windows-1252.
package tablefile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"despacho/internal/fault"
	"despacho/internal/fold"
)

var (
	errWorkbook  = fault.New(fault.Invalid, "file_is_workbook", "El archivo es un libro de Excel: guárdelo como CSV y vuelva a subirlo.")
	errNotTable  = fault.New(fault.Invalid, "file_unreadable", "El archivo no se pudo leer: guárdelo como CSV y vuelva a subirlo.")
	errEmptyFile = fault.New(fault.Invalid, "file_empty", "El archivo está vacío.")
)

// Read returns the names of the columns, folded, and the rows below them with trimmed cells. A line without anything in it is a row
// without cells, so that the row at index i is the one a spreadsheet calls i+2.
func Read(content []byte) (header []string, rows [][]string, err error) {
	text, err := decode(content)
	if err != nil {
		return nil, nil, err
	}
	rows, err = split(text)
	if err != nil {
		return nil, nil, err
	}
	header, rows = rows[0], rows[1:]
	for i, name := range header {
		header[i] = fold.String(name)
	}
	return header, rows, nil
}

// decode brings the text to UTF-8 with plain line breaks.
func decode(content []byte) (string, error) {
	// Zip archives and the older workbooks, by their first bytes.
	if bytes.HasPrefix(content, []byte("PK\x03\x04")) || bytes.HasPrefix(content, []byte("\xd0\xcf\x11\xe0")) {
		return "", errWorkbook
	}
	decoder := unicode.UTF8BOM.NewDecoder()
	switch {
	case bytes.HasPrefix(content, []byte("\xff\xfe")), bytes.HasPrefix(content, []byte("\xfe\xff")):
		decoder = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
	case !utf8.Valid(content):
		decoder = charmap.Windows1252.NewDecoder()
	}
	decoded, err := decoder.Bytes(content)
	if err != nil {
		return "", errNotTable.Because(err)
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(decoded))
	if strings.ContainsRune(text, 0) {
		return "", errNotTable
	}
	if text = strings.TrimLeft(text, "\n"); strings.TrimSpace(text) == "" {
		return "", errEmptyFile
	}
	return text, nil
}

// split takes the text apart; there is at least one row.
func split(text string) ([][]string, error) {
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma, reader.FieldsPerRecord, reader.LazyQuotes = delimiter(text), -1, true
	var rows [][]string
	for line, read := 1, int64(0); ; {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, errNotTable.Because(err)
		}
		// The reader leaves out empty lines, which count for whoever looks at the table.
		for starts, _ := reader.FieldPos(0); line < starts; line++ {
			rows = append(rows, nil)
			read++
		}
		for i, cell := range cells {
			cells[i] = revive(strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
		line += strings.Count(text[read:reader.InputOffset()], "\n")
		read = reader.InputOffset()
	}
}

// delimiter is what parts the names of the columns most often.
func delimiter(text string) rune {
	first, _, _ := strings.Cut(text, "\n")
	best, most := ',', 0
	for _, candidate := range []rune{',', ';', '\t'} {
		if count := strings.Count(first, string(candidate)); count > most {
			best, most = candidate, count
		}
	}
	return best
}
