package panel

import (
	"net/http"
	"strings"

	"despacho/internal/apperror"
	"despacho/web/panel/csvfile"
)

const (
	uploadPath = "/panel/carga"
	// maxUploadRows is more than a person checks in a preview.
	maxUploadRows = 1000
)

// uploadPage is the upload form.
type uploadPage struct {
	Columns []uploadColumn
	MaxRows int
	Failure string
}

func (p *Pages) newUpload(v *Request) error { return p.showUpload(v, http.StatusOK, "") }

func (p *Pages) showUpload(v *Request, status int, failure string) error {
	return p.show(v, status, "upload", "Carga de pedidos", uploadPage{Columns: columnsFor(v), MaxRows: maxUploadRows, Failure: failure})
}

// uploadAgain redirects a reload of a page that only exists as a response to a form.
func (p *Pages) uploadAgain(v *Request) error {
	v.Redirect(http.StatusSeeOther, uploadPath)
	return nil
}

// uploadTemplate is an empty file with an example row that the operator could deliver.
func (p *Pages) uploadTemplate(v *Request) error {
	places, err := p.destinations(v)
	if err != nil {
		return err
	}
	var header, example []string
	for _, column := range columnsFor(v) {
		if column.Spare {
			continue
		}
		cell := column.Example
		switch column.Name {
		case placeColumn:
			cell = places.example()
		case sizeColumn:
			for _, size := range places.choices.Sizes {
				if size.IsDefault {
					cell = size.Code
				}
			}
		case storeColumn:
			if len(places.choices.Stores) > 0 {
				cell = places.choices.Stores[0].Name
			}
		}
		header, example = append(header, column.Name), append(example, cell)
	}
	delimiter := rune(csvfile.Semicolon)
	if v.Query("separador") == "coma" {
		delimiter = csvfile.Comma
	}
	return sendCSV(v, "plantilla-pedidos.csv", [][]string{header, example}, delimiter)
}

// example is a covered district with a unique name.
func (d *destinations) example() string {
	for _, district := range d.choices.Districts() {
		if m := d.match(district.Name); m.Place != nil && m.Place.ID == district.ID {
			return district.Name
		}
	}
	return "Miraflores, Lima"
}

func sendCSV(v *Request, name string, rows [][]string, delimiter rune) error {
	content, err := csvfile.Write(rows, delimiter)
	if err != nil {
		return err
	}
	v.Header("Content-Disposition", `attachment; filename="`+name+`"`)
	v.Header("Cache-Control", "no-store")
	v.Data(http.StatusOK, "text/csv; charset=utf-8", content)
	return nil
}

// previewUpload shows the result of a file without creating anything.
func (p *Pages) previewUpload(v *Request) error {
	table, err := readUpload(v)
	if err == nil {
		var columns csvfile.Columns
		if columns, err = matchUpload(v, table); err == nil {
			return p.showPreview(v, table, columns)
		}
	}
	problem := apperror.From(err)
	if problem.Kind == apperror.Internal {
		return err
	}
	return p.showUpload(v, http.StatusUnprocessableEntity, problem.Message)
}

func readUpload(v *Request) (*csvfile.Table, error) {
	content, err := readFile(v)
	if err != nil {
		return nil, err
	}
	return readCSV(content, maxUploadRows)
}

// matchUpload finds the columns; a missing required column is an error.
func matchUpload(v *Request, table *csvfile.Table) (csvfile.Columns, error) {
	known := columnsFor(v)
	if v.Caller.StoreID != nil {
		// A store's file may have a store column; the preview says that it is ignored.
		known = uploadColumns
	}
	names := make([]csvfile.Column, len(known))
	for i, column := range known {
		names[i] = column.Column
	}
	columns := table.Match(names)
	var missing []string
	for _, column := range known {
		if column.Required && !columns.Has(column.Name) && !(column.Name == placeColumn && columns.Has(ubigeoColumn)) {
			missing = append(missing, column.Name)
		}
	}
	switch {
	case len(missing) == 1:
		return columns, fileError("Falta la columna " + missing[0] + ". La primera fila debe llevar los nombres de las columnas, como en la plantilla.")
	case len(missing) > 1:
		return columns, fileError("Faltan las columnas " + strings.Join(missing, ", ") + ". La primera fila debe llevar los nombres de las columnas, como en la plantilla.")
	case len(table.Rows) == 0:
		return columns, fileError("El archivo no tiene filas debajo de los nombres de las columnas.")
	}
	return columns, nil
}

// uploadRemarks are notes about the file's columns.
func uploadRemarks(v *Request, columns csvfile.Columns) []string {
	var remarks []string
	if len(columns.Unknown) > 0 {
		remarks = append(remarks, "Columnas que no se usan: "+strings.Join(columns.Unknown, ", ")+".")
	}
	if len(columns.Repeated) > 0 {
		remarks = append(remarks, "Columnas repetidas, de las que vale la primera: "+strings.Join(columns.Repeated, ", ")+".")
	}
	if v.Caller.StoreID != nil && columns.Has(storeColumn) {
		remarks = append(remarks, "La columna tienda no se usa: todos los pedidos son de su tienda.")
	}
	return remarks
}
