package catalog

import (
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/textnorm"
)

// WrittenPlace is a place as people write it, in one text that ParsePlace reads or in several
// cells. The most precise of ID, Ubigeo and Name that is not empty counts.
type WrittenPlace struct {
	ID string
	// Ubigeo may lack its leading zero, which spreadsheet programs remove.
	Ubigeo string
	Name   string
	// Around are names of places that contain it: its department, or any of its ancestors.
	Around []string
	// City and Department are those of the place, if they are not empty.
	City, Department string
}

var (
	ubigeoAlone = regexp.MustCompile(`^\d{5,6}$`)
	// ubigeoAfter is the code at the end of a FullName.
	ubigeoAfter = regexp.MustCompile(`\((\d{5,6})\)$`)
)

// A longer text, or one with more names, is no place: it would be compared with all that it could
// mean, for whoever sends thousands of them.
const (
	maxWritten = 300 // bytes
	maxNames   = 6   // a zone, all that contain it, and one more
)

// ParsePlace reads an id, a ubigeo, a name, a name with the places around it such as "Zárate, San
// Juan de Lurigancho, Lima", or a FullName.
func ParsePlace(text string) WrittenPlace {
	text = strings.TrimSpace(text)
	if len(text) > maxWritten || strings.Count(text, ",") >= maxNames {
		return WrittenPlace{}
	}
	if _, ok := jsonbody.ParseUUID(text); ok {
		return WrittenPlace{ID: text}
	}
	if ubigeoAlone.MatchString(text) {
		return WrittenPlace{Ubigeo: text}
	}
	if code := ubigeoAfter.FindStringSubmatch(text); code != nil {
		return WrittenPlace{Ubigeo: code[1]}
	}
	names := strings.Split(text, ",")
	return WrittenPlace{Name: names[0], Around: names[1:]}
}

// PlaceMatches are the locations that a written place can mean.
type PlaceMatches struct {
	// Exact have the id, the ubigeo or exactly the name.
	Exact []Location
	// All also have those whose name contains the written one, the best first.
	All []Location
}

// Only returns the location that is meant, if that is clear: the only one of the exact name, or the
// only one that matches at all.
func (m PlaceMatches) Only() (Location, bool) {
	for _, found := range [][]Location{m.Exact, m.All} {
		if len(found) == 1 {
			return found[0], true
		}
	}
	return Location{}, false
}

// maxMatches is how many locations of matching names are looked at.
const maxMatches = 200

// Resolve finds what a written place means among the locations of the given types, or of all types.
// Names and codes are of the country; an id may be of another.
func (index *Index) Resolve(country string, place WrittenPlace, types ...LocationType) PlaceMatches {
	var found []Location
	switch {
	case place.ID != "":
		id, _ := jsonbody.ParseUUID(place.ID)
		if location, known := index.Location(id); known {
			found = []Location{location}
		}
	case place.Ubigeo != "":
		code := strings.Repeat("0", max(0, 6-len(place.Ubigeo))) + place.Ubigeo
		if location, known := index.ByUbigeo(country, code); known {
			found = []Location{location}
		}
	default:
		found = index.Search(country, place.Name, maxMatches)
	}
	found = slices.DeleteFunc(found, func(location Location) bool {
		return len(types) > 0 && !slices.Contains(types, location.Type)
	})
	if place.ID != "" || place.Ubigeo != "" {
		return PlaceMatches{Exact: found, All: found}
	}
	around := place.normalized()
	found = slices.DeleteFunc(found, func(location Location) bool { return !index.nodes[location.ID].liesIn(around) })
	return PlaceMatches{Exact: index.exact(found, place), All: found}
}

// exact returns the locations that have exactly the written name. A location whose FullName is
// written is the only one: "Lima" is the city, whose district is called "Lima, Lima (150101)".
func (index *Index) exact(found []Location, place WrittenPlace) []Location {
	name, full := textnorm.String(place.Name), textnorm.String(strings.Join(append([]string{place.Name}, place.Around...), ", "))
	var exact []Location
	for _, location := range found {
		n := index.nodes[location.ID]
		if strings.HasPrefix(full, n.paddedName[1:]) && textnorm.String(index.FullName(location)) == full {
			return []Location{location}
		}
		if n.paddedName[1:] == name || n.paddedAlias != "" && n.paddedAlias[1:] == name {
			exact = append(exact, location)
		}
	}
	return exact
}

// normalized is the place with the names around it normalized, and without the empty ones of
// Around.
func (p WrittenPlace) normalized() WrittenPlace {
	p.City, p.Department = textnorm.String(p.City), textnorm.String(p.Department)
	var around []string
	for _, name := range p.Around {
		if name = textnorm.String(name); name != "" {
			around = append(around, name)
		}
	}
	p.Around = around
	return p
}

// liesIn reports whether a location lies in all of the places that are written with it, whose names
// are normalized.
func (n *node) liesIn(place WrittenPlace) bool {
	if place.City != "" && textnorm.String(n.City) != place.City ||
		place.Department != "" && textnorm.String(n.Department) != place.Department {
		return false
	}
	for _, around := range place.Around {
		if !n.isAround(around) {
			return false
		}
	}
	return true
}

// isAround reports whether a normalized name is that of the location's department, or of a location
// that contains it.
func (n *node) isAround(name string) bool {
	for outer := n.parent; outer != nil; outer = outer.parent {
		if outer.paddedName[1:] == name {
			return true
		}
	}
	return textnorm.String(n.Department) == name
}

// FullName is a location's name that no other location of its country has: "Miraflores, Lima
// (150122)".
func (index *Index) FullName(location Location) string {
	name := index.PathName(location.ID)
	if name == "" {
		return location.Name
	}
	if location.Ubigeo != "" {
		name += " (" + location.Ubigeo + ")"
	}
	return name
}

// PathName is the names of a location and of those that contain it, up to the country: "Miraflores,
// Lima".
func (index *Index) PathName(id uuid.UUID) string {
	var names []string
	for _, around := range index.Ancestors(id) {
		if around.Type != TypeCountry {
			names = append(names, around.Name)
		}
	}
	return strings.Join(names, ", ")
}
