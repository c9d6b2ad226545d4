package panel

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"despacho/catalog"
	"despacho/internal/jsonbody"
	"despacho/internal/textnorm"
	"despacho/orders"
)

// destinations finds the districts and zones that people mean when they say where an order goes.
// Names are not unique, but an operator seldom delivers to two places of the same name: those that
// it delivers to come first.
type destinations struct {
	index   *catalog.Index
	country string
	choices *orders.Choices
	// known are the answers given so far: a file says the same few names over and over.
	known map[string]meaning
}

// meaning is what a text means.
type meaning struct {
	// Place is the one meant, nil where nothing or several can be.
	Place *catalog.Location
	// Exact says that the place is called what was typed, so that nobody has to be asked.
	Exact bool
	// Candidates are all that could be meant.
	Candidates []catalog.Location
}

func (p *Pages) destinations(v *Request) (*destinations, error) {
	choices, err := p.Orders.Choices(v.Ctx(), v.Caller)
	if err != nil {
		return nil, err
	}
	index, err := p.Catalog.Index(v.Ctx())
	if err != nil {
		return nil, err
	}
	return &destinations{index: index, country: v.Operator().CountryCode, choices: choices, known: map[string]meaning{}}, nil
}

// meant says what a text means: a name, a name with the places around it, or a ubigeo.
func (d *destinations) meant(typed string) meaning {
	if m, known := d.known[typed]; known {
		return m
	}
	m := d.search(typed)
	d.known[typed] = m
	return m
}

var (
	// ubigeoAlone may have lost its leading zero to a spreadsheet program.
	ubigeoAlone = regexp.MustCompile(`^\d{5,6}$`)
	ubigeoAfter = regexp.MustCompile(`\((\d{6})\)\s*$`)
)

func (d *destinations) search(typed string) meaning {
	if ubigeoAlone.MatchString(typed) {
		return d.byUbigeo(strings.Repeat("0", 6-len(typed)) + typed)
	}
	if code := ubigeoAfter.FindStringSubmatch(typed); code != nil {
		return d.byUbigeo(code[1])
	}
	name, around, _ := strings.Cut(typed, ",")
	found := slices.DeleteFunc(d.index.Search(d.country, name, maxMeant), func(place catalog.Location) bool {
		return place.Type == catalog.TypeCity || !d.liesIn(place, around)
	})
	named := slices.DeleteFunc(slices.Clone(found), func(place catalog.Location) bool { return textnorm.String(place.Name) != textnorm.String(name) })
	if place := d.only(named); place != nil {
		return meaning{Place: place, Exact: true, Candidates: found}
	}
	covered := d.covered(found)
	switch {
	case len(d.covered(named)) > 1:
		return meaning{Candidates: d.covered(named)}
	case len(covered) == 1:
		return meaning{Place: &covered[0], Exact: len(found) == 1, Candidates: found}
	case len(covered) > 1:
		return meaning{Candidates: covered}
	case len(named) == 1:
		return meaning{Place: &named[0], Exact: true, Candidates: found}
	case len(found) == 1:
		return meaning{Place: &found[0], Exact: true, Candidates: found}
	}
	return meaning{Candidates: found}
}

func (d *destinations) byUbigeo(code string) meaning {
	place, known := d.index.ByUbigeo(d.country, code)
	if !known {
		return meaning{}
	}
	return meaning{Place: &place, Exact: true}
}

// liesIn reports whether a place lies in all of the places named, as in "Zárate, San Juan de
// Lurigancho, Lima".
func (d *destinations) liesIn(place catalog.Location, around string) bool {
	surroundings := []string{textnorm.String(place.Department)}
	for _, outer := range d.index.Ancestors(place.ID)[1:] {
		surroundings = append(surroundings, textnorm.String(outer.Name))
	}
	for name := range strings.SplitSeq(around, ",") {
		if name := textnorm.String(name); name != "" && !slices.Contains(surroundings, name) {
			return false
		}
	}
	return true
}

// only is the single place of those with the same name that the operator delivers to; a district
// comes before the zones called like it.
func (d *destinations) only(named []catalog.Location) *catalog.Location {
	covered := d.covered(named)
	if len(covered) > 1 {
		covered = slices.DeleteFunc(covered, func(place catalog.Location) bool { return place.Type != catalog.TypeDistrict })
	}
	if len(covered) != 1 {
		return nil
	}
	return &covered[0]
}

func (d *destinations) covered(places []catalog.Location) []catalog.Location {
	return slices.DeleteFunc(slices.Clone(places), func(place catalog.Location) bool { return !d.choices.Covers(place.ID) })
}

func (d *destinations) coveredFirst(places []catalog.Location) []catalog.Location {
	others := slices.DeleteFunc(slices.Clone(places), func(place catalog.Location) bool { return d.choices.Covers(place.ID) })
	return append(d.covered(places), others...)
}

// name writes a place out.
func (d *destinations) name(place catalog.Location) string { return placeName(d.index, place) }

// maxOffered is how many districts are offered before anything is typed: more than any city has.
const maxOffered = 100

// offered are the districts that the operator delivers to, written out.
func (d *destinations) offered() []string {
	var names []string
	for _, district := range d.choices.Districts() {
		names = append(names, d.name(district))
	}
	return names[:min(len(names), maxOffered)]
}

// noPlace is said of a name that no place has.
const noPlace = "no hay ningún distrito o zona con ese nombre"

// findDestination is findPlace for where an order goes. Nobody looks over what was understood
// before the order is made, so that only an exact name is taken at its word.
func (p *Pages) findDestination(v *Request, f *field) (id, complaint string, err error) {
	typed := strings.TrimSpace(f.Value)
	f.Suggestions = nil
	if _, isID := jsonbody.ParseUUID(typed); typed == "" || isID {
		return typed, "", nil
	}
	places, err := p.destinations(v)
	if err != nil {
		return "", "", err
	}
	m := places.meant(typed)
	switch {
	case m.Place != nil && m.Exact:
		f.Value = places.name(*m.Place)
		return m.Place.ID.String(), "", nil
	case len(m.Candidates) == 0:
		return "", noPlace, nil
	}
	f.Suggestions = placeNames(places.index, places.coveredFirst(m.Candidates))
	return "", "elija un destino de la lista", nil
}

// suggestDestinations answers the script that completes a destination while it is typed, with
// places that the operator delivers to.
func (p *Pages) suggestDestinations(v *Request) error {
	places, err := p.destinations(v)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(v.Query("q"), ",")
	v.JSON(http.StatusOK, placeNames(places.index, places.covered(places.index.Search(places.country, name, maxMeant))))
	return nil
}
