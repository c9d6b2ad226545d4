package panel

import (
	"context"
	"net/http"
	"strings"

	"despacho/catalog"
	"despacho/internal/jsonbody"
)

// maxSuggestions is how many places are suggested at once.
const maxSuggestions = 20

const unknownPlace = "no hay ninguna ubicación con ese nombre"

// findPlace finds the id of a typed place. An ambiguous name becomes a list of suggestions.
func (p *Pages) findPlace(v *Request, f *field) (id, complaint string, err error) {
	typed := strings.TrimSpace(f.Value)
	if _, isID := jsonbody.ParseUUID(typed); typed == "" || isID {
		return typed, "", nil
	}
	index, err := p.Catalog.Index(v.Ctx())
	if err != nil {
		return "", "", err
	}
	found := index.Resolve(v.Operator().CountryCode, catalog.ParsePlace(typed))
	if place, clear := found.Only(); clear {
		return place.ID.String(), "", nil
	}
	if len(found.All) == 0 {
		return "", unknownPlace, nil
	}
	f.Suggestions = placeNames(index, found.All)
	return "", "elija una ubicación de la lista", nil
}

func placeNames(index *catalog.Index, places []catalog.Location) []string {
	names := make([]string, min(len(places), maxSuggestions))
	for i := range names {
		names[i] = index.FullName(places[i])
	}
	return names
}

// suggestPlaces returns the places that match a partial name, for the autocompletion.
func (p *Pages) suggestPlaces(v *Request) error {
	index, err := p.Catalog.Index(v.Ctx())
	if err != nil {
		return err
	}
	v.JSON(http.StatusOK, placeNames(index, placesLike(v, index)))
	return nil
}

// placesLike are the places that match the partial name in the query. What follows its comma may be
// unfinished and does not count.
func placesLike(v *Request, index *catalog.Index) []catalog.Location {
	name, _, _ := strings.Cut(v.Query("q"), ",")
	return index.Resolve(v.Operator().CountryCode, catalog.WrittenPlace{Name: name}).All
}

// placeNamed is the reverse of findPlace, for a form that shows a stored place.
func (p *Pages) placeNamed(ctx context.Context, id string) (string, error) {
	parsed, ok := jsonbody.ParseUUID(id)
	if !ok {
		return "", nil
	}
	index, err := p.Catalog.Index(ctx)
	if err != nil {
		return "", err
	}
	place, known := index.Location(parsed)
	if !known {
		return "", nil
	}
	return index.FullName(place), nil
}
