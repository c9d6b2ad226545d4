// Package coveragefile reads and writes CSV files of the places that an operator covers.
package coveragefile

import (
	"fmt"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/catalog"
	"despacho/internal/money"
	"despacho/internal/numeral"
	"despacho/internal/operators"
	"despacho/internal/panel/csvfile"
	"despacho/internal/panel/forms"
	"despacho/models"
)

// columns are the columns of the downloaded file, which can be uploaded again.
var columns = []string{"ubigeo", "lugar", "ciudad", "departamento", "id", "precio"}

// Row is a row of an uploaded file, with its number in a spreadsheet.
type Row struct {
	Number int
	// Complaint is the row's error, or empty.
	Complaint string
	Place     catalog.Location
	Price     *money.Cents
}

// reader reads the cells of a row by column name.
type reader struct {
	index   *catalog.Index
	country string
}

// Read reads every row of a file. The error is about the whole file; an error of a row is
// in the row.
func Read(index *catalog.Index, operator *models.Operator, content []byte) ([]Row, error) {
	table, err := csvfile.ReadUploaded(content, operators.MaxCoverageRows)
	if err != nil {
		return nil, err
	}
	known := make([]csvfile.Column, len(columns))
	for i, name := range columns {
		known[i] = csvfile.Column{Name: name}
	}
	found := table.Match(known, nil)
	if len(found.Repeated) > 0 {
		return nil, csvfile.Invalid("El archivo tiene dos columnas «" + found.Repeated[0] + "».")
	}
	if !found.Has("precio") || !found.Has("ubigeo") && !found.Has("id") && !found.Has("lugar") {
		return nil, csvfile.Invalid("El archivo debe tener la columna precio y al menos una de estas: ubigeo, id o lugar.")
	}
	if len(table.Rows) == 0 {
		return nil, csvfile.Invalid("El archivo no tiene ningún lugar.")
	}
	r := reader{index: index, country: operator.CountryCode}
	rows := make([]Row, len(table.Rows))
	numbers := map[uuid.UUID]int{}
	for i, written := range table.Rows {
		row := r.read(found.Of(written))
		row.Number = written.Number
		if written.Overflows {
			row.Complaint = forms.Sentence(csvfile.OverflowMessage)
		}
		if first, twice := numbers[row.Place.ID]; twice && row.Complaint == "" {
			row.Complaint = fmt.Sprintf("Repite el lugar de la fila %d.", first)
		}
		numbers[row.Place.ID] = row.Number
		rows[i] = row
	}
	return rows, nil
}

// Coverage returns the rows as coverage, or the error of the first invalid one.
func Coverage(rows []Row) ([]operators.CoverageRow, error) {
	coverage := make([]operators.CoverageRow, len(rows))
	for i, row := range rows {
		if row.Complaint != "" {
			return nil, apperror.New(apperror.Invalid, "invalid_fields", fmt.Sprintf("Fila %d: %s", row.Number, row.Complaint))
		}
		coverage[i] = operators.CoverageRow{LocationID: row.Place.ID, Price: row.Price}
	}
	return coverage, nil
}

func (r reader) read(cells map[string]string) (row Row) {
	row.Place, row.Complaint = r.readPlace(cells)
	if typed := cells["precio"]; typed != "" && row.Complaint == "" {
		decimal, clear := numeral.Amount(typed)
		price, err := money.Parse(decimal)
		switch {
		case !clear:
			row.Complaint = "El precio «" + typed + "»: " + numeral.UnclearMessage + "."
		case err != nil:
			row.Complaint = "El precio «" + typed + "» no es un monto entre 0 y 999999.99 con dos decimales como máximo."
		}
		row.Price = &price
	}
	return row
}

// readPlace uses the most precise of the row's cells about its place.
func (r reader) readPlace(cells map[string]string) (place catalog.Location, complaint string) {
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

// Table are the places with their prices as a file that can be read again.
func Table(rows []Row) [][]string {
	table := [][]string{columns}
	for _, row := range rows {
		place := row.Place
		table = append(table, []string{place.Ubigeo, place.Name, place.City, place.Department, place.ID.String(),
			forms.MoneyValue(row.Price)})
	}
	return table
}

// Normalized is the file reduced to the columns that are used.
func Normalized(rows []Row) (string, error) {
	table := [][]string{{"id", "precio"}}
	for _, row := range rows {
		table = append(table, []string{row.Place.ID.String(), forms.MoneyValue(row.Price)})
	}
	content, err := csvfile.Write(table, csvfile.Semicolon)
	return string(content), err
}
