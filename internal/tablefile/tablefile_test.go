package tablefile_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"despacho/internal/fault"
	"despacho/internal/tablefile"
)

func TestRead_whatSpreadsheetsSave(t *testing.T) {
	t.Parallel()
	header, rows := []string{"ubigeo", "ano lectivo"}, [][]string{{"150122", "Ñaña; 2"}, {"080101", "7,5"}}
	windows, err := charmap.Windows1252.NewEncoder().String("Ubigeo;Año lectivo\r\n150122;\"Ñaña; 2\"\r\n080101;7,5\r\n")
	require.NoError(t, err)
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("UBIGEO\tAño lectivo\r\n150122\tÑaña; 2\r\n080101\t7,5\r\n")
	require.NoError(t, err)
	for name, content := range map[string]string{
		"commas, UTF-8":           "ubigeo,año lectivo\n150122,Ñaña; 2\n080101,\"7,5\"\n",
		"byte-order mark, CRLF":   "\ufeffUbigeo,Año  lectivo\r\n150122,Ñaña; 2\r\n080101,\"7,5\"",
		"semicolons, Windows":     windows,
		"tabs, UTF-16":            wide,
		"old Macintosh":           "ubigeo,año lectivo\r150122, Ñaña; 2 \r080101,\"7,5\"\r",
		"blank lines to begin":    "\r\n\r\nubigeo;año lectivo\n150122;\"Ñaña; 2\"\n080101;7,5",
		"tabs, UTF-8":             "ubigeo\taño lectivo\n150122\tÑaña; 2\n080101\t7,5",
		"quotes in their places":  "\"ubigeo\",\"año lectivo\"\n\"150122\",\"Ñaña; 2\"\n\"080101\",\"7,5\"",
		"accents of another kind": "ubigeo,an\u0303o lectivo\n150122,Ñaña; 2\n080101,\"7,5\"\n",
	} {
		gotHeader, gotRows, err := tablefile.Read([]byte(content))
		require.NoError(t, err, name)
		require.Equal(t, header, gotHeader, name)
		require.Equal(t, rows, gotRows, name)
	}
}

// A complaint names the row as the spreadsheet does, whatever lines are empty and however many a cell has.
func TestRead_rowsKeepTheirPlace(t *testing.T) {
	t.Parallel()
	_, rows, err := tablefile.Read([]byte("a,b\n\n1,\"dos\nlíneas\"\n\n\n2,x\n,\n3,y\n"))
	require.NoError(t, err)
	require.Equal(t, [][]string{nil, {"1", "dos\nlíneas"}, nil, nil, {"2", "x"}, {"", ""}, {"3", "y"}}, rows)
}

func TestRead_refuses(t *testing.T) {
	t.Parallel()
	for code, contents := range map[string][]string{
		"file_empty":       {"", "\ufeff", " \r\n "},
		"file_is_workbook": {"PK\x03\x04resto", "\xd0\xcf\x11\xe0resto"},
		"file_unreadable":  {"a,b\n\x00,1\n"},
	} {
		for _, content := range contents {
			_, _, err := tablefile.Read([]byte(content))
			require.True(t, fault.Is(err, code), "%q: %v", content, err)
		}
	}
}

func TestWrite_isReadBackAndNeverCalculated(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"=1+1", "-5"}, {"+x", "@y"}, {"a,\"b\"", "línea\nlínea"}, {"'z", ""}}
	written := tablefile.Write([]string{"uno", "dos"}, rows)
	require.Equal(t, "\ufeffuno,dos\r\n'=1+1,'-5\r\n'+x,'@y\r\n\"a,\"\"b\"\"\",\"línea\r\nlínea\"\r\n'z,\r\n", string(written))
	header, back, err := tablefile.Read(written)
	require.NoError(t, err)
	require.Equal(t, []string{"uno", "dos"}, header)
	require.Equal(t, rows, back)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("a;b\n1;2\n\n\"x\ny\";3"))
	f.Add([]byte("\xff\xfea\x00"))
	f.Fuzz(func(_ *testing.T, content []byte) { _, _, _ = tablefile.Read(content) })
}
