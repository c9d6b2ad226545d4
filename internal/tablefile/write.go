package tablefile

import (
	"bytes"
	"encoding/csv"
	"strings"
)

// Write makes a table that spreadsheets open as it is meant: in UTF-8 and said so, and with no cell that they would take for a formula.
func Write(header []string, rows [][]string) []byte {
	var out bytes.Buffer
	out.WriteString("\ufeff")
	writer := csv.NewWriter(&out)
	writer.UseCRLF = true
	for _, row := range append([][]string{header}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = neutralise(cell)
		}
		_ = writer.Write(cells) // a buffer takes everything
	}
	writer.Flush()
	return out.Bytes()
}

// formulaMarks are what a spreadsheet begins to calculate at.
const formulaMarks = "=+-@\t\r"

// neutralise puts an apostrophe before what a spreadsheet would calculate; revive takes it away.
func neutralise(cell string) string {
	if cell != "" && strings.ContainsRune(formulaMarks, rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

func revive(cell string) string {
	if len(cell) > 1 && cell[0] == '\'' && strings.ContainsRune(formulaMarks, rune(cell[1])) {
		return cell[1:]
	}
	return cell
}
