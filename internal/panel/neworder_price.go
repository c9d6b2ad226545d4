package panel

import (
	"cmp"
	"errors"
	"strings"

	"despacho/internal/orders"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/neworder"
	"despacho/internal/panel/places"
)

const newOrderPricePath = "/panel/pedidos/tarifa"

// newOrderPrice is what an order would cost as far as its form is filled in.
type newOrderPrice struct {
	// Place is the destination as it is understood; empty if it is not clear yet.
	Place    string
	Estimate *orders.Estimate
	Currency string
	// Problem is why no order can be sent there.
	Problem string
}

// priceNewOrder shows the price while a form is filled in.
func (p *Pages) priceNewOrder(v *Request) error {
	price, err := p.newOrderPrice(v, strings.TrimSpace(v.Query("location_id")))
	if err != nil {
		return err
	}
	return p.showPart(v, "new_order", "price", price)
}

func (p *Pages) newOrderPrice(v *Request, typed string) (newOrderPrice, error) {
	price := newOrderPrice{Currency: v.Operator().Currency}
	if typed == "" {
		return price, nil
	}
	destinations, err := p.destinations(v)
	if err != nil {
		return price, err
	}
	m := destinations.Match(typed)
	switch {
	case m.OutOfReach:
		price.Problem = forms.Sentence(places.OutOfReachDestination)
		return price, nil
	case m.Place == nil && len(m.Names) == 0 && len(m.Similar) == 0:
		price.Problem = forms.Sentence(places.UnknownDestination)
		return price, nil
	case m.Place == nil:
		return price, nil
	}
	price.Estimate, err = p.Orders.Estimate(v.Ctx(), v.Operator(), orders.Estimated{
		StoreID: cmp.Or(v.Caller.StoreID, optionalID(v.Query("store_id"))), LocationID: m.Place.ID,
		Size: v.Query("size"), Address: v.Query("delivery_address"),
	})
	if errors.Is(err, orders.ErrNotCovered) || errors.Is(err, orders.ErrNoTariff) {
		price.Problem = forms.Sentence(neworder.ForDestination(err))
		return price, nil
	}
	price.Place = destinations.Name(*m.Place)
	return price, err
}
