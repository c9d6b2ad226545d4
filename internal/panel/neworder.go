package panel

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/neworder"
)

const newOrderPath = "/panel/pedidos/nuevo"

// newOrderPage is the form of a new order.
type newOrderPage struct {
	Form *forms.Form
	// First are the fields in sight, More the others; Open means that one of these has something.
	First, More []forms.Field
	Open        bool
	// Token is the form's idempotency key: sending the form again does not create another order.
	Token string
}

// errFormUsed is shown when a form that already created an order is changed and sent again.
var errFormUsed = apperror.New(apperror.Unprocessable, "idempotency_key_reused",
	"Este formulario ya creó un pedido. Si quiere crear otro con los datos de abajo, vuelva a presionar el botón.")

// newOrder is an empty form; that of another order keeps the store and the branch of the one
// before.
func (p *Pages) newOrder(v *Request) error {
	form, err := p.newOrderForm(v)
	if err != nil {
		return err
	}
	for i := range form.Fields {
		field := &form.Fields[i]
		if chosen := v.Query(field.Name); slices.Contains(keptFields, field.Name) && field.Offers(chosen) {
			field.Value = chosen
		}
	}
	return p.showNewOrder(v, http.StatusOK, form, uuid.NewString())
}

// keptFields are chosen alike in many orders of one person.
var keptFields = []string{"store_id", "branch_id"}

func (p *Pages) createOrder(v *Request) error {
	form, err := p.newOrderForm(v)
	if err != nil {
		return err
	}
	in, err := p.readForm(v, form.Form)
	token := v.PostForm("ficha")
	var created *orders.Created
	if err == nil {
		created, err = p.createFromForm(v, in, token)
	}
	if err == nil {
		return p.afterNewOrder(v, form.Form, created)
	}
	if errors.Is(err, orders.ErrKeyReused) {
		err, token = errFormUsed, uuid.NewString()
	}
	if !form.AddError(neworder.ForForm(err)) {
		return err
	}
	return p.showNewOrder(v, http.StatusUnprocessableEntity, form, token)
}

// afterNewOrder leads to the order, or to the form of another one.
func (p *Pages) afterNewOrder(v *Request, form *forms.Form, created *orders.Created) error {
	path := orderPath(created.Order.ID)
	done := notice{Text: newOrderNotice(created)}
	if v.PostForm("otro") != "" {
		done.Path, done.Label = path, "Ver el pedido"
		kept := url.Values{}
		for _, field := range form.Fields {
			if slices.Contains(keptFields, field.Name) && field.Value != "" {
				kept.Set(field.Name, field.Value)
			}
		}
		path = newOrderPath
		if len(kept) > 0 {
			path += "?" + kept.Encode()
		}
	}
	return p.redirectWithNotice(v.Context, v.Who.SessionID, path, done)
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

func (p *Pages) showNewOrder(v *Request, status int, form *newOrderForm, token string) error {
	page := newOrderPage{Form: form.Form, First: form.Fields[:form.first], More: form.Fields[form.first:], Token: token}
	for i, field := range page.More {
		page.Open = page.Open || field.Error != "" || field.Value != form.usual[i]
	}
	return p.show(v, status, "new_order", "Nuevo pedido", page)
}

// newOrderForm is the form with how many of its fields are in sight, and what the others usually
// have in them.
type newOrderForm struct {
	*forms.Form
	first int
	usual []string
}

func (p *Pages) newOrderForm(v *Request) (*newOrderForm, error) {
	destinations, err := p.destinations(v)
	if err != nil {
		return nil, err
	}
	fields, first := neworder.Fields(v.Caller, destinations)
	form := &newOrderForm{Form: &forms.Form{Action: newOrderPath, Submit: "Crear", Fields: fields}, first: first}
	for _, field := range fields[first:] {
		usual := field.Value
		if usual == "" && len(field.Options) > 0 {
			usual = field.Options[0].Value // as a browser sends it
		}
		form.usual = append(form.usual, usual)
	}
	for i := range form.usual {
		form.Fields[first+i].Value = form.usual[i]
	}
	return form, nil
}

func (p *Pages) creator() neworder.Creator {
	return neworder.Creator{Orders: p.Orders, Clock: p.Clock, Log: p.Log, Wait: p.Config.Timeouts.Request / 2, Places: &p.places}
}
