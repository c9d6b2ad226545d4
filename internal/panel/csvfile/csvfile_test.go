package csvfile_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"despacho/internal/numeral"
	"despacho/internal/panel/csvfile"
)

// Whatever program wrote it, the table is the same.
func TestRead_encodingsAndDelimiters(t *testing.T) {
	t.Parallel()
	const text = "destinatario;dirección\r\nJosé Ñahui;\"Av. Larco 345; dpto. 2\"\r\n"
	windows, err := charmap.Windows1252.NewEncoder().String(text)
	require.NoError(t, err)
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(strings.ReplaceAll(text, ";", "\t"))
	require.NoError(t, err)
	for name, content := range map[string]string{
		"UTF-8":                   text,
		"UTF-8 with a mark":       "\ufeff" + text,
		"Windows-1252":            windows,
		"UTF-16 with tabs":        wide,
		"commas":                  strings.ReplaceAll(text, ";", ","),
		"tabs":                    strings.ReplaceAll(text, ";", "\t"),
		"LF":                      strings.ReplaceAll(text, "\r\n", "\n"),
		"CR":                      strings.ReplaceAll(text, "\r\n", "\r"),
		"no end":                  strings.TrimSpace(text),
		"the delimiter is named":  "sep=;\r\n" + text,
		"blank columns and rows":  "destinatario;dirección;;\r\n;;;\r\nJosé Ñahui;\"Av. Larco 345; dpto. 2\";;\r\n;;;\r\n",
		"quoted headings":         strings.Replace(text, "destinatario", "\"destinatario\"", 1),
		"spaces around the cells": strings.Replace(text, "José Ñahui", "  José Ñahui ", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, err := csvfile.Read([]byte(content), 10)
			require.NoError(t, err)
			require.Equal(t, []string{"destinatario", "dirección"}, read.Header)
			require.Len(t, read.Rows, 1)
			address := strings.Map(func(r rune) rune {
				if strings.ContainsRune(";,\t", r) {
					return '|'
				}
				return r
			}, read.Rows[0].Cells[1])
			require.Equal(t, []string{"José Ñahui", "Av. Larco 345| dpto. 2"}, []string{read.Rows[0].Cells[0], address})
			require.False(t, read.Rows[0].Overflows)
		})
	}
}

func TestRead_rowsHaveTheNumbersThatProgramsShow(t *testing.T) {
	t.Parallel()
	read, err := csvfile.Read([]byte("a;b\n1;\"dos\nlíneas\"\n\n;;\n2;x;y\n3\n"), 10)
	require.NoError(t, err)
	require.Equal(t, []csvfile.Row{
		{Number: 2, Cells: []string{"1", "dos\nlíneas"}},
		{Number: 5, Cells: []string{"2", "x"}, Overflows: true},
		{Number: 6, Cells: []string{"3", ""}},
	}, read.Rows)
}

func TestRead_refuses(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]error{
		"":                         csvfile.ErrEmpty,
		" \r\n\t\n":                csvfile.ErrEmpty,
		";;\n;;":                   csvfile.ErrEmpty,
		"PK\x03\x04...":            csvfile.ErrWorkbook,
		"\xd0\xcf\x11\xe0\xa1":     csvfile.ErrOldWorkbook,
		"a;b\x00;c\n":              csvfile.ErrNotText,
		"a\n" + "1\n2\n3\n4\n5\n6": csvfile.ErrTooLong,
	} {
		_, err := csvfile.Read([]byte(content), 5)
		require.ErrorIs(t, err, want, "%q", content)
	}
	_, err := csvfile.Read([]byte("a;b\n1;\"sin cerrar\n2;x\n"), 5)
	var misplaced *csvfile.QuoteError
	require.ErrorAs(t, err, &misplaced)
}

func TestRead_quoteInsideAText(t *testing.T) {
	t.Parallel()
	read, err := csvfile.Read([]byte("producto\nMonitor de 24\" usado\n"), 5)
	require.NoError(t, err)
	require.Equal(t, "Monitor de 24\" usado", read.Rows[0].Cells[0])
}

func TestMatch_headingSpellings(t *testing.T) {
	t.Parallel()
	known := []csvfile.Column{{Name: "destinatario", Aliases: []string{"nombre"}}, {Name: "direccion"}, {Name: "monto_a_cobrar"}, {Name: "telefono"}}
	read, err := csvfile.Read([]byte("MONTO a Cobrar,Vendedor,Dirección,NOMBRE,destinatario\n5,Ana,Av. Larco,Rosa,Luis\n"), 5)
	require.NoError(t, err)
	columns := read.Match(known, nil)
	require.Equal(t, []string{"Vendedor"}, columns.Unknown)
	require.Equal(t, []string{"destinatario"}, columns.Repeated)
	require.True(t, columns.Has("monto_a_cobrar"))
	require.False(t, columns.Has("telefono"))
	require.Equal(t, map[string]string{"monto_a_cobrar": "5", "direccion": "Av. Larco", "destinatario": "Rosa"}, columns.Of(read.Rows[0]))
}

