package panel

import (
	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/internal/photos"
	"despacho/models"
)

// deliveryCorrectionForm corrects what was recorded at a delivery. The template adds the photo.
func deliveryCorrectionForm(rules models.Rules, id uuid.UUID) *forms.Form {
	methods := methodOptions(rules)
	recorded := append([]forms.Option{{Value: "", Label: "La que se registró"}}, methods...)
	return &forms.Form{Action: orderPath(id) + "/corregir-entrega", Submit: "Guardar la corrección", Fields: []forms.Field{
		{Name: "actual_amount_collected", Label: "Monto cobrado", Kind: forms.Money, Hint: "Vacío: queda el que hay."},
		{Name: "photo", Label: "Foto"},
		{Name: "reason", Label: "Motivo", Kind: forms.Area, Required: true, Wide: true,
			Hint: "Por qué se corrige. Queda en la línea de tiempo."},
		{Name: methodField, Label: "Forma de pago", Kind: forms.Choice, Options: recorded},
		{Name: referenceField, Label: "N.º de operación", Kind: forms.Text},
		{Name: otherPart + amountField, Label: "De eso, con otra forma", Kind: forms.Money, Hint: "Vacío: todo con la de arriba."},
		{Name: otherPart + methodField, Label: "La otra forma", Kind: forms.Choice, Options: methods,
			Value: methods[min(1, len(methods)-1)].Value},
		{Name: otherPart + referenceField, Label: "Su N.º de operación", Kind: forms.Text},
	}}
}

// correctPaid corrects a delivery with what its form says of the ways of payment, if it says any.
func (p *Pages) correctPaid(v *Request, id uuid.UUID, in *jsonbody.Object, photo []byte) error {
	var prefixes []string
	if in.Has(methodField) || in.Has(otherPart+amountField) {
		if !in.Has("actual_amount_collected") {
			in.AddError("actual_amount_collected", "indique también el monto")
		} else if !in.Has(methodField) {
			in.AddError(methodField, "indique con qué se pagó el resto")
		}
		in, prefixes = withCollections(in, v.Operator().Rules)
	}
	_, err := p.Orders.CorrectDelivery(v.Ctx(), v.Caller, id, in, photo)
	return renamed(err, func(field string) string {
		if field == "collections" {
			return methodField
		}
		return ofPart(field, prefixes)
	})
}

// offerDeliveryCorrection is the form for a delivered order, or nil. The amount is not filled in: a
// page that was opened before somebody else's correction would send the amount of that time back
// with a photo.
func offerDeliveryCorrection(v *Request, order *orders.Detail) *forms.Form {
	if order.Status != models.StatusDelivered || !v.May(models.CashWrite) {
		return nil
	}
	form := deliveryCorrectionForm(v.Operator().Rules, order.ID)
	if order.Erased {
		form.Fields[2].Hint = "Por qué se corrige. No se guarda: los datos del destinatario se eliminaron."
	}
	if order.ActualAmountCollected != nil {
		form.Fields[0].Hint = "Se cobró " + format.Amount(*order.ActualAmountCollected, order.Currency) + ". " +
			form.Fields[0].Hint
	}
	return form
}

// correctDelivery reads its form itself, because of the photo.
func (p *Pages) correctDelivery(v *Request) error {
	id, err := pathOrder(v)
	if err != nil {
		return err
	}
	form := deliveryCorrectionForm(v.Operator().Rules, id)
	values, photo, err := photos.ReadParts(v.Request, photos.PhotoField)
	in, formErr := p.readValues(v, form, values)
	if err == nil {
		err = formErr
	}
	if err == nil {
		err = p.correctPaid(v, id, in, photo)
	}
	if err != nil && photo != nil {
		form.Fields[1].Error = "Elija la foto otra vez."
	}
	return p.answerAction(v, id, form, "Entrega corregida.", err, nil)
}
