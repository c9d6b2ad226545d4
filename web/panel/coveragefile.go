package panel

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/catalog"
	"despacho/internal/body"
	"despacho/internal/fault"
	"despacho/internal/fold"
	"despacho/internal/money"
	"despacho/internal/tablefile"
	"despacho/models"
	"despacho/operators"
)

// coverageColumns are those of the file that is downloaded; the same file can be uploaded again.
var coverageColumns = []string{"ubigeo", "lugar", "ciudad", "departamento", "id", "precio"}

// coverageRow is a row of an uploaded file, under the number that a spreadsheet shows for it.
type coverageRow struct {
	Number    int
	Complaint string
	place     catalog.Location
	price     *money.Cents
}

// coverageReader reads rows by the names of their columns.
type coverageReader struct {
	index   *catalog.Index
	country string
	at      map[string]int
}

// readCoverage reads every row of a file. The error is about the file as a whole; what is wrong with a row stands in the row.
func readCoverage(index *catalog.Index, operator *models.Operator, content []byte) ([]coverageRow, error) {
	header, table, err := tablefile.Read(content)
	if err != nil {
		return nil, err
	}
	r := coverageReader{index: index, country: operator.CountryCode, at: map[string]int{}}
	for i, name := range header {
		if _, twice := r.at[name]; twice && slices.Contains(coverageColumns, name) {
			return nil, fault.New(fault.Invalid, "column_twice", "El archivo tiene dos columnas «"+name+"».")
		}
		r.at[name] = i
	}
	if !r.has("precio") || !r.has("ubigeo") && !r.has("id") && !r.has("lugar") {
		return nil, fault.New(fault.Invalid, "columns_missing", "El archivo debe tener la columna precio y al menos una de estas: ubigeo, id o lugar.")
	}
	var rows []coverageRow
	numbers := map[uuid.UUID]int{}
	for i, cells := range table {
		if strings.Join(cells, "") == "" {
			continue
		}
		row := r.read(cells)
		row.Number = i + 2
		if first, twice := numbers[row.place.ID]; twice && row.Complaint == "" {
			row.Complaint = fmt.Sprintf("Repite el lugar de la fila %d.", first)
		}
		numbers[row.place.ID] = row.Number
		rows = append(rows, row)
	}
	switch {
	case len(rows) == 0:
		return nil, fault.New(fault.Invalid, "no_rows", "El archivo no tiene ningún lugar.")
	case len(rows) > operators.MaxCoverageRows:
		return nil, fault.New(fault.Invalid, "too_many_rows", fmt.Sprintf("El archivo tiene más de %d lugares.", operators.MaxCoverageRows))
	}
	return rows, nil
}

func (r coverageReader) has(column string) bool { _, ok := r.at[column]; return ok }

func (r coverageReader) cell(cells []string, column string) string {
	if at, ok := r.at[column]; ok && at < len(cells) {
		return cells[at]
	}
	return ""
}

func (r coverageReader) read(cells []string) (row coverageRow) {
	row.place, row.Complaint = r.readPlace(cells)
	if typed := r.cell(cells, "precio"); typed != "" && row.Complaint == "" {
		// Where semicolons part the cells, a comma marks the decimals.
		price, err := money.Parse(strings.Replace(typed, ",", ".", 1))
		if err != nil {
			row.Complaint = "El precio «" + typed + "» no es un monto entre 0 y 999999.99 con dos decimales como máximo."
		}
		row.price = &price
	}
	return row
}

// readPlace takes the most exact of what the row says about its place.
func (r coverageReader) readPlace(cells []string) (place catalog.Location, complaint string) {
	if typed := r.cell(cells, "id"); typed != "" {
		id, _ := body.ParseUUID(typed)
		place, known := r.index.Location(id)
		if !known {
			return place, "El id «" + typed + "» no está en el catálogo."
		}
		return place, ""
	}
	if typed := r.cell(cells, "ubigeo"); typed != "" {
		// Spreadsheets drop the zero that a code begins with.
		place, known := r.index.ByUbigeo(r.country, strings.Repeat("0", max(0, 6-len(typed)))+typed)
		if !known {
			return place, "El ubigeo «" + typed + "» no está en el catálogo."
		}
		return place, ""
	}
	return r.namedPlace(r.cell(cells, "lugar"), r.cell(cells, "ciudad"), r.cell(cells, "departamento"))
}

func (r coverageReader) namedPlace(name, city, department string) (place catalog.Location, complaint string) {
	if name == "" {
		return place, "Falta el lugar: indique su ubigeo, su id o su nombre."
	}
	found := slices.DeleteFunc(placesMeant(r.index, r.country, name), func(l catalog.Location) bool {
		return city != "" && fold.String(l.City) != fold.String(city) || department != "" && fold.String(l.Department) != fold.String(department)
	})
	if len(found) > 1 { // names that are the same come before those that only begin alike
		found = slices.DeleteFunc(found, func(l catalog.Location) bool { return fold.String(l.Name) != fold.String(name) })
	}
	switch len(found) {
	case 0:
		return place, "No hay ningún lugar «" + name + "»."
	case 1:
		return found[0], ""
	}
	return place, fmt.Sprintf("Hay %d lugares «%s»: indique también ciudad y departamento, o el ubigeo.", len(found), name)
}

func (p *Pages) downloadCoverage(v *Visit) error {
	places, err := p.coveredPlaces(v)
	if err != nil {
		return err
	}
	rows := make([][]string, len(places))
	for i, c := range places {
		rows[i] = []string{c.place.Ubigeo, c.Name, c.place.City, c.place.Department, c.LocationID.String(), moneyValue(c.Price)}
	}
	v.Header("Content-Disposition", `attachment; filename="cobertura.csv"`)
	v.Header("Cache-Control", "no-store")
	v.Data(http.StatusOK, "text/csv; charset=utf-8", tablefile.Write(coverageColumns, rows))
	return nil
}

// maxCoverageFile is more than a file with every place there is.
const maxCoverageFile = 2 << 20

// readUpload takes the one file of a form.
func readUpload(v *Visit, name string, limit int64) ([]byte, error) {
	tooLarge := fault.New(fault.TooLarge, "file_too_large", fmt.Sprintf("El archivo pesa más de %d MB.", limit>>20))
	v.Request.Body = http.MaxBytesReader(v.Writer, v.Request.Body, limit+maxForm)
	file, header, err := v.Request.FormFile(name)
	var exceeded *http.MaxBytesError
	switch {
	case errors.As(err, &exceeded):
		return nil, tooLarge
	case err != nil:
		return nil, fault.New(fault.Invalid, "file_missing", "Elija un archivo.").Because(err)
	}
	defer file.Close()
	if header.Size > limit {
		return nil, tooLarge
	}
	return io.ReadAll(file)
}
