package clients

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
	"despacho/test/testenv"
)

// headings are those of docs/spreadsheet.md, in an order of its own.
var headings = []any{"Venta", "Destinatario", "Teléfono", "Dirección", "Referencia", "Ubigeo", "Producto", "Monto", "Guía", "Estado", "Id", "Problema"}

// spreadsheet is a sheet that the program of docs/spreadsheet.md works on.
type spreadsheet struct {
	program string
	url     string
	key     string
	rows    [][]any
	// inserted means that somebody inserts a row on top while the program sends.
	inserted bool
}

func newSpreadsheet(t *testing.T, url, key string, rows ...[]any) *spreadsheet {
	t.Helper()
	program := filepath.Join(t.TempDir(), "spreadsheet.gs")
	write(t, program, markedCode(t, "spreadsheet.md", "spreadsheet.gs"))
	return &spreadsheet{program: program, url: url, key: key, rows: append([][]any{headings}, rows...)}
}

// run runs a function of the program and returns the seconds that it waited.
func (s *spreadsheet) run(t *testing.T, function string) (slept []float64) {
	t.Helper()
	slept, failure := s.try(t, function)
	require.Empty(t, failure)
	return slept
}

// try is run for a function that may fail; failure is what it says then.
func (s *spreadsheet) try(t *testing.T, function string) (slept []float64, failure string) {
	t.Helper()
	node := testenv.Program(t, "node")
	given, err := json.Marshal(map[string]any{"rows": s.rows, "inserted": s.inserted, "properties": map[string]string{"DESPACHO_URL": s.url, "DESPACHO_KEY": s.key}})
	require.NoError(t, err)
	run := exec.Command(node, "testdata/spreadsheet.mjs", s.program, function)
	var said bytes.Buffer
	run.Stdin, run.Stderr = bytes.NewReader(given), &said
	output, err := run.Output()
	if err != nil {
		return nil, said.String()
	}
	var after struct {
		Rows  [][]any
		Slept []float64
	}
	require.NoError(t, json.Unmarshal(output, &after), string(output))
	s.rows = after.Rows
	return after.Slept, ""
}

// cell is a cell of a row, which are numbered from 1 without the headings.
func (s *spreadsheet) cell(t *testing.T, row int, heading string) any {
	t.Helper()
	for i, title := range headings {
		if title == heading {
			return s.rows[row][i]
		}
	}
	t.Fatalf("there is no column %s", heading)
	return nil
}

func TestSpreadsheet_sendsRowsAndWritesStatuses(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		sheet := newSpreadsheet(t, s.BaseURL, tenant.KeyA,
			[]any{20391, "Rosa Díaz", 987654321, "Av. Larco 345", "Frente al parque", 150122, "Zapatillas", 89.9, "", "", "", ""},
			[]any{20392, "Luis Rojas", "987 654 322", "Jr. Cusco 1", "", "080101", "Libro", "", "", "", "", ""},
			[]any{"", "", "", "", "", "", "", "", "", "", "", ""},
			[]any{20393, "Ana Paz", "987654323", "Jr. Huáscar 12", "", "150132", "Taza", "", "", "", "", ""},
		)
		sheet.run(t, "enviarPedidos")
		first := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders/" + sheet.cell(t, 1, "Id").(string), Key: tenant.KeyA})
		require.Equal(t, "Av. Larco 345", first.String("delivery_address"))
		require.Equal(t, "+51987654321", first.String("recipient_phone"))
		require.InDelta(t, 89.9, first.Data["amount_to_collect"], 0)
		require.Equal(t, "Frente al parque", first.String("delivery_reference"))
		require.Equal(t, first.String("guide_code"), sheet.cell(t, 1, "Guía"))
		require.Equal(t, "Registrado", sheet.cell(t, 1, "Estado"))
		require.Empty(t, sheet.cell(t, 1, "Problema"))
		require.Empty(t, sheet.cell(t, 2, "Id"))
		require.Contains(t, sheet.cell(t, 2, "Problema"), "no cubre", "what the service says")
		require.NotEmpty(t, sheet.cell(t, 4, "Id"))
		require.NotEmpty(t, sheet.cell(t, 4, "Problema"), "the warning of a zone at risk")

		id := sheet.cell(t, 1, "Id")
		sheet.rows[1][10] = "" // an answer that was lost
		sheet.run(t, "enviarPedidos")
		require.Equal(t, id, sheet.cell(t, 1, "Id"), "no second order")

		s.WaitForWorkflow(t, id.(string))
		cancelled := s.Do(t, apptest.Request{Method: "PATCH", Path: "/v1/orders/" + id.(string) + "/cancel", Key: tenant.KeyA})
		require.Equal(t, 200, cancelled.Status, cancelled.Text)
		sheet.run(t, "actualizarEstados")
		require.Equal(t, "Cancelado", sheet.cell(t, 1, "Estado"))
		require.Equal(t, "Registrado", sheet.cell(t, 4, "Estado"))
	})
}

