package panel

import (
	"github.com/google/uuid"

	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/internal/photos"
	"despacho/models"
)

// deliveryCorrectionForm corrects what was recorded at a delivery. The template adds the photo.
func deliveryCorrectionForm(id uuid.UUID) *forms.Form {
	return &forms.Form{Action: orderPath(id) + "/corregir-entrega", Submit: "Guardar la corrección", Fields: []forms.Field{
		{Name: "actual_amount_collected", Label: "Monto cobrado", Kind: forms.Money, Hint: "Vacío: queda el que hay."},
		{Name: "photo", Label: "Foto"},
		{Name: "reason", Label: "Motivo", Kind: forms.Area, Required: true, Wide: true,
			Hint: "Por qué se corrige. Queda en la línea de tiempo."},
	}}
}

// offerDeliveryCorrection is the form for a delivered order, or nil. The amount is not filled in: a
// page that was opened before somebody else's correction would send the amount of that time back
// with a photo.
func offerDeliveryCorrection(v *Request, order *orders.Detail) *forms.Form {
	if order.Status != models.StatusDelivered || !v.May(models.CashWrite) {
		return nil
	}
	form := deliveryCorrectionForm(order.ID)
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
	form := deliveryCorrectionForm(id)
	values, photo, err := photos.ReadParts(v.Request, photos.PhotoField)
	in, formErr := p.readValues(v, form, values)
	if err == nil {
		err = formErr
	}
	if err == nil {
		_, err = p.Orders.CorrectDelivery(v.Ctx(), v.Caller, id, in, photo)
	}
	if err != nil && photo != nil {
		form.Fields[1].Error = "Elija la foto otra vez."
	}
	return p.answerAction(v, id, form, "Entrega corregida.", err, nil)
}
