// Package places finds locations of the catalog by what people type in the panel's forms and files.
package places

import (
	"strings"

	"despacho/internal/catalog"
)

// MaxSuggestions is how many places are suggested at once.
const MaxSuggestions = 20

// MaxSimilar is how many places with a similar name are suggested.
const MaxSimilar = 5

// DidYouMean asks about the names of places that are similar to an unknown one.
func DidYouMean(names []string) string { return "¿quiso decir " + strings.Join(names, " o ") + "?" }

// Like are the places that match a partial name. What follows its comma may be unfinished and does
// not count.
func Like(index *catalog.Index, country, typed string) []catalog.Location {
	name, _, _ := strings.Cut(typed, ",")
	return index.Resolve(country, catalog.WrittenPlace{Name: name}).All
}

// Names are the names of the first places, as many as are suggested at once.
func Names(index *catalog.Index, places []catalog.Location) []string {
	names := make([]string, min(len(places), MaxSuggestions))
	for i := range names {
		names[i] = index.FullName(places[i])
	}
	return names
}
