package panel

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/neworder"
	"despacho/models"
)

// correctionPage is the form that corrects an order.
type correctionPage struct {
	Order *orders.View
	// Form carries the content that it was filled in with.
	Form *forms.Form
	// Back is the order's page.
	Back string
}

func correctionPath(id uuid.UUID) string { return orderPath(id) + "/corregir" }

func (p *Pages) showCorrection(v *Request) error {
	page, err := p.correctionOf(v)
	if err != nil {
		return p.correctionRefused(v, err)
	}
	return p.respondCorrection(v, http.StatusOK, page)
}

// correctionOf is the page with what the order says now. It is an error if the user may not correct
// the order.
func (p *Pages) correctionOf(v *Request) (*correctionPage, error) {
	id, err := pathOrder(v)
	if err != nil {
		return nil, err
	}
	order, err := p.Orders.Get(v.Ctx(), v.Caller, id)
	if err != nil {
		return nil, err
	}
	if err := orders.RequireCorrectable(v.Caller, order.Status); err != nil {
		return nil, err
	}
	form, err := p.correctionForm(v, order)
	return &correctionPage{Order: order, Form: form, Back: orderPath(id)}, err
}

// correctionRefused leads to the order, which says why it cannot be corrected.
func (p *Pages) correctionRefused(v *Request, err error) error {
	id, ok := pathOrder(v)
	if ok != nil || !errors.Is(err, orders.ErrCorrectionRefused) {
		return err
	}
	return p.refused(v, orderPath(id), err)
}

func (p *Pages) respondCorrection(v *Request, status int, page *correctionPage) error {
	return p.show(v, status, "correction", "Corregir "+page.Order.GuideCode, page)
}

// correctOrder corrects the order. It asks first if the shipping cost changes, or if somebody else
// has corrected the same field.
func (p *Pages) correctOrder(v *Request) error {
	values, err := posted(v.Context)
	if err != nil {
		return err
	}
	var page *correctionPage
	var corrected *orders.Corrected
	for range maxCorrectionReads {
		if page, err = p.correctionOf(v); err != nil {
			return p.correctionRefused(v, err)
		}
		if corrected, err = p.correct(v, page, values); !errors.Is(err, orders.ErrOrderChanged) {
			break
		}
	}
	switch {
	case err == nil && page.Form.Question != "":
		return p.respondCorrection(v, http.StatusUnprocessableEntity, page)
	case err == nil:
		return p.done(v, page.Back, correctionNotice(corrected))
	case errors.Is(err, orders.ErrCorrectionRefused):
		return p.refused(v, page.Back, err)
	case !page.Form.AddError(neworder.ForForm(err)):
		return err
	}
	return p.respondCorrection(v, http.StatusUnprocessableEntity, page)
}

// maxCorrectionReads bounds how often a correction is merged with an order that is corrected by
// others at the same moment.
const maxCorrectionReads = 3

// correct corrects the order, or leaves a question in the form. What is compared with what the
// person saw is the page's order: it returns orders.ErrOrderChanged if that is another by now.
func (p *Pages) correct(v *Request, page *correctionPage, values url.Values) (*orders.Corrected, error) {
	current := *page.Form
	current.Fields = slices.Clone(page.Form.Fields)
	in, err := p.readValues(v, page.Form, withUnsent(values, page.Form))
	if err != nil {
		return nil, err
	}
	by := sync.OnceValues(func() (map[string]string, error) { return p.lastCorrections(v, page.Order.ID) })
	merged := page.Form.Merge(&current, func(field string) string {
		known, _ := by()
		return known[field]
	})
	if !merged {
		_, err := by()
		return nil, cmp.Or[error](err, errRowChanged)
	}
	preview, err := p.Orders.PreviewCorrection(v.Ctx(), v.Caller, page.Order.ID, in)
	if err != nil {
		return nil, err
	}
	cost := preview.Order.ShippingCost
	if preview.CostChanged() && values.Get(forms.AskedName) != cost.String() {
		page.Form.Question = "La tarifa pasa de " + format.Amount(preview.CostBefore, page.Order.Currency) + " a " +
			format.Amount(cost, page.Order.Currency) +
			". Si es correcto, confirme otra vez."
		page.Form.Asked = cost.String()
		return nil, nil
	}
	return p.Orders.Correct(v.Ctx(), v.Caller, page.Order.ID, in,
		orders.CorrectionPrecondition{Content: orders.CorrectableContent(page.Order), Cost: &cost})
}

