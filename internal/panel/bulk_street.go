package panel

import (
	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/numeral"
	"despacho/internal/orders"
	"despacho/internal/panel/forms"
	"despacho/models"
)

// What operators record whose riders have no phone: the deliveries and the failed attempts of a
// day, many at once.
var streetMoves = []bulkMove{
	{
		path: ordersPath + "/entregar", title: "Entregar pedidos", needs: models.DispatchWrite,
		move: models.MoveDeliver, amounts: true,
		can: "Se entregará 1.", canMany: "Se entregarán %.", cannot: "No se pueden entregar",
		results: deliveryResults, settled: "Los entregados",
		form: func(_ *Pages, v *Request) (*forms.Form, error) {
			methods := methodOptions(v.Operator().Rules)
			return &forms.Form{Submit: "Registrar las entregas", Fields: []forms.Field{{
				Name: methodField, Label: "Forma de pago", Kind: forms.Choice, Options: methods, Value: methods[0].Value,
				Hint: "La misma para todos. Corrija abajo lo que se cobró distinto.",
			}}}, nil
		},
		run: func(p *Pages, v *Request, in *jsonbody.Object, ids []uuid.UUID) ([]orders.BulkResult, error) {
			handover := orders.Handover{Method: orders.ReadHandoverMethod(in, v.Operator().Rules)}
			if err := in.Err(); err != nil {
				return nil, err
			}
			typed, err := p.readAmounts(v, ids)
			if err != nil {
				return nil, err
			}
			handover.Amounts = typed
			return p.Orders.DeliverMany(v.Ctx(), v.Caller, ids, handover, shownVersions(v))
		},
	},
	{
		path: ordersPath + "/no-entregado", title: "No se pudo entregar", needs: models.DispatchWrite,
		move: models.MoveFail,
		can:  "Se registrará 1 intento fallido.", canMany: "Se registrarán % intentos fallidos.",
		cannot: "No se les puede registrar un intento", results: failureResults, settled: "Los registrados",
		form: func(_ *Pages, v *Request) (*forms.Form, error) {
			single := failForm(v.Operator().Rules, uuid.Nil, 0)
			fields := []forms.Field{*single.Field("reason"), *single.Field("note")}
			fields[1].Hint = "Es la misma para todos. La ve la tienda."
			return &forms.Form{Submit: "Registrar los intentos", Fields: fields}, nil
		},
		run: func(p *Pages, v *Request, in *jsonbody.Object, ids []uuid.UUID) ([]orders.BulkResult, error) {
			failed := orders.ReadFailure(in, v.Operator().Rules, false)
			if err := in.Err(); err != nil {
				return nil, err
			}
			return p.Orders.FailMany(v.Ctx(), v.Caller, ids, failed, shownVersions(v))
		},
	},
}

// amountOf is the name of the field with what was collected for an order.
func amountOf(id uuid.UUID) string { return "amount_" + id.String() }

// readAmounts reads what was collected for each of the orders that the page lists. Of those that it
// does not list it is what was to be collected.
func (p *Pages) readAmounts(v *Request, ids []uuid.UUID) (map[uuid.UUID]money.Cents, error) {
	listed, err := p.Orders.ByIDs(v.Ctx(), v.Caller, ids[:min(len(ids), orders.MaxBulk)])
	if err != nil {
		return nil, err
	}
	amounts := map[uuid.UUID]money.Cents{}
	var wrong apperror.Fields
	for _, order := range listed {
		typed, sent := v.Request.PostForm[amountOf(order.ID)]
		if !sent {
			continue
		}
		decimal, clear := numeral.Amount(typed[0])
		amount, parseErr := money.Parse(decimal)
		switch {
		case decimal == "" && order.PaymentType == models.CashOnDelivery:
			wrong.Add(amountOf(order.ID), order.GuideCode+": escriba lo que se cobró, 0 si no fue nada")
		case decimal == "":
		case !clear || parseErr != nil:
			wrong.Add(amountOf(order.ID), order.GuideCode+": "+numeral.UnclearMessage)
		default:
			amounts[order.ID] = amount
		}
	}
	return amounts, wrongAmounts(wrong.Err())
}

// wrongAmounts says which amounts are wrong: the fields are not those of the form.
func wrongAmounts(err error) error {
	problem := apperror.From(err)
	if err == nil {
		return nil
	}
	message := "Revise los montos."
	for _, field := range problem.Fields {
		message += " " + forms.Sentence(field.Message)
	}
	return apperror.New(apperror.Invalid, "invalid_fields", message)
}

// Amount is what the field of an order's amount has: what was typed, or what was to be collected.
func (page *bulkPage) Amount(order *orders.Detail) string {
	if typed, sent := page.typed[amountOf(order.ID)]; sent {
		return typed[0]
	}
	if order.AmountToCollect == 0 {
		return ""
	}
	return order.AmountToCollect.String()
}

// AsksAmounts reports whether the rows have fields for what was collected.
func (page *bulkPage) AsksAmounts() bool { return page.amounts }

// AmountField is the name of the field of an order's amount.
func (page *bulkPage) AmountField(order *orders.Detail) string { return amountOf(order.ID) }
