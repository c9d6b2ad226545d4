package catalog

import (
	"strings"

	"despacho/internal/textnorm"
)

// match is how well a name matches a search, the best first.
type match int

const (
	matchExact match = iota
	matchPrefix
	matchWordPrefix
	matchInside
	matchKinds // the number of matches; as a match, none
)

// Search returns at most limit cities, districts and zones of a country whose name or alias matches
// q, ignoring accents, case and punctuation. Exact matches come first, then names with q as a
// prefix, then those with a later word that starts with q, then those that contain q. Ties are
// ordered by type (districts, zones, cities), name and department.
func (index *Index) Search(country, q string, limit int) []Location {
	q = textnorm.String(q)
	if q == "" || limit <= 0 {
		return nil
	}
	paddedQuery := " " + q
	var found [matchKinds][]*node
	for _, n := range index.searchable[strings.ToUpper(country)] {
		if kind := min(matchName(n.paddedName, paddedQuery), matchName(n.paddedAlias, paddedQuery)); kind < matchKinds &&
			len(found[kind]) < limit {
			found[kind] = append(found[kind], n)
		}
	}
	var best []*node
	for _, nodes := range found {
		best = append(best, nodes[:min(len(nodes), limit-len(best))]...)
	}
	return locationsOf(best)
}

// matchName compares a padded name with a padded query: the space before every word distinguishes
// its start from its inside.
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

// searchPreference puts the types that an order can be sent to before cities.
var searchPreference = []LocationType{TypeDistrict, TypeZone, TypeCity}