// lastCorrections say who has last corrected each field of the form, and when, as far as the user
// may know.
func (p *Pages) lastCorrections(v *Request, id uuid.UUID) (map[string]string, error) {
	details, err := p.Orders.OrderPage(v.Ctx(), v.Caller, id)
	if err != nil {
		return nil, err
	}
	by := map[string]string{}
	for _, entry := range details.Timeline {
		who := cmp.Or(orEmpty(entry.UserName), orEmpty(entry.KeyName))
		if who == "" {
			continue
		}
		for _, corrected := range details.Corrections[entry.ID] {
			by[formFieldOf[corrected.Field]] = who + " (" + entry.At.In(v.Operator().TimeZone()).Format("02/01 15:04") + ")"
		}
	}
	return by, nil
}

// formFieldOf is the form's field that corrects a field of the order.
var formFieldOf = map[models.CorrectedField]string{
	models.CorrectedPhone: "recipient_phone", models.CorrectedLocation: "location_id",
	models.CorrectedAddress: "delivery_address", models.CorrectedReference: "delivery_reference",
	models.CorrectedAmount: "amount_to_collect", models.CorrectedPayment: "payment_type", models.CorrectedSize: "size",
	models.CorrectedNotes: "notes",
}

// withUnsent completes the posted values with those of the fields that were not sent. Browsers end
// the lines of a text area with CR LF: a text with other line ends has not been changed for that.
func withUnsent(values url.Values, form *forms.Form) url.Values {
	complete := maps.Clone(values)
	for _, field := range form.Fields {
		sent := values[field.Name]
		if len(sent) == 0 || len(sent) == 1 && field.Kind == forms.Area && lineFeeds(sent[0]) == lineFeeds(field.Value) {
			sent = []string{field.Value}
		}
		complete[field.Name] = sent
	}
	return complete
}

func lineFeeds(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }

func correctionNotice(corrected *orders.Corrected) string {
	if !corrected.Changed {
		return "No había nada que corregir."
	}
	text := "Pedido corregido."
	if corrected.CostChanged() {
		text += " La tarifa pasó de " + format.Amount(corrected.CostBefore, corrected.Order.Currency) + " a " +
			format.Amount(corrected.Order.ShippingCost, corrected.Order.Currency) + "."
	}
	if corrected.Warning != "" {
		text += " Atención: " + corrected.Warning
	}
	return text
}

// correctionForm has the fields of a correction, filled in with the order.
func (p *Pages) correctionForm(v *Request, order *orders.View) (*forms.Form, error) {
	destinations, err := p.destinations(v)
	if err != nil {
		return nil, err
	}
	place, err := p.placeNamed(v.Ctx(), order.LocationID.String())
	if err != nil {
		return nil, err
	}
	return forms.Edit(correctionPath(order.ID), "Guardar la corrección",
		[]forms.Field{
			{Name: "recipient_phone", Label: "Teléfono", Kind: forms.Phone, Required: true, Value: order.RecipientPhone},
			{Name: "location_id", Label: "Distrito", Kind: forms.Destination, Required: true, Suggestions: destinations.Offered(),
				Value: place, Hint: "Con otro, la tarifa se calcula de nuevo."},
			{Name: "delivery_address", Label: "Dirección", Kind: forms.Area, Required: true, Wide: true,
				Value: order.DeliveryAddress},
			{Name: "delivery_reference", Label: "Referencia", Kind: forms.Area, Wide: true,
				Value: orEmpty(order.DeliveryReference)},
			{Name: "amount_to_collect", Label: "Monto por cobrar", Kind: forms.Money, Value: order.AmountToCollect.String(),
				Hint: "Ejemplo: 89.90. Vacío o 0: nada."},
			{Name: "payment_type", Label: "Forma de cobro", Kind: forms.Choice, Value: string(order.PaymentType),
				Hint: "Con un monto siempre es contra entrega.", Options: neworder.PaymentTypes},
			sizeChoice(order, destinations.Choices.Sizes),
			{Name: "notes", Label: "Notas para el despacho", Kind: forms.Area, Wide: true, Value: orEmpty(order.Notes)},
		}), nil
}

// sizeChoice offers the operator's sizes, and the order's own if that is not offered any more.
func sizeChoice(order *orders.View, sizes []models.Size) forms.Field {
	field := neworder.SizeField(order.Currency, sizes)
	field.Value, field.Hint = order.Size, "Con otro, la tarifa se calcula de nuevo."
	if !slices.ContainsFunc(field.Options, func(option forms.Option) bool { return option.Value == order.Size }) {
		field.Options = slices.Insert(field.Options, 0, forms.Option{Value: order.Size, Label: order.Size})
	}
	return field
}
