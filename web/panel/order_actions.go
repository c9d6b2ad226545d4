package panel

import (
	"errors"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/photos"
	"despacho/orders"
	"despacho/web/panel/forms"
)

func (p *Pages) receiveOrder(v *Request) error {
	return p.runAction(v, receiveForm(uuid.Nil, nil, uuid.Nil), func(id uuid.UUID, in *jsonbody.Object) (string, error) {
		branchID := in.UUID("branch_id")
		if err := in.Err(); err != nil {
			return "", err
		}
		_, err := p.Orders.Receive(v.Ctx(), v.Caller, id, branchID)
		return "Pedido recibido.", err
	})
}

func (p *Pages) assignOrder(v *Request) error {
	return p.runAction(v, assignForm(uuid.Nil, nil, 0), func(id uuid.UUID, in *jsonbody.Object) (string, error) {
		riderID, expected := in.RequiredUUID("rider_id"), in.Count("expected_version")
		if err := in.Err(); err != nil {
			return "", err
		}
		order, err := p.Orders.Assign(v.Ctx(), v.Caller, id, riderID, expected)
		if err != nil {
			return "", err
		}
		return "Pedido asignado a " + order.Rider.Name + ".", nil
	})
}

func (p *Pages) cancelOrder(v *Request) error {
	return p.runAction(v, cancelForm(uuid.Nil), func(id uuid.UUID, in *jsonbody.Object) (string, error) {
		why, err := orders.ReadCancellation(in)
		if err != nil {
			return "", err
		}
		_, err = p.Orders.Cancel(v.Ctx(), v.Caller, id, why)
		return "Pedido cancelado.", err
	})
}

func (p *Pages) setPoint(v *Request) error {
	return p.runAction(v, pointForm(uuid.Nil, nil, nil), func(id uuid.UUID, in *jsonbody.Object) (string, error) {
		lat, lng := orders.ReadRequiredPoint(in, "lat", "lng")
		if err := in.Err(); err != nil {
			return "", err
		}
		_, err := p.Orders.SetPoint(v.Ctx(), v.Caller, id, lat, lng)
		return "Punto guardado.", err
	})
}

// deliverOrder reads its form itself, because of the photo.
func (p *Pages) deliverOrder(v *Request) error {
	id, err := pathOrder(v)
	if err != nil {
		return err
	}
	in, photo, err := photos.ReadForm(v.Request)
	if err == nil {
		_, err = p.Orders.Deliver(v.Ctx(), v.Caller, id, in, photo)
	}
	return p.redirectBack(v, id, deliverForm(id), "Pedido entregado.", err)
}

// runAction reads a form of the order's page, runs the action, and redirects back to the page with
// the result.
func (p *Pages) runAction(v *Request, form *forms.Form, act func(uuid.UUID, *jsonbody.Object) (message string, err error)) error {
	id, err := pathOrder(v)
	if err != nil {
		return err
	}
	message := ""
	in, err := p.readForm(v, form)
	if err == nil {
		message, err = act(id, in)
	}
	return p.redirectBack(v, id, form, message, err)
}

func (p *Pages) redirectBack(v *Request, id uuid.UUID, form *forms.Form, message string, err error) error {
	if err == nil {
		return p.done(v, orderPath(id), message)
	}
	if errors.Is(err, orders.ErrOrderNotFound) {
		return err
	}
	return p.refused(v, orderPath(id), form.WithLabels(err))
}
