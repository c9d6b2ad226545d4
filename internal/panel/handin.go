package panel

import (
	"errors"
	"net/http"
	"strconv"

	"despacho/internal/cash"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/models"
)

const (
	handInPath  = cashPath + "/rendir"
	handInsPath = cashPath + "/rendiciones"
)

// handInPage is where a cashier counts what a rider hands in.
type handInPage struct {
	Rider models.Rider
	Form  *forms.Form
	// Expected is shown before counting only if the operator wants it.
	Expected *money.Cents
	// Difference is what was counted against what is expected, once it was counted.
	Difference *cash.Difference
}

func (p *Pages) showHandInForm(v *Request) error {
	due, err := p.dueOf(v, v.Query("motorizado"))
	if err != nil {
		return err
	}
	return p.showHandInWith(v, http.StatusOK, due, handInForm(v, due), nil)
}

func (p *Pages) dueOf(v *Request, typed string) (*cash.Due, error) {
	rider, valid := jsonbody.ParseUUID(typed)
	if !valid {
		return nil, cash.ErrRiderNotFound
	}
	return p.Cash.Due(v.Ctx(), v.Operator(), rider)
}

func (p *Pages) showHandInWith(v *Request, status int, due *cash.Due, form *forms.Form, difference *cash.Difference) error {
	page := &handInPage{Rider: due.Rider, Form: form, Difference: difference}
	if expected := max(due.Cash(), 0); v.Operator().Rules.OpenCount {
		page.Expected = &expected
	}
	return p.show(v, status, "handin", "Rendir: "+due.Rider.Name, page)
}

// handInForm asks for what was counted, and which payments in other ways the operator's bank shows.
func handInForm(v *Request, due *cash.Due) *forms.Form {
	form := &forms.Form{
		Action: withQuery(handInPath, map[string]string{"motorizado": due.Rider.ID.String()}), Submit: "Cerrar la rendición",
		Fields: []forms.Field{{Name: "counted", Label: "Efectivo contado", Kind: forms.Money, Required: true, Focus: true}},
	}
	if others := due.OtherLines(); len(others) > 0 {
		checks := forms.Field{Name: "payments", Label: "Pagos que ve en su banco o billetera", Kind: forms.Checks, Wide: true,
			Hint: "Lo que no marque queda por rendir."}
		for _, line := range others {
			label := line.Method.Label() + " " + format.Amount(line.Amount, v.Operator().Currency) + " · " + line.GuideCode
			if references := line.References(); references != "" {
				label += " · operación " + references
			}
			checks.Options = append(checks.Options, forms.Option{Value: line.Key().String(), Label: label})
		}
		form.Fields = append(form.Fields, checks)
	}
	form.Fields = append(form.Fields, forms.Field{Name: "on_account", Label: "Entrega a cuenta: sigue en la calle", Kind: forms.Flag,
		Hint: "Recibe el efectivo y no cierra nada."})
	return form
}

// askAbout has the form ask who bears a difference.
func askAbout(form *forms.Form, difference cash.Difference) {
	form.Fields = append(form.Fields,
		forms.Field{Name: "expected", Kind: forms.Hidden, Value: max(difference.Expected, 0).String()},
		forms.Field{Name: "borne_by", Label: "Quién asume la diferencia", Kind: forms.Choice, Required: true, Options: []forms.Option{
			{Value: string(models.BorneByRider), Label: "El motorizado: queda en su cuenta"},
			{Value: string(models.BorneByOperator), Label: "El operador"},
		}},
		forms.Field{Name: "reason", Label: "Motivo", Kind: forms.Text, Required: true})
}

func (p *Pages) handIn(v *Request) error {
	due, err := p.dueOf(v, v.Query("motorizado"))
	if err != nil {
		return err
	}
	values, err := posted(v.Context)
	if err != nil {
		return err
	}
	form := handInForm(v, due)
	if shown, _ := money.Parse(values.Get("expected")); values.Has("expected") {
		askAbout(form, cash.Difference{Expected: shown})
	}
	in, err := p.readValues(v, form, values)
	if err != nil && !form.AddError(err) {
		return err
	}
	var request *cash.HandInRequest
	if err == nil {
		request, err = cash.ReadHandIn(in)
	}
	if err != nil {
		form.AddError(err)
		return p.showHandInWith(v, http.StatusUnprocessableEntity, due, form, nil)
	}
	written, difference, err := p.Cash.HandIn(v.Ctx(), cashier(v), due.Rider.ID, request)
	switch {
	case err == nil:
		return p.done(v, handInsPath+"/"+written.ID.String(), "Rendición "+strconv.Itoa(written.Number)+" guardada.")
	case difference != nil && (cash.IsDifference(err) || errors.Is(err, cash.ErrAmountsChanged)):
		again := handInForm(v, due)
		askAbout(again, *difference)
		for i := range again.Fields { // what was typed stays, but what is expected is what is so now
			if field := &again.Fields[i]; field.Kind != forms.Hidden {
				field.Value, field.Values = values.Get(field.Name), values[field.Name]
			}
		}
		if !cash.IsDifference(err) {
			again.AddError(err)
		}
		return p.showHandInWith(v, http.StatusConflict, due, again, difference)
	case form.AddError(err):
		return p.showHandInWith(v, http.StatusUnprocessableEntity, due, form, nil)
	}
	return err
}

// handInReceipt is a hand-in, to be printed or sent.
type handInReceipt struct {
	*cash.HandIn
	WhatsApp string
}

func (p *Pages) showHandIn(v *Request) error {
	id, err := pathID(v, cash.ErrHandInNotFound)
	if err != nil {
		return err
	}
	found, err := p.Cash.FindHandIn(v.Ctx(), v.Operator(), id)
	if err != nil {
		return err
	}
	rider, err := p.Cash.Due(v.Ctx(), v.Operator(), found.RiderID)
	if err != nil {
		return err
	}
	currency := v.Operator().Currency
	text := v.Operator().Name + ": rendición " + strconv.Itoa(found.Number) + " de " + found.RiderName + " del " +
		found.At.In(v.Operator().TimeZone()).Format("02/01/2006 15:04") + ", " + format.Amount(found.Total(), currency) + "."
	if found.Difference != 0 {
		text += " Diferencia " + format.Amount(found.Difference, currency) + "."
	}
	if left := rider.Total(); left != 0 {
		text += " Queda por rendir " + format.Amount(left, currency) + "."
	}
	return p.show(v, http.StatusOK, "handin_receipt", "Rendición "+strconv.Itoa(found.Number),
		&handInReceipt{found, whatsAppTo(rider.Rider.Phone, text)})
}
