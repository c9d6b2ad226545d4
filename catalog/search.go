package catalog

import (
	"strings"

	"despacho/internal/textnorm"
)

// match is how well a name answers a search, the best first.
type match int

const (
	matchExact match = iota
	matchPrefix
	matchWordPrefix
	matchInside
	matchKinds // their number, and the mark of a name that does not answer
)

// Search returns at most limit cities, districts and zones of a country whose name
// answers q, accents, case and punctuation ignored. First the names that are q,
// then those that begin with it, those with a later word that begins with it, and
// those with it anywhere. Among equals districts come first, then zones, then
// cities, each by name and department.
func (index *Index) Search(country, q string, limit int) []Location {
	q = textnorm.String(q)
	if q == "" || limit <= 0 {
		return nil
	}
	paddedQuery := " " + q
	var found [matchKinds][]*node
	for _, n := range index.searchable[strings.ToUpper(country)] {
		if kind := matchName(n.paddedName, paddedQuery); kind < matchKinds && len(found[kind]) < limit {
			found[kind] = append(found[kind], n)
		}
	}
	var best []*node
	for _, nodes := range found {
		best = append(best, nodes[:min(len(nodes), limit-len(best))]...)
	}
	return locationsOf(best)
}

// matchName compares a padded name with a query padded alike: the space that comes
// before every word tells its beginning from its inside.
func matchName(paddedName, paddedQuery string) match {
	switch at := strings.Index(paddedName, paddedQuery); {
	case at == 0 && len(paddedName) == len(paddedQuery):
		return matchExact
	case at == 0:
		return matchPrefix
	case at > 0:
		return matchWordPrefix
	case strings.Contains(paddedName, paddedQuery[1:]):
		return matchInside
	}
	return matchKinds
}

// searchPreference puts what an order can go to before cities.
var searchPreference = []LocationType{TypeDistrict, TypeZone, TypeCity}
