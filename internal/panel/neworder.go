package panel

import (
	"errors"
	"net/http"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/neworder"
)

const newOrderPath = "/panel/pedidos/nuevo"

// newOrderPage is the form of a new order, in groups.
type newOrderPage struct {
	Form   *forms.Form
	Groups []neworder.Group
	// Token is the form's idempotency key: sending the form again does not create another order.
	Token string
}

// errFormUsed is shown when a form that already created an order is changed and sent again.
var errFormUsed = apperror.New(apperror.Unprocessable, "idempotency_key_reused",
	"Este formulario ya creó un pedido. Si quiere crear otro con los datos de abajo, vuelva a presionar el botón.")

func (p *Pages) newOrder(v *Request) error {
	groups, err := p.newOrderGroups(v)
	if err != nil {
		return err
	}
	return p.showNewOrder(v, http.StatusOK, newOrderForm(groups), groups, uuid.NewString())
}

func (p *Pages) createOrder(v *Request) error {
	groups, err := p.newOrderGroups(v)
	if err != nil {
		return err
	}
	form := newOrderForm(groups)
	in, err := p.readForm(v, form)
	token := v.PostForm("ficha")
	var created *orders.Created
	if err == nil {
		created, err = p.createFromForm(v, in, token)
	}
	if err == nil {
		return p.done(v, orderPath(created.Order.ID), newOrderNotice(created))
	}
	if errors.Is(err, orders.ErrKeyReused) {
		err, token = errFormUsed, uuid.NewString()
	}
	if !form.AddError(neworder.ForForm(err)) {
		return err
	}
	return p.showNewOrder(v, http.StatusUnprocessableEntity, form, groups, token)
}

func (p *Pages) createFromForm(v *Request, in *jsonbody.Object, token string) (*orders.Created, error) {
	if _, ok := jsonbody.ParseUUID(token); !ok {
		return nil, apperror.New(apperror.Invalid, "invalid_form", "El formulario está incompleto. Vuelva a abrir la página.")
	}
	return p.creator().Once(v.Ctx(), v.Caller, in, "formulario:"+token)
}

func newOrderNotice(created *orders.Created) string {
	text := "Pedido creado."
	if created.Replayed {
		text = "El pedido ya estaba creado."
	}
	order := created.Order
	text += " Guía " + order.GuideCode + ", tarifa " + format.Amount(order.ShippingCost, order.Currency) + "."
	if created.Warning != "" {
		text += " Atención: " + created.Warning
	}
	return text
}

func (p *Pages) showNewOrder(v *Request, status int, form *forms.Form, groups []neworder.Group, token string) error {
	page := newOrderPage{Form: form, Token: token}
	at := 0
	for _, group := range groups {
		group.Fields = form.Fields[at : at+len(group.Fields)]
		at += len(group.Fields)
		page.Groups = append(page.Groups, group)
	}
	return p.show(v, status, "new_order", "Nuevo pedido", page)
}

// newOrderForm joins the groups into one form.
func newOrderForm(groups []neworder.Group) *forms.Form {
	form := &forms.Form{Action: newOrderPath, Submit: "Crear pedido"}
	for _, group := range groups {
		form.Fields = append(form.Fields, group.Fields...)
	}
	return form
}

func (p *Pages) newOrderGroups(v *Request) ([]neworder.Group, error) {
	destinations, err := p.destinations(v)
	if err != nil {
		return nil, err
	}
	return neworder.Groups(v.Caller, destinations), nil
}

func (p *Pages) creator() neworder.Creator {
	return neworder.Creator{Orders: p.Orders, Clock: p.Clock, Log: p.Log, Wait: p.Config.Timeouts.Request / 2, Places: &p.places}
}
