package csvfile

import (
	"bytes"
	"encoding/csv"
)

// The delimiters that programs open a file with by themselves: it depends on the country that they
// are set up for.
const (
	Semicolon = ';'
	Comma     = ','
)

// Write makes a file that spreadsheet programs open with its accents in place and that runs
// nothing.
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