func TestIsScientific(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]bool{
		"9.87654E+08": true, "9,87654E+08": true, "1E+11": true, "9.8e8": true,
		"987654321": false, "+51987654321": false, "E5": false, "12E": false, "": false,
	} {
		require.Equal(t, want, csvfile.IsScientific(cell), cell)
	}
}

// What looks like a formula is written as text, and read back as it was.
func TestWrite_protectsFormulasAndReadsBack(t *testing.T) {
	t.Parallel()
	rows := [][]string{
		{"a", "b", "c"},
		{"=1+1", "@SUM(A1)", "+51 987 654 321"},
		{"-2+3+cmd|' /C calc'!A0", "-12.5", "'comillas'"},
		{"Ñandú; \"grande\"", "dos\nlíneas", "x"},
		{"＝1+1", "＠SUM(A1)", "Av. Lima; －2＋3"},
	}
	for _, delimiter := range []rune{csvfile.Semicolon, csvfile.Comma} {
		content, err := csvfile.Write(rows, delimiter)
		require.NoError(t, err)
		require.Contains(t, string(content), "'=1+1")
		require.Contains(t, string(content), "'@SUM(A1)")
		require.Contains(t, string(content), "'-2+3")
		require.Contains(t, string(content), "'＝1+1")
		require.Contains(t, string(content), "'＠SUM(A1)")
		require.Contains(t, string(content), "'－2＋3")
		require.NotContains(t, string(content), "'+51")
		require.NotContains(t, string(content), "'-12.5")
		read, err := csvfile.Read(content, 10)
		require.NoError(t, err)
		require.Equal(t, rows[0], read.Header)
		require.Len(t, read.Rows, len(rows)-1)
		for i, row := range read.Rows {
			require.Equal(t, rows[i+1], row.Cells)
		}
	}
}

// A program that is set to another delimiter divides a row elsewhere than the file means. No cell
// that it makes is a formula, and the file's own delimiter reads back what was written.
func TestWrite_noFormulaWhateverTheDelimiter(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Av 1,=1+cmd|' /C calc'!A0", "Av 1,=1+cmd|' /C calc'!A0,z", "Av 1;=1+1;z", "Av 1\t=1+1\tz", "Av 1\n=1+1", "Av 1,\"=1+1,z", "Av 1,\"\"@SUM(A1),z", "Av 1, =1+1,z",
		"=1,=2;-3+4\t+x\n@y", "Av 1,-2+3;\"+x\"", "Av 1,＝1+1;＠y\t＋x\n－2＋3",
	} {
		for _, delimiter := range []rune{csvfile.Semicolon, csvfile.Comma} {
			rows := [][]string{{"a", "b", "c"}, {"x", text, "y"}, {text, text, text}}
			content, err := csvfile.Write(rows, delimiter)
			require.NoError(t, err)
			for _, other := range ";,\t" {
				reader := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(content), "\ufeff")))
				reader.Comma, reader.FieldsPerRecord, reader.LazyQuotes = other, -1, true
				divided, err := reader.ReadAll()
				require.NoError(t, err)
				for _, cell := range slices.Concat(divided...) {
					require.NotRegexp(t, `^[ "]*[=+@＝＋＠－-]`, cell, "%q in a file with %q read with %q", text, delimiter, other)
				}
			}
			read, err := csvfile.Read(content, 10)
			require.NoError(t, err)
			require.Equal(t, rows[1], read.Rows[0].Cells)
			require.Equal(t, rows[2], read.Rows[1].Cells)
		}
	}
}

func TestWrite_quotesEveryDelimiter(t *testing.T) {
	t.Parallel()
	content, err := csvfile.Write([][]string{{"Av. Larco 345, dpto. 2", "x;y", "a\tb", "24\"", "dos\r\nlíneas", "dos\nlíneas", " x", "-12.5,-77.03", "Lima,-77.03", "simple"}}, csvfile.Semicolon)
	require.NoError(t, err)
	require.Equal(t, "\ufeff\"Av. Larco 345, dpto. 2\";\"x;y\";\"a\tb\";\"24\"\"\";\"dos\r\nlíneas\";\"dos\r\nlíneas\";\" x\";\"'-12.5,-77.03\";\"Lima,-77.03\";simple\r\n", string(content))
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"a;b\n1;2\n", "sep=,\na,b", "\ufeffa\tb\n\"x\n\"\t", "\xff\xfea\x00;\x00", "a,\"b\n", "PK\x03\x04", "\xe1;\xf1\n'=1;-\r", "a\"b;c\n1\"2;3"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		read, err := csvfile.Read(content, 20)
		if err != nil {
			return
		}
		columns := read.Match([]csvfile.Column{{Name: "a"}, {Name: "b", Aliases: []string{"c"}}}, nil)
		last := 0
		for _, row := range read.Rows {
			require.Len(t, row.Cells, len(read.Header))
			require.Greater(t, row.Number, last, "rows come in order")
			last = row.Number
			for _, cell := range columns.Of(row) {
				numeral.Amount(cell)
				numeral.Decimal(cell)
				csvfile.IsScientific(cell)
				csvfile.Protect(cell)
			}
		}
		_, err = csvfile.Write([][]string{read.Header}, csvfile.Comma)
		require.NoError(t, err)
	})
}
