package csvfile_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"despacho/internal/panel/csvfile"
)

// workbook is an XLSX file with what is written into its first sheet.
func workbook(t *testing.T, write func(*excelize.File)) []byte {
	t.Helper()
	book := excelize.NewFile()
	defer book.Close()
	write(book)
	content, err := book.WriteToBuffer()
	require.NoError(t, err)
	return content.Bytes()
}

// The cells of a workbook are what its reader sees, and no number loses digits: one that its
// program has cut is seen to be so.
func TestRead_workbook(t *testing.T) {
	t.Parallel()
	content := workbook(t, func(book *excelize.File) {
		styled := func(cell, format string, value any) {
			style, err := book.NewStyle(&excelize.Style{CustomNumFmt: &format})
			require.NoError(t, err)
			require.NoError(t, book.SetCellValue("Sheet1", cell, value))
			require.NoError(t, book.SetCellStyle("Sheet1", cell, cell, style))
		}
		require.NoError(t, book.SetSheetRow("Sheet1", "A2", &[]any{"Teléfono", "DNI", "Monto", "Latitud", "Fecha", "Código", "Texto"}))
		require.NoError(t, book.SetSheetRow("Sheet1", "A4", &[]any{987654321, nil, 89.9, -12.1211, nil, 1.5e17, " dos\nlíneas ", "al lado"}))
		styled("B4", "00000000", 1234567)
		styled("E4", "dd/mm/yyyy", time.Date(2026, 11, 17, 0, 0, 0, 0, time.UTC))
		styled("A5", "0.00E+00", 987654321)
		styled("B5", "@", "01234567")
		styled("C5", "#,##0", 1250)
		styled("D5", "0.00", -77.0297)
		require.NoError(t, book.SetCellValue("Sheet1", "G5", "9.87E+08"))
		_, err := book.NewSheet("Otra")
		require.NoError(t, err)
	})
	read, err := csvfile.Read(content, 10)
	require.NoError(t, err)
	require.Equal(t, []string{"Teléfono", "DNI", "Monto", "Latitud", "Fecha", "Código", "Texto"}, read.Header)
	require.Equal(t, []csvfile.Row{
		{Number: 4, Cells: []string{"987654321", "01234567", "89.9", "-12.1211", "17/11/2026", "1.5E+17", "dos\nlíneas"}},
		{Number: 5, Cells: []string{"987654321", "01234567", "1250", "-77.0297", "", "", "9.87E+08"}},
	}, read.Rows)
	_, err = csvfile.Read(content, 1)
	require.ErrorIs(t, err, csvfile.ErrTooLong)
	_, err = csvfile.Read(workbook(t, func(*excelize.File) {}), 1)
	require.ErrorIs(t, err, csvfile.ErrEmpty)
}

// withPart is a workbook with one of its parts replaced.
func withPart(t *testing.T, content []byte, name, text string) []byte {
	t.Helper()
	from, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	var out bytes.Buffer
	to := zip.NewWriter(&out)
	for _, part := range from.File {
		if part.Name != name {
			require.NoError(t, to.Copy(part))
		}
	}
	part, err := to.Create(name)
	require.NoError(t, err)
	_, err = part.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, to.Close())
	return out.Bytes()
}

// A workbook that would take the memory or the time of many is refused before it does, and one that
// is none is refused in words.
func TestRead_hostileWorkbooks(t *testing.T) {
	t.Parallel()
	const sheet, texts = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
	const open, end = `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`, `</sheetData></worksheet>`
	good := workbook(t, func(book *excelize.File) {
		require.NoError(t, book.SetSheetRow("Sheet1", "A1", &[]any{"a", "b"}))
	})
	shared := func(text string) []byte {
		return withPart(t, withPart(t, good, texts, `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><r><t>`+text+"</t></r></si></sst>"), sheet,
			open+strings.Repeat("<row>"+strings.Repeat(`<c t="s"><v>0</v></c>`, 150)+"</row>", 300)+end)
	}
	for name, c := range map[string]struct {
		content []byte
		want    error
	}{
		"much more than its length":    {withPart(t, good, "xl/media/a.bin", strings.Repeat("\x00", 50<<20)), csvfile.ErrTooLarge},
		"a sheet of blanks":            {withPart(t, good, sheet, open+strings.Repeat(" ", 9<<20)+end), csvfile.ErrTooLarge},
		"a row of a million cells":     {withPart(t, good, sheet, open+"<row>"+strings.Repeat("<c/>", 1_000_000)+"</row>"+end), csvfile.ErrTooLarge},
		"elements in elements":         {withPart(t, good, sheet, open+strings.Repeat("<a>", 1_000_000)), csvfile.ErrTooLarge},
		"a string that is repeated":    {shared(strings.Repeat("y", 60_000)), csvfile.ErrTooLarge},
		"a string without end":         {shared(strings.Repeat("y", 1<<20)), csvfile.ErrTooLarge},
		"many strings":                 {withPart(t, good, texts, "<sst>"+strings.Repeat("<si/>", 500_000)+"</sst>"), csvfile.ErrTooLarge},
		"many styles":                  {withPart(t, good, "xl/styles.xml", "<styleSheet><cellXfs>"+strings.Repeat("<xf/>", 500_000)+"</cellXfs></styleSheet>"), csvfile.ErrTooLarge},
		"many parts":                   {manyParts(t), csvfile.ErrWorkbook},
		"a row far below":              {withPart(t, good, sheet, open+`<row r="2000000000"><c><v>1</v></c></row>`+end), csvfile.ErrWorkbook},
		"a string before the first":    {withPart(t, good, sheet, open+`<row><c t="s"><v>-1</v></c></row>`+end), csvfile.ErrWorkbook},
		"a column beyond the last one": {withPart(t, good, sheet, open+`<row><c r="ZZZZ1"><v>1</v></c></row>`+end), csvfile.ErrWorkbook},
		"another archive":              {zipped(t, "a.txt", "hola"), csvfile.ErrWorkbook},
		"cut off":                      {good[:len(good)/2], csvfile.ErrWorkbook},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := csvfile.Read(c.content, 1000)
			require.ErrorIs(t, err, c.want)
		})
	}
	_, err := csvfile.Read(withPart(t, good, sheet, open+`<row><c r="XFD1"><v>1</v></c></row>`+end), 1000)
	require.ErrorIs(t, err, csvfile.ErrTooWide)
}

func zipped(t *testing.T, name, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	part, err := archive.Create(name)
	require.NoError(t, err)
	_, err = part.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, archive.Close())
	return out.Bytes()
}

func manyParts(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for range 2000 {
		_, err := archive.Create("a")
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	return out.Bytes()
}
