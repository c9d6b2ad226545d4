package neworder

import (
	"despacho/internal/numeral"
	"despacho/internal/textnorm"
	"despacho/models"
	"despacho/web/panel/csvfile"
)

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
func oneOf(words map[string]string, complaint string) func(*Reader, *Row, string) (string, string) {
	return func(_ *Reader, _ *Row, cell string) (string, string) {
		if word, known := words[textnorm.String(cell)]; known {
			return word, ""
		}
		return cell, complaint
	}
}

// digitsLost is the message for a number that a spreadsheet program has rounded.
const digitsLost = "la hoja de cálculo lo cambió a notación científica y perdió cifras: dé a la columna formato de texto y escríbalo de nuevo"

func takeDigits(_ *Reader, _ *Row, cell string) (string, string) {
	if csvfile.IsScientific(cell) {
		return cell, digitsLost
	}
	return cell, ""
}

func takeCoordinate(_ *Reader, _ *Row, cell string) (string, string) {
	return numeral.Decimal(cell), ""
}

func takeAmount(_ *Reader, _ *Row, cell string) (string, string) {
	value, clear := numeral.Amount(cell)
	if !clear {
		return value, numeral.Unclear
	}
	return value, ""
}

func takePlace(r *Reader, row *Row, cell string) (string, string) {
	m := r.places.Match(cell)
	if m.Place == nil {
		return "", r.ambiguous(m)
	}
	row.Place = r.places.Name(*m.Place)
	if !m.Exact {
		row.Notes = append(row.Notes, "«"+cell+"» se entendió como "+row.Place+".")
	}
	return m.Place.ID.String(), ""
}

func takeSize(r *Reader, row *Row, cell string) (string, string) {
	for _, size := range r.places.Choices.Sizes {
		if textnorm.String(size.Code) == textnorm.String(cell) || textnorm.String(size.Name) == textnorm.String(cell) {
			return size.Code, ""
		}
	}
	row.Notes = append(row.Notes, "La talla «"+cell+"» no existe: se usa la habitual.")
	return cell, ""
}

func takeStore(r *Reader, _ *Row, cell string) (string, string) {
	var found []string
	for _, store := range r.places.Choices.Stores {
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

func takeBranch(r *Reader, _ *Row, cell string) (string, string) {
	for _, branch := range r.places.Choices.Branches {
		if textnorm.String(branch.Name) == textnorm.String(cell) {
			return branch.ID.String(), ""
		}
	}
	return "", "no es una sucursal activa del operador"
}
