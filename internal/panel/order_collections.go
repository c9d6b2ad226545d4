package panel

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/panel/forms"
	"despacho/models"
)

// The fields of the ways of payment of a delivery: the amount collected is paid one way, and a part
// of it may be paid another way, whose fields begin with otherPart.
const (
	methodField    = "method"
	amountField    = "amount"
	referenceField = "reference"
	otherPart      = "other_"
)

func methodOptions(rules models.Rules) []forms.Option {
	var options []forms.Option
	for _, method := range rules.Methods() {
		options = append(options, forms.Option{Value: string(method), Label: method.Label()})
	}
	return options
}

// paidTwoWays reports whether a form has something to say of a second way of payment.
func paidTwoWays(form *forms.Form) bool {
	return slices.ContainsFunc(form.Fields, func(field forms.Field) bool {
		return field.Name == otherPart+amountField && field.Value != "" || strings.HasPrefix(field.Name, otherPart) && field.Error != ""
	})
}

// deliverPaid delivers an order with what its form says of the ways of payment.
func (p *Pages) deliverPaid(v *Request, id uuid.UUID, in *jsonbody.Object, photo []byte) error {
	in, prefixes := withCollections(in, v.Operator().Rules)
	_, err := p.Orders.Deliver(v.Ctx(), v.Caller, id, in, photo)
	return renamed(err, func(field string) string { return ofPart(field, prefixes) })
}

// ofPart is the name in a form of a field of the ways of payment.
func ofPart(field string, prefixes []string) string {
	for i, prefix := range prefixes {
		if name, ok := strings.CutPrefix(field, collectionPlaces[i]); ok {
			return prefix + name
		}
	}
	return field
}

var collectionPlaces = []string{"collections[0].", "collections[1]."}

// withCollections adds by which ways the amount was collected. prefixes are those of the fields of
// each part. A form without a way of payment means the first that the operator offers.
func withCollections(in *jsonbody.Object, rules models.Rules) (collected *jsonbody.Object, prefixes []string) {
	total, other := in.Money("actual_amount_collected"), in.Money(otherPart+amountField)
	rest := money.Cents(0)
	if total != nil {
		rest = *total
	}
	var parts models.Collections
	add := func(prefix string, amount money.Cents) {
		part := models.Collection{Method: rules.Methods()[0], Amount: amount}
		part.Reference = in.Text(prefix+referenceField, models.MaxReference)
		if method := in.Text(prefix+methodField, len(models.PaidByTransfer)); method != nil {
			part.Method = models.Method(*method)
		}
		parts, prefixes = append(parts, part), append(prefixes, prefix)
	}
	if other != nil && *other > rest {
		in.AddError(otherPart+amountField, "es más que el monto cobrado")
		return in, nil
	}
	if other != nil {
		rest -= *other
	}
	if rest > 0 {
		add("", rest)
	}
	if other != nil && *other > 0 {
		add(otherPart, *other)
	}
	if len(parts) == 0 {
		return in, nil
	}
	return in.With("collections", parts), prefixes
}

// renamed is an error with other names of its fields: those of a form.
func renamed(err error, name func(string) string) error {
	problem := apperror.From(err)
	if err == nil || len(problem.Fields) == 0 {
		return err
	}
	copied := *problem
	copied.Fields = make([]apperror.Field, len(problem.Fields))
	for i, field := range problem.Fields {
		copied.Fields[i] = apperror.Field{Field: name(field.Field), Message: field.Message}
	}
	return &copied
}
