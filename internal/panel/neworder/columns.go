package neworder

import (
	"cmp"
	"fmt"
	"strings"

	"despacho/internal/orders"
	"despacho/internal/panel/csvfile"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/places"
	"despacho/internal/textnorm"
)

// Column is a column of an uploaded file of orders.
type Column struct {
	csvfile.Column
	// Member is its name in a creation request, if it has one.
	Member string
	// Required columns must be present, and filled in every row.
	Required bool
	// Label is what a form calls it; Help is what to write; Example is a cell of the template.
	Label, Help, Example string
	// NotInTemplate columns are accepted but not in the template.
	NotInTemplate bool
	// operatorOnly columns are ignored in a store's file.
	operatorOnly bool
	// kind is its kind in a form, of what a cell has in it.
	kind forms.Kind
	// take converts the cell; nil means unchanged.
	take func(r *Reader, row *Row, cell string) (value, complaint string)
}

// columns are the columns of a file.
var columns = func() (list []Column) {
	for _, of := range fields {
		column := of.column
		column.Member, column.Required, column.Help = of.Name, of.Required, cmp.Or(column.Help, of.Hint)
		column.Label, column.kind = cmp.Or(of.Label, column.Name), of.Kind
		if of.Kind == "" || of.Kind == forms.Choice { // a cell has the words, not the value
			column.kind = forms.Text
		}
		list = append(list, column)
	}
	return list
}()

// DownloadColumn is a column of a download of orders.
type DownloadColumn struct {
	Name string
	Text func(Shown) string
}

// DownloadColumns are the columns that a download has of the fields.
func DownloadColumns() (list []DownloadColumn) {
	for _, of := range fields {
		if of.download != "" {
			list = append(list, DownloadColumn{of.download, of.text})
		}
	}
	return list
}

// Names of the columns with special handling.
const (
	placeColumn  = "distrito"
	ubigeoColumn = "ubigeo"
	nameColumn   = "destinatario"
	storeColumn  = "tienda"
	sizeColumn   = "tamano"
	codeColumn   = "numero_de_pedido"
)

func named(name string, aliases ...string) csvfile.Column {
	return csvfile.Column{Name: name, Aliases: aliases}
}

// ColumnsFor are the columns that apply to the caller's files.
func ColumnsFor(caller orders.Caller) []Column {
	var list []Column
	for _, column := range columns {
		if !column.operatorOnly || caller.StoreID == nil {
			list = append(list, column)
		}
	}
	return list
}

// exampleMark begins the recipient of the template's example row, which is no order.
const exampleMark = "Ejemplo:"

func isExample(cells map[string]string) bool {
	mark, _, marked := strings.Cut(cells[nameColumn], ":")
	return marked && textnorm.Equal(mark, exampleMark)
}

// Template is the header and the example row of an empty file.
func Template(caller orders.Caller, destinations *places.Destinations) [][]string {
	var header, example []string
	for _, column := range ColumnsFor(caller) {
		if column.NotInTemplate {
			continue
		}
		cell := column.Example
		switch column.Name {
		case placeColumn:
			cell = destinations.Example()
		case sizeColumn:
			for _, size := range destinations.Choices.Sizes {
				if size.IsDefault {
					cell = size.Code
				}
			}
		case storeColumn:
			if len(destinations.Choices.Stores) > 0 {
				cell = destinations.Choices.Stores[0].Name
			}
		}
		header, example = append(header, column.Name), append(example, cell)
	}
	return [][]string{header, example}
}

// Match finds the columns, and the required ones that are missing.
func Match(caller orders.Caller, table *csvfile.Table, chosen map[string]string) (found csvfile.Columns, missing []string) {
	known := ColumnsFor(caller)
	if caller.StoreID != nil {
		// A store's file may have a store column; the preview says that it is ignored.
		known = columns
	}
	names := make([]csvfile.Column, len(known))
	for i, column := range known {
		names[i] = column.Column
	}
	found = table.Match(names, chosen)
	for _, column := range known {
		if column.Required && !found.Has(column.Name) && !(column.Name == placeColumn && found.Has(ubigeoColumn)) {
			missing = append(missing, column.Name)
		}
	}
	return found, missing
}

// CheckTable is the error of a file that lacks columns or has no rows.
func CheckTable(table *csvfile.Table, missing []string) error {
	switch {
	case len(missing) == 1:
		return csvfile.Invalid("Falta la columna " + missing[0] +
			". La primera fila debe llevar los nombres de las columnas, como en la plantilla.")
	case len(missing) > 1:
		return csvfile.Invalid("Faltan las columnas " + strings.Join(missing, ", ") +
			". La primera fila debe llevar los nombres de las columnas, como en la plantilla.")
	case len(table.Rows) == 0:
		return csvfile.Invalid("El archivo no tiene filas debajo de los nombres de las columnas.")
	}
	return nil
}

// Remarks are notes about the file that was read.
func (r *Reader) Remarks(found csvfile.Columns) []string {
	var remarks []string
	for _, number := range r.Examples {
		remarks = append(remarks, fmt.Sprintf("La fila %d es el ejemplo de la plantilla: no se crea.", number))
	}
	if len(found.Unknown) > 0 {
		remarks = append(remarks, "Columnas que no se usan: "+strings.Join(found.Unknown, ", ")+".")
	}
	if len(found.Chosen) > 0 {
		remarks = append(remarks, "Columnas que se leen como usted indicó: "+strings.Join(found.Chosen, ", ")+".")
	}
	if len(found.Repeated) > 0 {
		remarks = append(remarks, "Columnas repetidas, de las que vale la primera: "+strings.Join(found.Repeated, ", ")+".")
	}
	if r.caller.StoreID != nil && found.Has(storeColumn) {
		remarks = append(remarks, "La columna tienda no se usa: todos los pedidos son de su tienda.")
	}
	return remarks
}
