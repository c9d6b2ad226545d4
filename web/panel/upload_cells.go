package panel

import (
	"despacho/internal/textnorm"
	"despacho/models"
	"despacho/web/panel/csvfile"
)

// uploadColumn is a column of an uploaded file of orders.
type uploadColumn struct {
	csvfile.Column
	// Member is its name in a creation request.
	Member string
	// Required columns must be present, and filled in every row.
	Required bool
	// Help is what to write; Example is a cell of the template.
	Help, Example string
	// Spare columns are accepted but not in the template.
	Spare bool
	// operatorOnly columns are ignored in a store's file.
	operatorOnly bool
	// take converts the cell; nil means unchanged.
	take func(r *rowReader, row *orderRow, cell string) (value, complaint string)
}

// Names of the columns with special handling.
const (
	placeColumn  = "distrito"
	ubigeoColumn = "ubigeo"
	storeColumn  = "tienda"
	sizeColumn   = "talla"
	codeColumn   = "codigo_externo"
)

func column(name string, aliases ...string) csvfile.Column {
	return csvfile.Column{Name: name, Aliases: aliases}
}

// columnsFor are the columns that apply to the caller's files.
func columnsFor(v *Request) []uploadColumn {
	var columns []uploadColumn
	for _, column := range uploadColumns {
		if !column.operatorOnly || v.Caller.StoreID == nil {
			columns = append(columns, column)
		}
	}
	return columns
}

var (
	docTypeSpellings = map[string]string{
		"dni": string(models.DocDNI), "ce": string(models.DocCE), "carne de extranjeria": string(models.DocCE), "carnet de extranjeria": string(models.DocCE),
		"pasaporte": string(models.DocPassport), "passport": string(models.DocPassport), "otro": string(models.DocOther), "other": string(models.DocOther),
	}
	paymentSpellings = map[string]string{
		"contra entrega": string(models.CashOnDelivery), "contraentrega": string(models.CashOnDelivery), "cash on delivery": string(models.CashOnDelivery),
		"solo entrega": string(models.DeliveryOnly), "pagado": string(models.DeliveryOnly), "delivery only": string(models.DeliveryOnly),
	}
	deliverySpellings = map[string]string{
		"domicilio": string(models.DeliveryHome), "a domicilio": string(models.DeliveryHome), "home": string(models.DeliveryHome),
		"agencia": string(models.DeliveryAgency), "en agencia": string(models.DeliveryAgency), "agency": string(models.DeliveryAgency),
	}
)

// oneOf reads a value with several spellings.
func oneOf(words map[string]string, complaint string) func(*rowReader, *orderRow, string) (string, string) {
	return func(_ *rowReader, _ *orderRow, cell string) (string, string) {
		if word, known := words[textnorm.String(cell)]; known {
			return word, ""
		}
		return cell, complaint
	}
}

// digitsLost is the message for a number that a spreadsheet program has rounded.
const digitsLost = "la hoja de cálculo lo cambió a notación científica y perdió cifras: dé a la columna formato de texto y escríbalo de nuevo"

func takeDigits(_ *rowReader, _ *orderRow, cell string) (string, string) {
	if csvfile.IsScientific(cell) {
		return cell, digitsLost
	}
	return cell, ""
}

func takeCoordinate(_ *rowReader, _ *orderRow, cell string) (string, string) {
	return csvfile.Decimal(cell), ""
}

func takeAmount(_ *rowReader, _ *orderRow, cell string) (string, string) {
	value, clear := csvfile.Amount(cell)
	if !clear {
		return value, "no queda claro si la coma separa miles o decimales: escriba, por ejemplo, 1234.00 o 1.23"
	}
	return value, ""
}

func takePlace(r *rowReader, row *orderRow, cell string) (string, string) {
	m := r.places.match(cell)
	if m.Place == nil {
		return "", ambiguousPlace(r.places, m)
	}
	row.Place = r.places.name(*m.Place)
	if !m.Exact {
		row.Notes = append(row.Notes, "«"+cell+"» se entendió como "+row.Place+".")
	}
	return m.Place.ID.String(), ""
}

func takeSize(r *rowReader, row *orderRow, cell string) (string, string) {
	for _, size := range r.places.choices.Sizes {
		if textnorm.String(size.Code) == textnorm.String(cell) || textnorm.String(size.Name) == textnorm.String(cell) {
			return size.Code, ""
		}
	}
	row.Notes = append(row.Notes, "La talla «"+cell+"» no existe: se usa la habitual.")
	return cell, ""
}

func takeStore(r *rowReader, _ *orderRow, cell string) (string, string) {
	var found []string
	for _, store := range r.places.choices.Stores {
		if textnorm.String(store.Name) == textnorm.String(cell) || store.ID.String() == cell {
			found = append(found, store.ID.String())
		}
	}
	switch len(found) {
	case 0:
		return "", "no es una tienda activa"
	case 1:
		return found[0], ""
	}
	return "", "hay varias tiendas con ese nombre"
}

func takeBranch(r *rowReader, _ *orderRow, cell string) (string, string) {
	for _, branch := range r.places.choices.Branches {
		if textnorm.String(branch.Name) == textnorm.String(cell) {
			return branch.ID.String(), ""
		}
	}
	return "", "no es una sucursal activa del operador"
}

// maxCode is the maximum length of a store's own order number, in characters.
const maxCode = 100

func takeCode(_ *rowReader, _ *orderRow, cell string) (string, string) {
	if len([]rune(cell)) > maxCode {
		return "", "admite como máximo 100 caracteres"
	}
	return takeDigits(nil, nil, cell)
}
