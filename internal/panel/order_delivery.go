package panel

import (
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/numeral"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/internal/photos"
	"despacho/models"
)

// photoDraft is what a form with a photo carries when it is shown again.
type photoDraft struct {
	// HeldPhoto is the signed name of the photo that came with it.
	HeldPhoto string
}

const (
	heldPhotoField = "held_photo"
	// heldPhotoDuration is less than the time after which a photo without a delivery is removed.
	heldPhotoDuration = time.Hour
)

// photoMove is a move of an order whose form has a photo.
type photoMove struct {
	form func(rules models.Rules, id uuid.UUID) *forms.Form
	done string
	// ask leaves a question in the form.
	ask  func(v *Request, id uuid.UUID, values url.Values, form *forms.Form) error
	move func(v *Request, id uuid.UUID, in *jsonbody.Object, photo []byte) error
}

func (p *Pages) deliverOrder(v *Request) error {
	return p.moveWithPhoto(v, photoMove{
		form: func(rules models.Rules, id uuid.UUID) *forms.Form { return deliverForm(rules, id, 0, 0) },
		done: "Pedido entregado.", ask: p.askAboutAmount, move: p.deliverPaid,
	})
}

// moveWithPhoto reads the form itself, because of the photo. When the form is shown again, the
// service keeps the photo: a page cannot fill in a file.
func (p *Pages) moveWithPhoto(v *Request, move photoMove) error {
	id, err := pathOrder(v)
	if err != nil {
		return err
	}
	form, draft := move.form(v.Operator().Rules, id), &photoDraft{}
	values, photo, err := photos.ReadParts(v.Request, photos.PhotoField)
	in, formErr := p.readValues(v, form, values)
	if err == nil {
		err = formErr
	}
	held := ""
	if photo == nil {
		held, photo = p.openHeldPhoto(v, id, values)
	}
	if err == nil && move.ask != nil {
		err = move.ask(v, id, values, form)
	}
	if err == nil && form.Question == "" {
		err = move.move(v, id, in, photo)
	}
	if err == nil && form.Question == "" {
		if held != "" {
			p.Orders.DropHeldPhoto(v.Ctx(), held)
		}
		return p.done(v, orderPath(id), move.done)
	}
	if photo != nil && held == "" {
		var notHeld error
		if held, notHeld = p.Orders.HoldPhoto(v.Ctx(), v.Caller, id, photo); err == nil {
			err = notHeld
		}
	}
	if held != "" {
		draft.HeldPhoto = p.Signer.Sign(heldPhotoPurpose(v, id), []byte(held), p.Clock.Now().Add(heldPhotoDuration))
	}
	withDraft := func(page *orderPage) { page.Draft = draft }
	if err == nil {
		return p.showOrderAgain(v, id, form, nil, withDraft)
	}
	return p.answerAction(v, id, form, "", err, withDraft)
}

// heldPhotoPurpose binds a held photo to its order and to the user who sent it.
func heldPhotoPurpose(v *Request, id uuid.UUID) string {
	return "held photo of " + id.String() + " for " + v.Who.User.ID.String()
}

// openHeldPhoto reads the photo that came with an earlier form, if there is one.
func (p *Pages) openHeldPhoto(v *Request, id uuid.UUID, values url.Values) (name string, photo []byte) {
	signed, ok := p.Signer.Open(heldPhotoPurpose(v, id), values.Get(heldPhotoField), p.Clock.Now())
	if !ok {
		return "", nil
	}
	photo, err := p.Orders.HeldPhoto(v.Ctx(), string(signed))
	if err != nil {
		p.Log.WarnContext(v.Ctx(), "held photo not read", "order_id", id, "error", err)
		return "", nil
	}
	return string(signed), photo
}

// askAboutAmount asks about an amount that is probably a typing error, unless the user has been
// asked about it.
func (p *Pages) askAboutAmount(v *Request, id uuid.UUID, values url.Values, form *forms.Form) error {
	decimal, clear := numeral.Amount(values.Get("actual_amount_collected"))
	collected, parseErr := money.Parse(decimal)
	asked := strconv.FormatInt(int64(collected), 10)
	if !clear || parseErr != nil || values.Get(forms.AskedName) == asked {
		return nil
	}
	order, err := p.Orders.Get(v.Ctx(), v.Caller, id)
	if err != nil || order.Status != models.StatusAssigned || !isUnusual(collected, order) &&
		!isOfEarlierAmount(collected, values.Get(agreedAmountField), order) {
		return err
	}
	agreed := "no se cobra nada"
	if order.AmountToCollect > 0 {
		agreed = "se cobran " + format.Amount(order.AmountToCollect, order.Currency)
	}
	form.Question = "Escribió " + format.Amount(collected, order.Currency) + ", y por este pedido " + agreed +
		". Si es correcto, confirme otra vez."
	form.Asked, form.Fields[0].Focus = asked, true
	return nil
}

// isOfEarlierAmount reports whether the amount to collect was corrected after the form's page was
// shown, and the collected amount, which the page fills in, is not the corrected one.
func isOfEarlierAmount(collected money.Cents, shown string, order *orders.View) bool {
	agreed, err := money.Parse(shown)
	return err == nil && agreed != order.AmountToCollect && collected != order.AmountToCollect
}

// isUnusual reports whether much more or much less was collected than was agreed. Small differences
// are usual: there is no change, or the customer has no coins. An agreed amount that is not known
// yet is no measure.
func isUnusual(collected money.Cents, order *orders.View) bool {
	agreed := order.AmountToCollect
	if agreed == 0 {
		return collected > 0 && order.PaymentType == models.DeliveryOnly
	}
	return collected > agreed+agreed/10 || collected < agreed/2
}
