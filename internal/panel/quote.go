package panel

import (
	"errors"

	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/neworder"
)

// quoteView is the price of a destination.
type quoteView struct {
	// Destination and Store are the form's fields; Store has no options without stores.
	Destination, Store forms.Field
	// Name is the requested place; empty if there is none.
	Name string
	// Quote is nil where the operator does not deliver.
	Quote *orders.Quote
	// Through is the covered place that sets the price, where it is not the destination itself.
	Through string
}

// quote looks up the destination in the URL.
func (p *Pages) quote(v *Request) (quoteView, error) {
	view := quoteView{Destination: forms.Field{
		Name: "destino", Label: "Distrito", Kind: forms.Place, Value: v.Query("destino"), Required: true,
	}}
	stores, err := p.DB.StoresOf(v.Ctx(), v.Operator().ID, nil)
	if err != nil {
		return view, err
	}
	view.Store = forms.Field{Name: "tienda", Label: "Tienda", Kind: forms.Choice, Value: v.Query("tienda")}
	if len(stores) > 0 {
		view.Store.Options = forms.StoreOptions(neworder.NoStore, stores, "")
	}
	typed, complaint, err := p.findPlace(v, &view.Destination)
	if err != nil {
		return view, err
	}
	if complaint != "" {
		view.Destination.Error = forms.Sentence(complaint)
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
		view.Destination.Error = forms.Sentence(unknownPlace)
		return view, nil
	}
	view.Destination.Value = view.Name
	view.Quote, err = p.Orders.Quote(v.Ctx(), v.Operator(), optionalID(view.Store.Value), id)
	if errors.Is(err, orders.ErrNotCovered) {
		return view, nil
	}
	if err == nil && view.Quote.CoveredBy.ID != id {
		view.Through, err = p.placeNamed(v.Ctx(), view.Quote.CoveredBy.ID.String())
	}
	return view, err
}
