package panel

import (
	"errors"

	"despacho/internal/jsonbody"
	"despacho/orders"
)

// quoteView answers what it costs to send to a place.
type quoteView struct {
	// Destination is the question.
	Destination field
	// Name is the place that was asked for; empty where nothing was.
	Name string
	// Answer is nil where no order can go.
	Answer *orders.Quote
	// Through names the covered place that decides, where it is not the destination itself.
	Through string
}

// quote looks up what the address asks for.
func (p *Pages) quote(v *Request) (quoteView, error) {
	view := quoteView{Destination: field{
		Name: "destino", Label: "Distrito o zona", Kind: placeField, Value: v.Query("destino"), Required: true,
	}}
	typed, complaint, err := p.findPlace(v, &view.Destination)
	if err != nil {
		return view, err
	}
	if complaint != "" {
		view.Destination.Error = sentence(complaint)
		return view, nil
	}
	id, ok := jsonbody.ParseUUID(typed)
	if !ok {
		return view, nil
	}
	if view.Name, err = p.placeNamed(v.Ctx(), typed); err != nil {
		return view, err
	}
	if view.Name == "" {
		view.Destination.Error = sentence(unknownPlace)
		return view, nil
	}
	view.Destination.Value = view.Name
	view.Answer, err = p.Orders.Quote(v.Ctx(), v.Operator(), id)
	if errors.Is(err, orders.ErrNotCovered) {
		return view, nil
	}
	if err == nil && view.Answer.CoveredBy.ID != id {
		view.Through, err = p.placeNamed(v.Ctx(), view.Answer.CoveredBy.ID.String())
	}
	return view, err
}
