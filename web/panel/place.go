package panel

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"despacho/catalog"
	"despacho/internal/jsonbody"
	"despacho/internal/textnorm"
)

// maxSuggestions is how many places are suggested at once.
const maxSuggestions = 20

// maxMatches is how many places of the same name are searched.
const maxMatches = 200

// placeName is a unique name of a place: Miraflores, Lima (150122).
func placeName(index *catalog.Index, place catalog.Location) string {
	name := placePath(index, place.ID)
	if name == "" {
		return place.Name
	}
	if place.Ubigeo != "" {
		name += " (" + place.Ubigeo + ")"
	}
	return name
}

// placePath is the name of a place and of those that contain it, up to the country: Miraflores,
// Lima.
func placePath(index *catalog.Index, id uuid.UUID) string {
	var names []string
	for _, around := range index.Ancestors(id) {
		if around.Type != catalog.TypeCountry {
			names = append(names, around.Name)
		}
	}
	return strings.Join(names, ", ")
}

const unknownPlace = "no hay ninguna ubicación con ese nombre"

// matchPlaces finds the places that match a name, in the form of placeName or partial, or a ubigeo:
// a single one if it is clear.
func matchPlaces(index *catalog.Index, country, typed string) []catalog.Location {
	if place, known := index.ByUbigeo(country, typed); known {
		return []catalog.Location{place}
	}
	// The code in parentheses is added by placeName; people search by name.
	name, _, _ := strings.Cut(typed, "(")
	first, _, _ := strings.Cut(name, ",")
	found := index.Search(country, first, maxMatches)
	var named []catalog.Location
	for _, place := range found {
		if textnorm.String(placeName(index, place)) == textnorm.String(typed) {
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
	found := matchPlaces(index, v.Operator().CountryCode, typed)
	switch len(found) {
	case 0:
		return "", unknownPlace, nil
	case 1:
		return found[0].ID.String(), "", nil
	}
	f.Suggestions = placeNames(index, found)
	return "", "elija una ubicación de la lista", nil
}

func placeNames(index *catalog.Index, places []catalog.Location) []string {
	names := make([]string, min(len(places), maxSuggestions))
	for i := range names {
		names[i] = placeName(index, places[i])
	}
	return names
}

// suggestPlaces returns the places that match a partial name, for the autocompletion.
func (p *Pages) suggestPlaces(v *Request) error {
	index, err := p.Catalog.Index(v.Ctx())
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(v.Query("q"), ",")
	v.JSON(http.StatusOK, placeNames(index, index.Search(v.Operator().CountryCode, name, maxSuggestions)))
	return nil
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
	return placeName(index, place), nil
}
