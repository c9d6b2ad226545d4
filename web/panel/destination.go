package panel

import (
	"net/http"
	"slices"
	"strings"

	"despacho/catalog"
	"despacho/internal/jsonbody"
	"despacho/orders"
)

// destinations finds the district or zone of a typed destination. Names are not unique, but an
// operator seldom delivers to two places of the same name: those that it covers come first.
type destinations struct {
	index   *catalog.Index
	country string
	choices *orders.Choices
	// known caches the results: a file repeats the same few names.
	known map[string]placeMatch
}

// placeMatch is the result of a search.
type placeMatch struct {
	// Place is the only possible place, or nil.
	Place *catalog.Location
	// Exact means that the place has exactly the typed name, so that no confirmation is needed.
	Exact bool
	// Candidates are all possible places.
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
	return &destinations{index: index, country: v.Operator().CountryCode, choices: choices, known: map[string]placeMatch{}}, nil
}

// match finds the place that catalog.ParsePlace reads.
func (d *destinations) match(typed string) placeMatch {
	if m, known := d.known[typed]; known {
		return m
	}
	m := d.search(typed)
	d.known[typed] = m
	return m
}

func (d *destinations) search(typed string) placeMatch {
	matches := d.index.Resolve(d.country, catalog.ParsePlace(typed), catalog.TypeDistrict, catalog.TypeZone)
	named, found := matches.Exact, matches.All
	if place := d.only(named); place != nil {
		return placeMatch{Place: place, Exact: true, Candidates: found}
	}
	covered := d.covered(found)
	switch {
	case len(d.covered(named)) > 1:
		return placeMatch{Candidates: d.covered(named)}
	case len(covered) == 1:
		return placeMatch{Place: &covered[0], Exact: len(found) == 1, Candidates: found}
	case len(covered) > 1:
		return placeMatch{Candidates: covered}
	}
	if place, clear := matches.Only(); clear {
		return placeMatch{Place: &place, Exact: true, Candidates: found}
	}
	return placeMatch{Candidates: found}
}

// only returns the single covered place among those with the same name; a district is preferred to
// a zone of the same name.
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

// name is the unambiguous name of a place.
func (d *destinations) name(place catalog.Location) string { return d.index.FullName(place) }

// maxOffered is how many districts are suggested before anything is typed: more than any city has.
const maxOffered = 100

// offered are the names of the covered districts.
func (d *destinations) offered() []string {
	var names []string
	for _, district := range d.choices.Districts() {
		names = append(names, d.name(district))
	}
	return names[:min(len(names), maxOffered)]
}

// noPlace is the message for an unknown name.
const noPlace = "no hay ningún distrito o zona con ese nombre"

// findDestination is findPlace for an order's destination. The order is created without another
// confirmation, so only an exact name is accepted.
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
	m := places.match(typed)
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

// suggestDestinations returns the covered places that match a partial name, for the autocompletion.
func (p *Pages) suggestDestinations(v *Request) error {
	places, err := p.destinations(v)
	if err != nil {
		return err
	}
	v.JSON(http.StatusOK, placeNames(places.index, places.covered(placesLike(v, places.index))))
	return nil
}
