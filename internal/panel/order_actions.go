package panel

import (
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/panel/forms"
	"despacho/models"
)

func (p *Pages) receiveOrder(v *Request) error {
	return p.runAction(v, func(id uuid.UUID) *forms.Form { return receiveForm(id, nil, uuid.Nil) },
		func(order *models.OrderView, in *jsonbody.Object) (string, error) {
			branchID := in.UUID("branch_id")
			if err := in.Err(); err != nil {
				return "", err
			}
			_, err := p.Orders.Receive(v.Ctx(), v.Caller, order, branchID)
			return "Pedido recibido.", err
		})
}

func (p *Pages) assignOrder(v *Request) error {
	return p.runAction(v, func(id uuid.UUID) *forms.Form { return assignForm(id, nil, 0) },
		func(order *models.OrderView, in *jsonbody.Object) (string, error) {
			riderID, expected := in.RequiredUUID("rider_id"), in.Int(orders.ExpectedVersion)
			if err := in.Err(); err != nil {
				return "", err
			}
			assigned, err := p.Orders.Assign(v.Ctx(), v.Caller, order, riderID, expected)
			if err != nil {
				return "", err
			}
			warning, err := p.ceilingWarning(v, riderID)
			return strings.TrimSpace("Pedido asignado a " + assigned.Rider.Name + ". " + warning), err
		})
}

func (p *Pages) cancelOrder(v *Request) error {
	return p.runAction(v, func(id uuid.UUID) *forms.Form { return cancelForm(id, 0) },
		func(order *models.OrderView, in *jsonbody.Object) (string, error) {
			why, err := orders.ReadCancellationWithVersion(in)
			if err != nil {
				return "", err
			}
			_, err = p.Orders.Cancel(v.Ctx(), v.Caller, order, why)
			return "Pedido cancelado.", err
		})
}

// runAction reads a form of the order's page, runs the action, and answers as answerAction does.
func (p *Pages) runAction(
	v *Request, formOf func(uuid.UUID) *forms.Form, act func(*models.OrderView, *jsonbody.Object) (message string, err error),
) error {
	id, err := pathOrder(v)
	if err != nil {
		return err
	}
	message, form := "", formOf(id)
	in, err := p.readForm(v, form)
	var order *models.OrderView
	if err == nil {
		order, err = p.Orders.Find(v.Ctx(), v.Caller, id)
	}
	if err == nil {
		message, err = act(order, in)
	}
	return p.answerAction(v, id, form, message, err, nil)
}

// answerAction redirects to the order's page after an action. After an error it shows the page with
// the form as it was sent.
func (p *Pages) answerAction(
	v *Request, id uuid.UUID, form *forms.Form, message string, err error, change func(*orderPage),
) error {
	switch {
	case err == nil:
		return p.done(v, orderPath(id), message)
	case errors.Is(err, orders.ErrOrderNotFound) || !form.AddError(err):
		return err
	}
	return p.showOrderAgain(v, id, form, err, change)
}

// showOrderAgain shows the order's page with a form as it was sent. If the order does not offer the
// form any more, the page only says why it was refused.
func (p *Pages) showOrderAgain(v *Request, id uuid.UUID, form *forms.Form, refusal error, change func(*orderPage)) error {
	details, err := p.Orders.OrderPage(v.Ctx(), v.Caller, id)
	if err != nil {
		return err
	}
	page, err := p.describeOrder(v, details)
	if err != nil {
		return err
	}
	offered := page.form(form.Action)
	switch {
	case offered == nil && refusal == nil:
		v.Redirect(http.StatusSeeOther, orderPath(id))
		return nil
	case offered == nil:
		return p.refused(v, orderPath(id), form.WithLabels(refusal))
	}
	offered.TakeOver(form)
	if change != nil {
		change(page)
	}
	return p.show(v, http.StatusUnprocessableEntity, "order", "Pedido "+details.Order.GuideCode, page)
}

// form is the form on the page that posts to the action, or nil.
func (page *orderPage) form(action string) *forms.Form {
	for _, form := range []*forms.Form{page.Moves.Receive, page.Moves.Assign, page.Moves.Deliver, page.Moves.Cancel,
		page.Moves.Fail, page.Moves.Decide, page.Moves.HandBack, page.Moves.Undo, page.PointForm, page.CorrectDelivery, page.Erase} {
		if form != nil && form.Action == action {
			return form
		}
	}
	return nil
}
