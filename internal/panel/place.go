package panel

import (
	"context"
	"net/http"
	"strings"

	"despacho/internal/catalog"
	"despacho/internal/jsonbody"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/places"
)

const unknownPlace = "no hay ninguna ubicación con ese nombre"

// findPlace finds the id of a typed place. An ambiguous name becomes a list of suggestions.
func (p *Pages) findPlace(v *Request, f *forms.Field) (id, complaint string, err error) {
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
		f.Suggestions = places.Names(index, index.Similar(v.Operator().CountryCode, typed, places.MaxSimilar))
		if len(f.Suggestions) > 0 {
			return "", unknownPlace + ": " + places.DidYouMean(f.Suggestions), nil
		}
		return "", unknownPlace, nil
	}
	f.Suggestions = places.Names(index, found.All)
	return "", "elija una ubicación de la lista", nil
}

// suggestPlaces returns the places that match a partial name, for the autocompletion.
func (p *Pages) suggestPlaces(v *Request) error {
	index, err := p.Catalog.Index(v.Ctx())
	if err != nil {
		return err
	}
	v.JSON(http.StatusOK, places.Names(index, places.Like(index, v.Operator().CountryCode, v.Query("q"))))
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
	return index.FullName(place), nil
}

// destinations searches the places that the operator covers.
func (p *Pages) destinations(v *Request) (*places.Destinations, error) {
	choices, err := p.Orders.Choices(v.Ctx(), v.Caller)
	if err != nil {
		return nil, err
	}
	index, err := p.Catalog.Index(v.Ctx())
	if err != nil {
		return nil, err
	}
	return places.NewDestinations(index, v.Operator().CountryCode, choices), nil
}

// findDestination is findPlace for an order's destination. The order is created without another
// confirmation, so only an exact name is accepted.
func (p *Pages) findDestination(v *Request, f *forms.Field) (id, complaint string, err error) {
	typed := strings.TrimSpace(f.Value)
	f.Suggestions = nil
	if _, isID := jsonbody.ParseUUID(typed); typed == "" || isID {
		return typed, "", nil
	}
	destinations, err := p.destinations(v)
	if err != nil {
		return "", "", err
	}
	m := destinations.Match(typed)
	switch {
	case m.Place != nil && m.Exact:
		f.Value = destinations.Name(*m.Place)
		return m.Place.ID.String(), "", nil
	case m.Place != nil:
		f.Suggestions = []string{destinations.Name(*m.Place)}
		return "", "elija un destino de la lista", nil
	case m.OutOfReach:
		return "", places.OutOfReachDestination, nil
	case len(m.Similar) > 0:
		f.Suggestions = m.Similar
		return "", places.UnknownDestination + ": " + places.DidYouMean(f.Suggestions), nil
	case len(m.Names) == 0:
		return "", places.UnknownDestination, nil
	}
	f.Suggestions = m.Names[:min(len(m.Names), places.MaxSuggestions)]
	return "", "elija un destino de la lista", nil
}

// suggestDestinations returns the covered places that match a partial name, for the autocompletion.
func (p *Pages) suggestDestinations(v *Request) error {
	destinations, err := p.destinations(v)
	if err != nil {
		return err
	}
	v.JSON(http.StatusOK, destinations.Suggested(v.Query("q")))
	return nil
}
