package csvfile

import (
	"bytes"
	"encoding/csv"
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
	out.WriteString(utf8Mark)
	writer := csv.NewWriter(&out)
	writer.Comma, writer.UseCRLF = delimiter, true
	for _, row := range rows {
		protected := make([]string, len(row))
		for i, cell := range row {
			protected[i] = Protect(cell)
		}
		if err := writer.Write(protected); err != nil {
			return nil, err
		}
	}
	writer.Flush()
	return out.Bytes(), writer.Error()
}
