package panel

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"despacho/catalog"
	"despacho/internal/money"
	"despacho/models"
	"despacho/operators"
	"despacho/web/panel/csvfile"
)

// coverageColumns are the columns of the downloaded file, which can be uploaded again.
var coverageColumns = []string{"ubigeo", "lugar", "ciudad", "departamento", "id", "precio"}

// coverageRow is a row of an uploaded file, with its number in a spreadsheet.
type coverageRow struct {
	Number    int
	Complaint string
	place     catalog.Location
	price     *money.Cents
}

// coverageReader reads the cells of a row by column name.
type coverageReader struct {
	index   *catalog.Index
	country string
}

// readCoverage reads every row of a file. The error is about the whole file; an error of a row is
// in the row.
func readCoverage(index *catalog.Index, operator *models.Operator, content []byte) ([]coverageRow, error) {
	table, err := readCSV(content, operators.MaxCoverageRows)
	if err != nil {
		return nil, err
	}
	known := make([]csvfile.Column, len(coverageColumns))
	for i, name := range coverageColumns {
		known[i] = csvfile.Column{Name: name}
	}
	columns := table.Match(known)
	if len(columns.Repeated) > 0 {
		return nil, fileError("El archivo tiene dos columnas «" + columns.Repeated[0] + "».")
	}
	if !columns.Has("precio") || !columns.Has("ubigeo") && !columns.Has("id") && !columns.Has("lugar") {
		return nil, fileError("El archivo debe tener la columna precio y al menos una de estas: ubigeo, id o lugar.")
	}
	if len(table.Rows) == 0 {
		return nil, fileError("El archivo no tiene ningún lugar.")
	}
	r := coverageReader{index: index, country: operator.CountryCode}
	rows := make([]coverageRow, len(table.Rows))
	numbers := map[uuid.UUID]int{}
	for i, written := range table.Rows {
		row := r.read(columns.Of(written))
		row.Number = written.Number
		if first, twice := numbers[row.place.ID]; twice && row.Complaint == "" {
			row.Complaint = fmt.Sprintf("Repite el lugar de la fila %d.", first)
		}
		numbers[row.place.ID] = row.Number
		rows[i] = row
	}
	return rows, nil
}

func (r coverageReader) read(cells map[string]string) (row coverageRow) {
	row.place, row.Complaint = r.readPlace(cells)
	if typed := cells["precio"]; typed != "" && row.Complaint == "" {
		// In a file with semicolons, a comma is the decimal separator.
		price, err := money.Parse(strings.Replace(typed, ",", ".", 1))
		if err != nil {
			row.Complaint = "El precio «" + typed + "» no es un monto entre 0 y 999999.99 con dos decimales como máximo."
		}
		row.price = &price
	}
	return row
}

// readPlace uses the most precise of the row's cells about its place.
func (r coverageReader) readPlace(cells map[string]string) (place catalog.Location, complaint string) {
	id, ubigeo, name := cells["id"], cells["ubigeo"], cells["lugar"]
	var written catalog.WrittenPlace
	switch {
	case id != "":
		written.ID = id
	case ubigeo != "":
		written.Ubigeo = ubigeo
	case name != "":
		written = catalog.ParsePlace(name)
		written.City, written.Department = cells["ciudad"], cells["departamento"]
	default:
		return place, "Falta el lugar: indique su ubigeo, su id o su nombre."
	}
	found := r.index.Resolve(r.country, written)
	place, clear := found.Only()
	switch {
	case clear:
		return place, ""
	case id != "":
		return place, "El id «" + id + "» no está en el catálogo."
	case ubigeo != "":
		return place, "El ubigeo «" + ubigeo + "» no está en el catálogo."
	case len(found.Exact) == 0:
		return place, "No hay ningún lugar «" + name + "»."
	}
	return place, fmt.Sprintf("Hay %d lugares «%s»: indique también ciudad y departamento, o el ubigeo.", len(found.Exact), name)
}

func (p *Pages) downloadCoverage(v *Request) error {
	places, err := p.coveredPlaces(v)
	if err != nil {
		return err
	}
	rows := make([][]string, len(places))
	for i, c := range places {
		rows[i] = []string{c.place.Ubigeo, c.Name, c.place.City, c.place.Department, c.LocationID.String(), moneyValue(c.Price)}
	}
	content, err := csvfile.Write(append([][]string{coverageColumns}, rows...), csvfile.Semicolon)
	if err != nil {
		return err
	}
	v.Header("Content-Disposition", `attachment; filename="cobertura.csv"`)
	v.Header("Cache-Control", "no-store")
	v.Data(http.StatusOK, "text/csv; charset=utf-8", content)
	return nil
}
