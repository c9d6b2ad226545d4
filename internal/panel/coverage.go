package panel

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/catalog"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/operators"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/internal/textnorm"
	"despacho/models"
)

const (
	coveragePath  = "/panel/cobertura"
	placesPerPage = 50
)

// coveragePage lists the places that an operator covers, with their prices.
type coveragePage struct {
	Places []coveredPlace
	// Covered is the total number, regardless of the search.
	Covered int
	Query   coverageQuery
	Pager   pager
	// Base is the price of a place without its own; empty where there is no base price.
	Base  string
	Add   *forms.Form
	Quote quoteView
}

// coveredPlace is a row of the coverage with the name of its place.
type coveredPlace struct {
	models.Coverage
	place  catalog.Location
	Name   string
	Around string
	// Typed is the price in its field, and Error its error. Seen identifies the price that the row
	// has.
	Typed, Error, Seen string
	// Save and Remove are the targets of its forms; they redirect back to the same page of the
	// list.
	Save, Remove string

	search string
}

// coverageQuery is the query of the URL.
type coverageQuery struct {
	Search string
	page   int
}

func readCoverageQuery(v *Request) coverageQuery {
	return coverageQuery{Search: strings.TrimSpace(v.Query("q")), page: pageNumber(v)}
}

// at is the URL of a path with the query.
func (q coverageQuery) at(path string) string {
	return withQuery(path, map[string]string{"q": q.Search, "pagina": pageParameter(q.page)})
}

// coveredPlaces lists the places by name, each after those that contain it.
func (p *Pages) coveredPlaces(v *Request) ([]coveredPlace, error) {
	rows, err := p.Operators.Coverage().List(v.Ctx(), v.Operator())
	if err != nil {
		return nil, err
	}
	covered, err := p.Catalog.CoveredPlaces(v.Ctx(), rows...)
	if err != nil {
		return nil, err
	}
	places := make([]coveredPlace, len(covered))
	for i, row := range covered {
		places[i] = newCoveredPlace(row.Coverage, row.Places)
	}
	return places, nil
}

// newCoveredPlace makes the row of a place from its ancestors.
func newCoveredPlace(row models.Coverage, around []catalog.Location) coveredPlace {
	covered := coveredPlace{Coverage: row, Typed: forms.MoneyValue(row.Price), Seen: priceForm(row.Price).Seen}
	covered.place, covered.Name = around[0], around[0].Name
	var names []string
	for _, wider := range around[1:] {
		if wider.Type != catalog.TypeCountry {
			names = append(names, wider.Name)
		}
	}
	if department := covered.place.Department; !slices.Contains(names, department) && department != "" {
		names = append(names, department)
	}
	covered.Around = strings.Join(names, ", ")
	covered.search = textnorm.String(covered.Name + " " + covered.Around + " " + covered.place.Ubigeo)
	return covered
}

// Ubigeo is the district's code.
func (c coveredPlace) Ubigeo() string { return c.place.Ubigeo }

// Kind is the type of a place whose name does not tell it.
func (c coveredPlace) Kind() string {
	return map[catalog.LocationType]string{
		catalog.TypeCountry: "Todo el país", catalog.TypeCity: "Toda la ciudad", catalog.TypeZone: "Zona",
	}[c.place.Type]
}

// searched filters the places that match every typed word.
func searched(places []coveredPlace, typed string) []coveredPlace {
	words := strings.Fields(textnorm.String(typed))
	return slices.DeleteFunc(slices.Clone(places), func(c coveredPlace) bool {
		return slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(c.search, word) })
	})
}

func coverageForm(v *Request) *forms.Form {
	return &forms.Form{Action: coveragePath, Submit: "Agregar lugar", Fields: []forms.Field{
		{Name: "location_id", Label: "Lugar", Kind: forms.Place, Required: true,
			Hint: "Distrito, zona o ciudad: cubre también lo que hay dentro."},
		{Name: "price", Label: moneyLabel(v, "Precio"), Kind: forms.Money, Hint: "En blanco, el precio base."},
	}}
}

