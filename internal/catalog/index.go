package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/textnorm"
)

// Index looks up countries and locations in memory. It is immutable, so it is safe for concurrent
// use.
//
// Country codes may be in either case. The returned locations share their pointers with the index
// and must not be modified through them.
type Index struct {
	countries     []Country
	countryByCode map[string]Country
	nodes         map[uuid.UUID]*node
	byUbigeo      map[countryKey]*node
	cityByName    map[countryKey]*node
	searchable    map[string][]*node // by country, in the order of ties
}

// node is a location in the tree.
type node struct {
	Location
	paddedName  string // normalized, after a space: see matchName
	paddedAlias string // likewise; empty if it has none
	parent      *node
	children    []*node // sorted by name
}

// countryKey is a code or a normalized name within a country.
type countryKey struct{ country, text string }

// DistrictZones is a district with its zones.
type DistrictZones struct {
	District Location
	Zones    []Location
}

// NewIndex builds the index; the order of its arguments does not matter. Of several locations with
// the same id the first is used. A location whose parent is missing, or is not of a larger type,
// has no parent.
func NewIndex(countries []Country, locations []Location) *Index {
	index := &Index{
		countries:     sortedCountries(countries),
		countryByCode: make(map[string]Country, len(countries)),
		nodes:         make(map[uuid.UUID]*node, len(locations)),
		byUbigeo:      make(map[countryKey]*node, len(locations)),
		cityByName:    map[countryKey]*node{},
		searchable:    map[string][]*node{},
	}
	for _, country := range index.countries {
		index.countryByCode[country.Code] = country
	}
	sorted := index.addNodes(locations)
	slices.SortFunc(sorted, compareNodes)
	for _, n := range sorted {
		index.link(n)
	}
	return index
}

func sortedCountries(countries []Country) []Country {
	sorted := slices.Clone(countries)
	slices.SortFunc(sorted, func(a, b Country) int {
		return cmp.Or(textnorm.Compare(a.Name, b.Name), cmp.Compare(a.Code, b.Code))
	})
	return sorted
}

func (index *Index) addNodes(locations []Location) []*node {
	added := make([]*node, 0, len(locations))
	for _, location := range locations {
		if _, repeated := index.nodes[location.ID]; repeated {
			continue
		}
		n := &node{Location: location, paddedName: " " + textnorm.String(location.Name)}
		if location.Alias != "" {
			n.paddedAlias = " " + textnorm.String(location.Alias)
		}
		index.nodes[location.ID] = n
		added = append(added, n)
	}
	return added
}

// link adds a node to the lookup tables. Nodes come in the order of compareNodes, which the lists
// keep.
func (index *Index) link(n *node) {
	// A parent must be of a larger type, so there are no cycles.
	if parent := index.parentOf(n); parent != nil && parent.Type.depth() < n.Type.depth() {
		n.parent = parent
		parent.children = append(parent.children, n)
	}
	if n.Ubigeo != "" {
		setFirst(index.byUbigeo, countryKey{n.CountryCode, n.Ubigeo}, n)
	}
	if n.Type == TypeCity {
		setFirst(index.cityByName, countryKey{n.CountryCode, n.paddedName[1:]}, n)
	}
	if n.Type != TypeCountry {
		index.searchable[n.CountryCode] = append(index.searchable[n.CountryCode], n)
	}
}

func (index *Index) parentOf(n *node) *node {
	if n.ParentID == nil {
		return nil
	}
	return index.nodes[*n.ParentID]
}

func setFirst(nodes map[countryKey]*node, key countryKey, n *node) {
	if _, taken := nodes[key]; !taken {
		nodes[key] = n
	}
}

// compareNodes orders locations by type as a search prefers them (an order goes to a district or
// zone), then by name, then by location.
func compareNodes(a, b *node) int {
	return cmp.Or(
		cmp.Compare(slices.Index(searchPreference, a.Type), slices.Index(searchPreference, b.Type)),
		cmp.Compare(a.paddedName, b.paddedName),
		cmp.Compare(a.Department, b.Department),
		cmp.Compare(a.City, b.City),
		slices.Compare(a.ID[:], b.ID[:]),
	)
}

// Countries returns the countries sorted by name.
func (index *Index) Countries() []Country {
	return slices.Clone(index.countries)
}

// Country returns the country of a code.
func (index *Index) Country(code string) (Country, bool) {
	country, found := index.countryByCode[strings.ToUpper(code)]
	return country, found
}

// Location returns the location of an id.
func (index *Index) Location(id uuid.UUID) (Location, bool) {
	n, found := index.nodes[id]
	if !found {
		return Location{}, false
	}
	return n.Location, true
}

// Ancestors returns the location of an id and all that contain it, itself first and its country
// last; nil for an unknown id.
func (index *Index) Ancestors(id uuid.UUID) []Location {
	var path []Location
	for n := index.nodes[id]; n != nil; n = n.parent {
		path = append(path, n.Location)
	}
	return path
}

// Children returns the locations directly in another one, sorted by name.
func (index *Index) Children(id uuid.UUID) []Location {
	n, found := index.nodes[id]
	if !found {
		return nil
	}
	return locationsOf(n.children)
}

// Tree returns the districts of some cities with their zones, both sorted by name.
func (index *Index) Tree(cityIDs ...uuid.UUID) []DistrictZones {
	var districts []*node
	for _, id := range cityIDs {
		city, found := index.nodes[id]
		if !found {
			continue
		}
		for _, child := range city.children {
			if child.Type == TypeDistrict {
				districts = append(districts, child)
			}
		}
	}
	slices.SortFunc(districts, compareNodes)
	districts = slices.Compact(districts) // a city may be given twice
	tree := make([]DistrictZones, len(districts))
	for i, district := range districts {
		tree[i] = DistrictZones{District: district.Location, Zones: locationsOf(district.children)}
	}
	return tree
}

// Cities returns the cities that contain one of the locations, and every city of a country among
// them, each once and sorted by name.
func (index *Index) Cities(ids []uuid.UUID) []Location {
	var cities []*node
	for _, id := range ids {
		for n := index.nodes[id]; n != nil; n = n.parent {
			switch n.Type {
			case TypeCity:
				cities = append(cities, n)
			case TypeCountry:
				if n.ID == id {
					cities = append(cities, n.children...)
				}
			}
		}
	}
	slices.SortFunc(cities, compareNodes)
	return locationsOf(slices.Compact(cities))
}

// CityByNameOrID returns the city of a country with the name, ignoring accents and case, or with
// the id. Where cities share a name it is that of the first department in alphabetical order; the
// others can be found by id.
func (index *Index) CityByNameOrID(country, text string) (Location, bool) {
	country = strings.ToUpper(country)
	if id, err := uuid.Parse(text); err == nil {
		n, found := index.nodes[id]
		if !found || n.Type != TypeCity || n.CountryCode != country {
			return Location{}, false
		}
		return n.Location, true
	}
	return lookup(index.cityByName, countryKey{country, textnorm.String(text)})
}

// ByUbigeo returns the district of a country that has a ubigeo.
func (index *Index) ByUbigeo(country, code string) (Location, bool) {
	return lookup(index.byUbigeo, countryKey{strings.ToUpper(country), code})
}

func lookup(nodes map[countryKey]*node, key countryKey) (Location, bool) {
	n, found := nodes[key]
	if !found {
		return Location{}, false
	}
	return n.Location, true
}

// locationsOf is never nil, so that no zones are an empty list in JSON too.
func locationsOf(nodes []*node) []Location {
	locations := make([]Location, len(nodes))
	for i, n := range nodes {
		locations[i] = n.Location
	}
	return locations
}
