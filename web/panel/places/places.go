// Package places finds locations of the catalog by what people type, and writes their names.
package places

import (
	"strings"

	"github.com/google/uuid"

	"despacho/catalog"
	"despacho/internal/textnorm"
)

// MaxSuggestions is how many places are suggested at once.
const MaxSuggestions = 20

// maxMatches is how many places of the same name are searched.
const maxMatches = 200

// Name is a unique name of a place: Miraflores, Lima (150122).
func Name(index *catalog.Index, place catalog.Location) string {
	name := Path(index, place.ID)
	if name == "" {
		return place.Name
	}
	if place.Ubigeo != "" {
		name += " (" + place.Ubigeo + ")"
	}
	return name
}

// Path is the name of a place and of those that contain it, up to the country: Miraflores,
// Lima.
func Path(index *catalog.Index, id uuid.UUID) string {
	var names []string
	for _, around := range index.Ancestors(id) {
		if around.Type != catalog.TypeCountry {
			names = append(names, around.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Find finds the places that match a name, in the form of Name or partial, or a ubigeo:
// a single one if it is clear.
func Find(index *catalog.Index, country, typed string) []catalog.Location {
	if place, known := index.ByUbigeo(country, typed); known {
		return []catalog.Location{place}
	}
	// The code in parentheses is added by Name; people search by name.
	name, _, _ := strings.Cut(typed, "(")
	first, _, _ := strings.Cut(name, ",")
	found := index.Search(country, first, maxMatches)
	var named []catalog.Location
	for _, place := range found {
		if textnorm.String(Name(index, place)) == textnorm.String(typed) {
			return []catalog.Location{place}
		}
		if textnorm.String(place.Name) == textnorm.String(typed) {
			named = append(named, place)
		}
	}
	if len(named) == 1 {
		return named
	}
	return found
}

// Names are the names of the first places, as many as are suggested at once.
func Names(index *catalog.Index, places []catalog.Location) []string {
	names := make([]string, min(len(places), MaxSuggestions))
	for i := range names {
		names[i] = Name(index, places[i])
	}
	return names
}