func (p *Pages) listCoverage(v *Request) error {
	return p.showCoverage(v, http.StatusOK, coverageForm(v), nil)
}

// priceForm is the form of one row of the list.
func priceForm(price *money.Cents) *forms.Form {
	return editForm("", []forms.Field{{Name: "price", Kind: forms.Money, Value: forms.MoneyValue(price)}})
}

// wrongPrice is an invalid price with its error.
type wrongPrice struct {
	id           uuid.UUID
	typed, error string
}

func (p *Pages) showCoverage(v *Request, status int, add *forms.Form, wrong *wrongPrice) error {
	places, err := p.coveredPlaces(v)
	if err != nil {
		return err
	}
	page := coveragePage{Covered: len(places), Query: readCoverageQuery(v), Base: basePrice(v.Operator()), Add: add}
	found := searched(places, page.Query.Search)
	page.Query.page = min(page.Query.page, lastPage(placesPerPage, int64(len(found))))
	page.Pager = pagerOf(page.Query.page, placesPerPage, int64(len(found)), func(number int) string {
		return coverageQuery{page.Query.Search, number}.at(coveragePath)
	})
	first := (page.Query.page - 1) * placesPerPage
	page.Places = found[first:min(first+placesPerPage, len(found))]
	for i := range page.Places {
		place := &page.Places[i]
		place.Save = page.Query.at(coveragePath + "/" + place.ID.String())
		place.Remove = page.Query.at(coveragePath + "/" + place.ID.String() + "/quitar")
		if wrong != nil && wrong.id == place.ID {
			place.Typed, place.Error = wrong.typed, wrong.error
		}
	}
	if page.Quote, err = p.quote(v); err != nil {
		return err
	}
	return p.show(v, status, "coverage", "Cobertura y tarifas", page)
}

func basePrice(operator *models.Operator) string {
	if operator.BasePrice == nil {
		return ""
	}
	return format.Amount(*operator.BasePrice, operator.Currency)
}

func (p *Pages) addCoverage(v *Request) error {
	form := coverageForm(v)
	return p.handle(v, form, func(in *jsonbody.Object) error {
		if _, err := p.Operators.Coverage().Create(v.Ctx(), v.Operator(), in); err != nil {
			return err
		}
		return p.done(v, coveragePath, "Lugar agregado a la cobertura.")
	}, func(status int) error { return p.showCoverage(v, status, form, nil) })
}

func (p *Pages) changeCoverage(v *Request) error {
	id, err := pathID(v, operators.ErrCoverageNotFound)
	if err != nil {
		return err
	}
	form := priceForm(nil)
	return p.handle(v, form, func(in *jsonbody.Object) error {
		_, err := p.Operators.Coverage().Change(v.Ctx(), v.Operator(), id, in, func(locked *models.Coverage) error {
			return requireSeen(form, priceForm(locked.Price))
		})
		if err != nil {
			return err
		}
		return p.done(v, readCoverageQuery(v).at(coveragePath), "Precio guardado.")
	}, func(status int) error {
		price := form.Fields[0]
		return p.showCoverage(v, status, coverageForm(v), &wrongPrice{id, price.Value, cmp.Or(price.Error, form.Failure)})
	})
}

func (p *Pages) removeCoverage(v *Request) error {
	id, err := pathID(v, operators.ErrCoverageNotFound)
	if err != nil {
		return err
	}
	if err := p.Operators.DeleteCoverage(v.Ctx(), v.Operator(), id); err != nil {
		return err
	}
	return p.done(v, readCoverageQuery(v).at(coveragePath), "Lugar quitado de la cobertura.")
}

// priceWords is a price as the list shows it.
func priceWords(price *money.Cents, operator *models.Operator) string {
	if price == nil {
		return "Precio base"
	}
	return format.Amount(*price, operator.Currency)
}
