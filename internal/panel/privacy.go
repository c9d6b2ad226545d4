package panel

import (
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/panel/forms"
	"despacho/internal/phone"
	"despacho/models"
)

const privacyPath = "/panel/privacidad"

func privacyForm() *forms.Form {
	return &forms.Form{Action: privacyPath, Submit: "Eliminar los datos", Danger: true, Fields: []forms.Field{
		{Name: "phone", Label: "Teléfono del destinatario", Kind: forms.Phone, Required: true, Hint: "El de los pedidos que recibió."},
	}}
}

func (p *Pages) showPrivacy(v *Request) error {
	return p.showErasure(v, http.StatusOK, privacyForm())
}

// showErasure shows the form that erases what is known of a recipient.
func (p *Pages) showErasure(v *Request, status int, form *forms.Form) error {
	return p.show(v, status, "privacy", "Datos personales", form)
}

func (p *Pages) eraseByPhone(v *Request) error {
	defer p.extendTimeout(v)()
	form := privacyForm()
	return p.handle(v, form, func(in *jsonbody.Object) error {
		number := phone.Read(in, "phone", v.Operator().CountryCode)
		if err := in.Err(); err != nil {
			return err
		}
		outcome, err := p.Orders.EraseByPhone(v.Ctx(), v.Operator(), number)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("Pedidos cuyos datos se eliminaron: %d.", outcome.Erased)
		if outcome.Open > 0 {
			text += fmt.Sprintf(" Todavía en curso: %d; elimínelos cuando terminen.", outcome.Open)
		}
		return p.done(v, privacyPath, text)
	}, func(status int) error { return p.showErasure(v, status, form) })
}

func eraseForm(id uuid.UUID) *forms.Form {
	return &forms.Form{Action: orderPath(id) + "/eliminar-datos", Submit: "Eliminar los datos", Danger: true}
}

// eraseFormFor is the form to erase an order's data, nil where the user may not.
func eraseFormFor(v *Request, order *orders.Detail) *forms.Form {
	if !order.Status.Ended() || order.Erased || !v.May(models.AdminWrite) {
		return nil
	}
	return eraseForm(order.ID)
}

func (p *Pages) eraseOrder(v *Request) error {
	return p.runAction(v, eraseForm, func(order *models.OrderView, _ *jsonbody.Object) (string, error) {
		_, err := p.Orders.Erase(v.Ctx(), v.Operator(), order.ID)
		return "Los datos del destinatario se eliminaron.", err
	})
}
