package neworder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/numeral"
	"despacho/internal/panel/csvfile"
	"despacho/internal/panel/format"
	"despacho/internal/panel/places"
	"despacho/internal/textnorm"
	"despacho/models"
)

var (
	docTypeSpellings = map[string]string{
		"dni": string(models.DocDNI), "ce": string(models.DocCE), "carne de extranjeria": string(models.DocCE),
		"carnet de extranjeria": string(models.DocCE),
		"pasaporte":             string(models.DocPassport), "passport": string(models.DocPassport),
		"otro":  string(models.DocOther),
		"other": string(models.DocOther),
	}
	paymentSpellings = map[string]string{
		"contra entrega": string(models.CashOnDelivery), "contraentrega": string(models.CashOnDelivery),
		"cash on delivery": string(models.CashOnDelivery),
		"solo entrega":     string(models.DeliveryOnly), "pagado": string(models.DeliveryOnly),
		"delivery only": string(models.DeliveryOnly),
	}
	deliverySpellings = map[string]string{
		"domicilio": string(models.DeliveryHome), "a domicilio": string(models.DeliveryHome), "home": string(models.DeliveryHome),
		"agencia": string(models.DeliveryAgency), "en agencia": string(models.DeliveryAgency),
		"agency": string(models.DeliveryAgency),
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
		return value, numeral.UnclearMessage
	}
	return value, ""
}

func takePlace(r *Reader, row *Row, cell string) (string, string) {
	m := r.places.Match(cell)
	if m.Place == nil {
		row.Suggestions = append(m.Similar, m.Names...)
		return "", ambiguous(m)
	}
	row.Place = r.places.Name(*m.Place)
	if !m.Exact {
		row.Notes = append(row.Notes, "«"+cell+"» se entendió como "+row.Place+".")
	}
	return m.Place.ID.String(), ""
}

// takeSize reads the code of a size or, if no size has it, a name. The codes M and m may be two
// sizes: the one that is written exactly so comes first.
func takeSize(r *Reader, row *Row, cell string) (string, string) {
	text := textnorm.String(cell)
	found := match(r.places.Choices.Sizes,
		func(size models.Size) bool { return size.Code == cell },
		func(size models.Size) bool { return textnorm.String(size.Code) == text },
		func(size models.Size) bool { return textnorm.String(size.Name) == text })
	switch len(found) {
	case 0:
		row.Notes = append(row.Notes, "El tamaño «"+cell+"» no existe: se usa el habitual.")
		return cell, ""
	case 1:
		return found[0].Code, ""
	}
	return "", "hay varios tamaños con ese nombre: escriba el código"
}

func takeStore(r *Reader, _ *Row, cell string) (string, string) {
	if id, isID := jsonbody.ParseUUID(cell); isID && slices.ContainsFunc(r.places.Choices.Stores,
		func(store models.Store) bool { return store.ID == id }) {
		return id.String(), ""
	}
	return theOnly(r.stores[textnorm.String(cell)], "no es una tienda activa", "hay varias tiendas con ese nombre")
}

func takeBranch(r *Reader, _ *Row, cell string) (string, string) {
	return theOnly(r.branches[textnorm.String(cell)], "no es una sucursal activa del operador",
		"hay varias sucursales con ese nombre")
}

// idsByName are the ids of an operator's things by their normalized names. An operator may have
// thousands, which are not compared with the cells of every row.
func idsByName[T any](rows []T, read func(T) (uuid.UUID, string)) map[string][]uuid.UUID {
	ids := make(map[string][]uuid.UUID, len(rows))
	for _, row := range rows {
		id, name := read(row)
		name = textnorm.String(name)
		ids[name] = append(ids[name], id)
	}
	return ids
}

// theOnly is the only id that was found, or a complaint.
func theOnly(found []uuid.UUID, none, many string) (value, complaint string) {
	switch len(found) {
	case 0:
		return "", none
	case 1:
		return found[0].String(), ""
	}
	return "", many
}

// match returns the rows for which the first of the tests is true that is true for any.
func match[T any](rows []T, tests ...func(T) bool) (found []T) {
	for _, test := range tests {
		for _, row := range rows {
			if test(row) {
				found = append(found, row)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// maxNamed is how many places an error message lists.
const maxNamed = 4

// ambiguous is the message for a place that is not clear.
func ambiguous(m places.Match) string {
	names := m.Names
	switch {
	case m.OutOfReach:
		return places.OutOfReachDestination
	case len(m.Similar) > 0:
		return places.UnknownDestination + ": " + places.DidYouMean(m.Similar[:min(len(m.Similar), maxNamed)])
	case len(names) == 0:
		return places.UnknownDestination
	}
	complaint := "puede ser " + strings.Join(names[:min(len(names), maxNamed)], " o ")
	if more := len(names) - maxNamed; more > 0 {
		complaint += format.Plural(more, " o un lugar más", fmt.Sprintf(" o alguno de otros %d", more))
	}
	return complaint + ": escriba cuál"
}
