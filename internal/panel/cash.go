package panel

import (
	"net/http"
	"slices"

	"github.com/google/uuid"

	"despacho/internal/cash"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/panel/forms"
)

const (
	cashPath       = "/panel/caja"
	adjustmentPath = cashPath + "/ajuste"
)

// cashPage is the money of the operator at the end of the day.
type cashPage struct {
	*cash.Day
	Stores      []owedStore
	Adjustments []adjustmentForm
	// Ceiling is what a rider may carry; nil is any amount.
	Ceiling *money.Cents
}

// owedStore is what is owed to a store.
type owedStore struct{ cash.Owed }

// Key names the store in addresses.
func (o owedStore) Key() string {
	if o.StoreID == uuid.Nil {
		return ownReturns
	}
	return o.StoreID.String()
}

// adjustmentForm is a form to write an entry by hand.
type adjustmentForm struct {
	Title, Hint string
	// Open shows it, because something in it is wrong.
	Open bool
	Form *forms.Form
	kind cash.AdjustmentKind
}

// Over reports whether a rider carries more than the operator wants.
func (page *cashPage) Over(rider cash.Carrier) bool {
	return page.Ceiling != nil && rider.Total() > *page.Ceiling
}

// cashier is the user as package cash knows one.
func cashier(v *Request) cash.Caller {
	return cash.Caller{Operator: v.Operator(), UserID: v.Who.User.ID}
}

func (p *Pages) showCash(v *Request) error {
	adjustments, err := p.adjustmentForms(v)
	if err != nil {
		return err
	}
	return p.showCashWith(v, http.StatusOK, adjustments)
}

func (p *Pages) showCashWith(v *Request, status int, adjustments []adjustmentForm) error {
	day, err := p.Cash.Today(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page := &cashPage{Day: day, Adjustments: adjustments, Ceiling: v.Operator().Rules.Ceiling}
	for _, store := range day.Stores {
		page.Stores = append(page.Stores, owedStore{store})
	}
	return p.show(v, status, "cash", "Caja del día", page)
}

// adjustmentForms are the entries that are written by hand.
func (p *Pages) adjustmentForms(v *Request) ([]adjustmentForm, error) {
	riders, err := p.Operators.Riders().List(v.Ctx(), v.Operator())
	if err != nil {
		return nil, err
	}
	stores, err := p.Operators.Stores().List(v.Ctx(), v.Operator())
	if err != nil {
		return nil, err
	}
	riderOptions, storeOptions := []forms.Option{{Value: "", Label: "Elija"}}, []forms.Option{{Value: "", Label: "Pedidos propios"}}
	for _, rider := range riders {
		riderOptions = append(riderOptions, forms.Option{Value: rider.ID.String(), Label: rider.Name})
	}
	for _, store := range stores {
		storeOptions = append(storeOptions, forms.Option{Value: store.ID.String(), Label: store.Name})
	}
	reason := func(hint string) forms.Field {
		return forms.Field{Name: "reason", Label: "Motivo", Kind: forms.Text, Required: true, Hint: hint}
	}
	amount := func(label string) forms.Field {
		return forms.Field{Name: "amount", Label: label, Kind: forms.Money, Required: true}
	}
	form := func(kind cash.AdjustmentKind, title, hint, submit string, fields ...forms.Field) adjustmentForm {
		made := &forms.Form{Action: adjustmentPath + "/" + string(kind), Submit: submit, Fields: fields}
		return adjustmentForm{Title: title, Hint: hint, Form: made.WithPrefix(string(kind) + "-"), kind: kind}
	}
	return []adjustmentForm{
		form(cash.AdjustTill, "Contar la caja", "Cuente el efectivo: si no es lo que hay en el libro, queda la diferencia con su motivo.",
			"Guardar el conteo", amount("Efectivo contado"), reason("")),
		form(cash.Deposit, "Depositar en el banco", "Lo que sale de la caja y entra al banco.", "Guardar el depósito", amount("Monto"),
			reason("Por ejemplo, el número del depósito.")),
		form(cash.AdjustRider, "Ajustar la cuenta de un motorizado", "Aumenta lo que debe rendir, o lo rebaja.", "Guardar el ajuste",
			forms.Field{Name: "rider_id", Label: "Motorizado", Kind: forms.Choice, Required: true, Options: riderOptions},
			amount("Monto"), forms.Field{Name: "less", Label: "Es una rebaja", Kind: forms.Flag}, reason("")),
		form(cash.AdjustStore, "Ajustar la cuenta de una tienda", "Aumenta lo que se le paga en la próxima liquidación, o lo rebaja.",
			"Guardar el ajuste", forms.Field{Name: "store_id", Label: "Tienda", Kind: forms.Choice, Options: storeOptions},
			amount("Monto"), forms.Field{Name: "less", Label: "Es una rebaja", Kind: forms.Flag}, reason("La tienda no lo ve.")),
	}, nil
}

// adjustCash writes an entry of a kind by hand.
func (p *Pages) adjustCash(kind cash.AdjustmentKind) func(*Request) error {
	return func(v *Request) error {
		adjustments, err := p.adjustmentForms(v)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(adjustments, func(of adjustmentForm) bool { return of.kind == kind })
		adjustments[at].Open = true
		return p.handle(v, adjustments[at].Form, func(in *jsonbody.Object) error {
			adjustment, err := cash.ReadAdjustment(in, kind)
			if err == nil {
				err = p.Cash.Adjust(v.Ctx(), cashier(v), adjustment)
			}
			if err != nil {
				return err
			}
			return p.done(v, cashPath, "Guardado.")
		}, func(status int) error { return p.showCashWith(v, status, adjustments) })
	}
}
