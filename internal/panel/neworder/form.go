package neworder

import (
	"slices"

	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/places"
	"despacho/models"
)

// Group is a group of fields on the order's page.
type Group struct {
	ID, Title string
	Fields    []forms.Field
}

const (
	recipientGroup = "recipient"
	deliveryGroup  = "delivery"
	packageGroup   = "package"
	paymentGroup   = "payment"
)

// inSight are the fields that an order usually has, in the order in which somebody says them on the
// phone.
var inSight = []string{
	"recipient_name", "recipient_phone", "location_id", "delivery_address", "product", "amount_to_collect",
}

// Fields are the fields of the form: first those in sight, of which there are so many.
func Fields(caller orders.Caller, destinations *places.Destinations) (list []forms.Field, first int) {
	list = make([]forms.Field, len(inSight), len(fields))
	for _, of := range fields {
		shown := of.Field
		if shown.Name == "" || of.offer != nil && !of.offer(&shown, caller, destinations) {
			continue
		}
		if at := slices.Index(inSight, shown.Name); at >= 0 {
			shown.Wide = false
			list[at] = shown
		} else {
			list = append(list, shown)
		}
	}
	return list, len(inSight)
}

// Facts are the fields that an order has, with what it has in them, for its page.
func Facts(order Shown) []Group {
	return grouped(func(of field) (forms.Field, bool) {
		shown := of.Field
		switch {
		case of.fact != nil:
			shown.Value = of.fact(order)
		case of.text != nil:
			shown.Value = of.text(order)
		}
		return shown, shown.Value != ""
	})
}

func grouped(choose func(field) (forms.Field, bool)) []Group {
	groups := []Group{
		{ID: recipientGroup, Title: "Destinatario"}, {ID: deliveryGroup, Title: "Entrega"},
		{ID: packageGroup, Title: "Paquete"}, {ID: paymentGroup, Title: "Cobro"},
	}
	for i := range groups {
		for _, of := range fields {
			if of.group != groups[i].ID {
				continue
			}
			if shown, has := choose(of); has {
				groups[i].Fields = append(groups[i].Fields, shown)
			}
		}
	}
	return groups
}

// Members are the members of a creation request.
func Members() (names []string) {
	for _, of := range fields {
		if of.Name != "" {
			names = append(names, of.Name)
		}
	}
	return names
}

// NoStore stands for the store of an order that has none.
const NoStore = "Ninguna: pedido del operador"

// SizeField offers the sizes, the default one first chosen.
func SizeField(currency string, sizes []models.Size) forms.Field {
	f := forms.Field{Name: "size", Label: "Tamaño", Kind: forms.Choice}
	for _, size := range sizes {
		label := size.Name + " (" + size.Code + ")"
		if size.Surcharge > 0 {
			label += " + " + format.Amount(size.Surcharge, currency)
		}
		f.Options = append(f.Options, forms.Option{Value: size.Code, Label: label})
		if size.IsDefault {
			f.Value = size.Code
		}
	}
	return f
}

// offerBranches offers the branches where there are several, the main one first chosen.
func offerBranches(f *forms.Field, _ orders.Caller, destinations *places.Destinations) bool {
	for _, branch := range destinations.Choices.Branches {
		label := branch.Name
		if branch.Main {
			f.Value, label = branch.ID.String(), label+" (principal)"
		}
		f.Options = append(f.Options, forms.Option{Value: branch.ID.String(), Label: label})
	}
	return len(f.Options) > 1
}

// agreedAmount is the amount to collect in words.
func agreedAmount(order Shown) string {
	switch {
	case order.AmountToCollect > 0:
		return format.Amount(order.AmountToCollect, order.Currency)
	case order.PaymentType != models.CashOnDelivery:
		return "Nada"
	case order.Status.Open():
		return "Por definir"
	}
	return "No se definió"
}

// PaymentTypeName is the name of a payment type.
func PaymentTypeName(value string) string { return labelOf(PaymentTypes, &value) }

// labelOf is the label of a value; empty if there is none.
func labelOf(options []forms.Option, value *string) string {
	for _, option := range options {
		if value != nil && option.Value == *value {
			return option.Label
		}
	}
	return ""
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