// An amount that the sheet has as text is refused, not left out: the rider would collect nothing.
func TestSpreadsheet_refusesAnAmountThatIsNoNumber(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		var rows [][]any
		for i, amount := range []any{"89,90", "S/ 89.90", "gratis", "89.90"} {
			rows = append(rows, []any{30000 + i, "Rosa Díaz", 987654321, "Av. Larco 345", "", 150122, "Zapatillas", amount, "", "", "", ""})
		}
		tenant := s.NewTenant(t)
		sheet := newSpreadsheet(t, s.BaseURL, tenant.KeyA, rows...)
		sheet.run(t, "enviarPedidos")
		for row := 1; row <= 3; row++ {
			require.Empty(t, sheet.cell(t, row, "Id"), rows[row-1])
			require.Contains(t, sheet.cell(t, row, "Problema"), "amount_to_collect: debe ser un número", rows[row-1])
		}
		created := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders/" + sheet.cell(t, 4, "Id").(string), Key: tenant.KeyA})
		require.InDelta(t, 89.9, created.Data["amount_to_collect"], 0)
	})
}

// A heading that is missing, or written without its accent, is named before anything is sent: the
// orders would have the address "undefined".
func TestSpreadsheet_refusesASheetWithoutAHeading(t *testing.T) {
	t.Parallel()
	service := &scripted{}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	for i, heading := range headings {
		sheet := newSpreadsheet(t, server.URL, "k", []any{7, "Rosa", "1", "Av.", "", "150122", "Libro", "", "", "", "", ""})
		sheet.rows[0] = slices.Clone(headings)
		sheet.rows[0][i] = strings.ToUpper(heading.(string))
		_, failure := sheet.try(t, "enviarPedidos")
		require.Contains(t, failure, "En la primera fila falta: "+heading.(string))
	}
	sheet := newSpreadsheet(t, server.URL, "k")
	sheet.rows[0] = slices.Clone(headings)
	sheet.rows[0][3] = " Direccio\u0301n " // as some keyboards write it
	sheet.run(t, "enviarPedidos")
}

// The result of a sale is written beside it, also if its row has moved while it was sent.
func TestSpreadsheet_findsARowThatHasMoved(t *testing.T) {
	t.Parallel()
	place := answer{Status: 200, Body: map[string]any{"data": []any{map[string]any{"ubigeo": "150122", "location_id": "54c51d2b-049b-53b9-93ac-fa910f68ea0d"}}}}
	created := func(id string) answer {
		return answer{Status: 201, Body: map[string]any{"data": map[string]any{"id": id, "guide_code": "G" + id, "status_label": "Registrado"}}}
	}
	server := httptest.NewServer(&scripted{answers: []answer{place, created("a"), created("b")}})
	t.Cleanup(server.Close)
	row := func(sale int) []any {
		return []any{sale, "Rosa", "1", "Av.", "", "150122", "Libro", "", "", "", "", ""}
	}
	sheet := newSpreadsheet(t, server.URL, "k", row(7), row(8))
	sheet.inserted = true
	sheet.run(t, "enviarPedidos")
	require.Empty(t, sheet.cell(t, 1, "Id"))
	for i, id := range []string{"a", "b"} {
		require.EqualValues(t, 7+i, sheet.cell(t, 2+i, "Venta"))
		require.Equal(t, id, sheet.cell(t, 2+i, "Id"))
	}
}

// The program waits as long as the service says, and tells the row that it gave up.
func TestSpreadsheet_retries(t *testing.T) {
	t.Parallel()
	place := answer{Status: 200, Body: map[string]any{"data": []any{map[string]any{"ubigeo": "150122", "location_id": "54c51d2b-049b-53b9-93ac-fa910f68ea0d"}}}}
	created := answer{Status: 201, Body: map[string]any{"data": map[string]any{"id": "1", "guide_code": "G", "status_label": "Registrado"}}}
	row := func() []any { return []any{7, "Rosa", "1", "Av.", "", "150122", "Libro", "", "", "", "", ""} }

	service := &scripted{answers: []answer{{Status: 0}, place, {Status: 429, RetryAfter: "9"}, {Status: 502, HTML: true}, created}}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	sheet := newSpreadsheet(t, server.URL, "k", row())
	require.Equal(t, []float64{1, 9, 2}, sheet.run(t, "enviarPedidos"))
	require.Equal(t, "1", sheet.cell(t, 1, "Id"))
	require.Empty(t, service.answers)

	failing := &scripted{answers: []answer{place, {Status: 500}, {Status: 500}, {Status: 500}, {Status: 500}, {Status: 502, HTML: true}}}
	other := httptest.NewServer(failing)
	t.Cleanup(other.Close)
	sheet = newSpreadsheet(t, other.URL, "k", row())
	sheet.run(t, "enviarPedidos")
	require.Equal(t, "Sin respuesta: vuelva a enviar", sheet.cell(t, 1, "Problema"))
	require.Empty(t, failing.answers)
}
