package places

import (
	"slices"

	"despacho/internal/catalog"
	"despacho/internal/orders"
)

// Destinations finds the district or zone of a typed destination. Names are not unique, but an
// operator seldom delivers to two places of the same name: those that it covers come first.
type Destinations struct {
	index   *catalog.Index
	country string
	// Choices are what the operator offers for a new order, its coverage among it.
	Choices *orders.Choices
	// known caches the results: a file repeats the same few names.
	known map[string]Match
	// unknown is how many names similar ones were looked for.
	unknown int
}

// maxUnknown is for how many names of a file similar ones are looked for. Each is compared with
// all places; a file with more of them has another mistake.
const maxUnknown = 50

// Match is the result of a search.
type Match struct {
	// Place is the only possible place, or nil.
	Place *catalog.Location
	// Exact means that the place has exactly the typed name, so that no confirmation is needed.
	Exact bool
	// Names are those of the possible places that the operator covers, where Place is nil.
	Names []string
	// OutOfReach means that several places have the name and the operator covers none of them.
	OutOfReach bool
	// Similar are the names of covered places with a similar one, if no place has the name.
	Similar []string
}

// maxCompared is how many places with a similar name are looked at for those that are covered.
const maxCompared = 10 * MaxSimilar

// The messages for a name that no place has, and for one that only places have which the operator
// does not cover.
const (
	UnknownDestination    = "no hay ningún distrito o zona con ese nombre"
	OutOfReachDestination = "el operador no llega a ningún lugar con ese nombre"
)

// NewDestinations searches in a country for places that the choices' operator covers.
func NewDestinations(index *catalog.Index, country string, choices *orders.Choices) *Destinations {
	return &Destinations{index: index, country: country, Choices: choices, known: map[string]Match{}}
}

// Match finds the place that catalog.ParsePlace reads.
func (d *Destinations) Match(typed string) Match {
	if m, known := d.known[typed]; known {
		return m
	}
	m := d.search(typed)
	if m.Place == nil && len(m.Names) == 0 && !m.OutOfReach && d.unknown < maxUnknown {
		d.unknown++
		similar := d.covered(d.index.Similar(d.country, typed, maxCompared, catalog.TypeDistrict, catalog.TypeZone))
		m.Similar = d.names(similar[:min(len(similar), MaxSimilar)])
	}
	d.known[typed] = m
	return m
}

func (d *Destinations) search(typed string) Match {
	matches := d.index.Resolve(d.country, catalog.ParsePlace(typed), catalog.TypeDistrict, catalog.TypeZone)
	named, found := matches.Exact, matches.All
	if place := d.only(named); place != nil {
		return Match{Place: place, Exact: true}
	}
	covered := d.covered(found)
	switch {
	case len(d.covered(named)) > 1:
		return Match{Names: d.names(d.covered(named))}
	case len(covered) == 1:
		return Match{Place: &covered[0], Exact: len(found) == 1}
	case len(covered) > 1:
		return Match{Names: d.names(covered)}
	}
	if place, clear := matches.Only(); clear {
		return Match{Place: &place, Exact: true}
	}
	return Match{OutOfReach: len(found) > 0}
}

// only returns the single covered place among those with the same name; a district is preferred to
// a zone of the same name.
func (d *Destinations) only(named []catalog.Location) *catalog.Location {
	covered := d.covered(named)
	if len(covered) > 1 {
		covered = slices.DeleteFunc(covered, func(place catalog.Location) bool { return place.Type != catalog.TypeDistrict })
	}
	if len(covered) != 1 {
		return nil
	}
	return &covered[0]
}

func (d *Destinations) covered(places []catalog.Location) []catalog.Location {
	return slices.DeleteFunc(slices.Clone(places), func(place catalog.Location) bool { return !d.Choices.Covers(place.ID) })
}

// Name is the unambiguous name of a place.
func (d *Destinations) Name(place catalog.Location) string { return d.index.FullName(place) }

// maxOffered is how many districts are suggested before anything is typed: more than any city has.
const maxOffered = 100

// Offered are the names of the covered districts.
func (d *Destinations) Offered() []string {
	var names []string
	for _, district := range d.Choices.Districts() {
		names = append(names, d.Name(district))
	}
	return names[:min(len(names), maxOffered)]
}

// Example is a covered district with a unique name.
func (d *Destinations) Example() string {
	for _, district := range d.Choices.Districts() {
		if m := d.Match(district.Name); m.Place != nil && m.Place.ID == district.ID {
			return district.Name
		}
	}
	return "Miraflores, Lima"
}

// Suggested are the names of the covered places that match a partial name.
func (d *Destinations) Suggested(typed string) []string {
	return Names(d.index, d.covered(Like(d.index, d.country, typed)))
}

func (d *Destinations) names(places []catalog.Location) []string {
	names := make([]string, len(places))
	for i, place := range places {
		names[i] = d.Name(place)
	}
	return names
}
