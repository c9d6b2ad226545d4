package panel

import (
	"net/http"

	"despacho/internal/panel/barcode"
	"despacho/internal/panel/forms"
)

// SecondFactorPath is where users set up their second factor. Administrators who need one and lack
// it are sent here.
const SecondFactorPath = accountPath + "/segundo-factor"

// secondFactorPage offers to set up a second factor, or to remove the one there is.
type secondFactorPage struct {
	Active bool
	// Needed means that the operator requires one of this user.
	Needed    bool
	CodesLeft int64
	Form      *forms.Form
}

// confirmPage asks for the first code. The QR code and the secret are only shown once.
type confirmPage struct {
	Square *barcode.Drawing
	Secret *shownOnce
	Form   *forms.Form
}

// recoveryPage shows the recovery codes, once.
type recoveryPage struct{ Codes []string }

func secondFactorForm(active bool) *forms.Form {
	password := forms.Field{Name: "password", Label: "Su contraseña", Kind: forms.Password, Required: true, Wide: true}
	if !active {
		return &forms.Form{Action: SecondFactorPath, Submit: "Activar", Fields: []forms.Field{password}}
	}
	return &forms.Form{Action: SecondFactorPath + "/quitar", Submit: "Quitar el segundo factor", Danger: true, Fields: []forms.Field{
		password,
		{Name: "code", Label: "Código", Kind: forms.Code, Required: true, Wide: true, Hint: "El de su aplicación, o uno de recuperación."},
	}}
}

func confirmForm() *forms.Form {
	return &forms.Form{Action: SecondFactorPath + "/confirmar", Submit: "Confirmar", Fields: []forms.Field{
		{Name: "code", Label: "Código de 6 dígitos", Kind: forms.Code, Required: true, Wide: true, Hint: "El que muestra ahora su aplicación."},
	}}
}

func (p *Pages) showSecondFactor(v *Request) error {
	return p.showSecondFactorForm(v, http.StatusOK, secondFactorForm(v.Who.User.HasSecondFactor()))
}

func (p *Pages) showSecondFactorForm(v *Request, status int, form *forms.Form) error {
	user := &v.Who.User
	page := secondFactorPage{Active: user.HasSecondFactor(), Needed: user.Administers() && v.Operator().RequireSecondFactor, Form: form}
	if page.Active {
		var err error
		if page.CodesLeft, err = p.Operators.RecoveryCodesLeft(v.Ctx(), user); err != nil {
			return err
		}
	}
	return p.show(v, status, "second_factor", "Segundo factor", page)
}

// startSecondFactor shows the QR code on a page that is shown once, so that neither a later request
// nor the browser's history has it.
func (p *Pages) startSecondFactor(v *Request) error {
	form := secondFactorForm(false)
	in, err := p.readForm(v, form)
	if err == nil {
		if err := p.LimitPasswordAttempts(v.Context, &v.Who.User); err != nil {
			return err
		}
		started, startErr := p.Operators.StartSecondFactor(v.Ctx(), v.Who, in)
		if startErr == nil {
			square, err := barcode.QR(started.URI)
			if err != nil {
				return err
			}
			v.ShowsSecret = true
			return p.show(v, http.StatusOK, "second_factor_confirm", "Confirmar el segundo factor", confirmPage{
				Square: square, Secret: &shownOnce{ID: "totp-secret", Value: started.Secret}, Form: confirmForm(),
			})
		}
		err = startErr
	}
	if !form.AddError(err) {
		return err
	}
	return p.showSecondFactorForm(v, http.StatusUnprocessableEntity, form)
}

func (p *Pages) confirmSecondFactor(v *Request) error {
	form := confirmForm()
	in, err := p.readForm(v, form)
	if err == nil {
		if err := p.LimitPasswordAttempts(v.Context, &v.Who.User); err != nil {
			return err
		}
		codes, confirmErr := p.Operators.ConfirmSecondFactor(v.Ctx(), v.Who, in)
		if confirmErr == nil {
			v.ShowsSecret = true
			return p.show(v, http.StatusOK, "recovery_codes", "Códigos de recuperación", recoveryPage{Codes: codes})
		}
		err = confirmErr
	}
	if !form.AddError(err) {
		return err
	}
	return p.show(v, http.StatusUnprocessableEntity, "second_factor_confirm", "Confirmar el segundo factor", confirmPage{Form: form})
}

func (p *Pages) removeSecondFactor(v *Request) error {
	form := secondFactorForm(true)
	in, err := p.readForm(v, form)
	if err == nil {
		if err := p.LimitPasswordAttempts(v.Context, &v.Who.User); err != nil {
			return err
		}
		err = p.Operators.RemoveSecondFactor(v.Ctx(), v.Who, in)
	}
	if err == nil {
		return p.done(v, SecondFactorPath, "El segundo factor quedó quitado.")
	}
	if !form.AddError(err) {
		return err
	}
	return p.showSecondFactorForm(v, http.StatusUnprocessableEntity, form)
}
