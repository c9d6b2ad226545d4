package csvfile

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

const (
	// lastWorkbookRow is the last row that a spreadsheet program has.
	lastWorkbookRow = 1 << 20
	// maxWorkbookText is how much text the rows of a workbook have together: as much as a CSV file.
	maxWorkbookText = 2 << 20
)

// readWorkbook reads the first sheet in sight of a workbook (XLSX).
func readWorkbook(content []byte, maxRows int) (table *Table, err error) {
	if err := checkWorkbook(content); err != nil {
		return nil, err
	}
	// The library panics on some files that are no workbook.
	defer func() {
		if recover() != nil {
			table, err = nil, ErrWorkbook
		}
	}()
	book, err := excelize.OpenReader(bytes.NewReader(content), excelize.Options{
		UnzipSizeLimit: maxUnzipped, UnzipXMLSizeLimit: maxUnzipped, ShortDatePattern: "dd/mm/yyyy",
	})
	if err != nil {
		return nil, errors.Join(ErrWorkbook, err)
	}
	defer book.Close()
	sheets := book.GetSheetList()
	for len(sheets) > 1 {
		if visible, err := book.GetSheetVisible(sheets[0]); err == nil && visible {
			break
		}
		sheets = sheets[1:]
	}
	if len(sheets) == 0 {
		return nil, ErrWorkbook
	}
	table = &Table{Delimiter: Semicolon}
	if err := readSheet(book, sheets[0], table, maxRows); err != nil {
		return nil, err
	}
	return table, nil
}

// readSheet reads a sheet row by row, as it is shown and as it is stored.
func readSheet(book *excelize.File, sheet string, table *Table, maxRows int) error {
	shown, err := book.Rows(sheet)
	if err != nil {
		return errors.Join(ErrWorkbook, err)
	}
	defer shown.Close()
	stored, err := book.Rows(sheet)
	if err != nil {
		return errors.Join(ErrWorkbook, err)
	}
	defer stored.Close()
	text := 0
	for number := 1; shown.Next() && stored.Next(); number++ {
		cells, err := shown.Columns()
		raw, rawErr := stored.Columns(excelize.Options{RawCellValue: true})
		if err = errors.Join(err, rawErr); err != nil || number > lastWorkbookRow {
			return errors.Join(ErrWorkbook, err)
		}
		for i := range min(len(cells), len(raw)) {
			cells[i] = cellText(cells[i], raw[i])
			text += len(cells[i])
		}
		if text > maxWorkbookText {
			return ErrTooLarge
		}
		if clean(cells, new(int)) == 0 {
			continue
		}
		if err := table.add(number, cells, maxRows); err != nil {
			return err
		}
	}
	if table.Header == nil {
		return ErrEmpty
	}
	for i := range table.Rows {
		// No delimiter has divided a cell: what stands beside the table belongs to no column.
		table.Rows[i].Overflows = false
	}
	return nil
}

// exactDigits is the number from which a spreadsheet program has lost digits.
const exactDigits = 1e15

// cellText is a cell as it is shown. A number that is shown grouped, rounded or in scientific
// notation is written out, since it may be a telephone number, an amount or a coordinate.
func cellText(shown, stored string) string {
	number, err := strconv.ParseFloat(stored, 64)
	if err != nil || shown == stored || math.Abs(number) >= exactDigits {
		return shown
	}
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return -1
	}, shown)
	read, err := strconv.ParseFloat(digits, 64)
	switch {
	case digits == shown && read == number: // such as 89.90 and 01234567
		return shown
	case IsScientific(shown), err == nil && math.Abs(read-number) < 1:
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	return shown
}
