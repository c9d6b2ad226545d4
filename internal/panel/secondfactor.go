package panel

import (
	"net/http"
	"strings"

	"despacho/internal/jsonbody"
	"despacho/internal/panel/forms"
)

// SecondFactorPath is where users set up their second factor. Administrators who need one and lack
// it are sent here.
const SecondFactorPath = accountPath + "/segundo-factor"

const confirmPath = SecondFactorPath + "/confirmar"

// secondFactorPage offers to set up a second factor, or to remove the one there is.
type secondFactorPage struct {
	Active bool
	// Needed means that the operator requires one of this user.
	Needed    bool
	CodesLeft int64
	Form      *forms.Form
	// Other is the page that asks for the other kind of code.
	Other string
}

// secondFactorForm asks for a recovery code if the address of the page says so.
func secondFactorForm(v *Request, active bool) *forms.Form {
	password := forms.Field{Name: "password", Label: "Su contraseña", Kind: forms.Password, Required: true, Wide: true}
	if !active {
		return &forms.Form{Action: SecondFactorPath, Submit: "Activar", Fields: []forms.Field{password}}
	}
	code := forms.Field{Name: "code", Label: "Código de 6 dígitos", Kind: forms.Code, Required: true, Wide: true,
		Hint: "El que muestra ahora su aplicación."}
	if v.Query(recoveryField) != "" {
		code.Label, code.Kind, code.Hint = "Código de recuperación", forms.RecoveryCode, "Uno de los que guardó al activarlo."
	}
	return &forms.Form{Action: withRecovery(v, SecondFactorPath+"/quitar"), Submit: "Quitar el segundo factor", Danger: true,
		Fields: []forms.Field{password, code}}
}

// withRecovery is the URL of a path that asks for the same kind of code as the request's page.
func withRecovery(v *Request, path string) string {
	return withQuery(path, map[string]string{recoveryField: ifSet(v.Query(recoveryField) != "", "1")})
}

func firstCodeForm() *forms.Form {
	return &forms.Form{Action: confirmPath, Submit: "Confirmar", Fields: []forms.Field{
		{Name: "code", Label: "Código de 6 dígitos", Kind: forms.Code, Required: true, Wide: true,
			Hint: "El que muestra ahora su aplicación."},
	}}
}

func (p *Pages) showSecondFactor(v *Request) error {
	return p.showSecondFactorForm(v, http.StatusOK, secondFactorForm(v, v.Who.User.HasSecondFactor()))
}

func (p *Pages) showSecondFactorForm(v *Request, status int, form *forms.Form) error {
	user := &v.Who.User
	page := secondFactorPage{Active: user.HasSecondFactor(), Needed: user.Administers() && v.Operator().RequireSecondFactor,
		Form: form}
	if page.Active {
		page.Other = withQuery(SecondFactorPath, map[string]string{recoveryField: ifSet(v.Query(recoveryField) == "", "1")})
		var err error
		if page.CodesLeft, err = p.Operators.RecoveryCodesLeft(v.Ctx(), user); err != nil {
			return err
		}
	}
	return p.show(v, status, "second_factor", "Segundo factor", page)
}

// startSecondFactor leads to the page that asks for the first code. The QR code is shown there
// once.
func (p *Pages) startSecondFactor(v *Request) error {
	form := secondFactorForm(v, false)
	return p.handlePassword(v, form, func(in *jsonbody.Object) error {
		started, err := p.Operators.StartSecondFactor(v.Ctx(), v.Who, in)
		if err != nil {
			return err
		}
		return p.done(v, confirmPath, "Lea este código con su aplicación.", shownOnce{
			ID: "totp-secret", Value: started.Secret, QR: started.URI, Here: true,
			Label: "Si no puede leerlo, escriba esta clave en la aplicación:",
		})
	}, func(status int) error { return p.showSecondFactorForm(v, status, form) })
}

func (p *Pages) askForFirstCode(v *Request) error {
	return p.showFirstCode(v, http.StatusOK, firstCodeForm())
}

func (p *Pages) showFirstCode(v *Request, status int, form *forms.Form) error {
	return p.show(v, status, "second_factor_confirm", "Confirmar el segundo factor", form)
}

func (p *Pages) confirmSecondFactor(v *Request) error {
	form := firstCodeForm()
	return p.handlePassword(v, form, func(in *jsonbody.Object) error {
		codes, err := p.Operators.ConfirmSecondFactor(v.Ctx(), v.Who, in)
		if err != nil {
			return err
		}
		return p.done(v, SecondFactorPath, "El segundo factor está activo. Sus otras sesiones se cerraron.", shownOnce{
			ID: "recovery-codes", Value: strings.Join(codes, "\n"), Label: "Sus códigos de recuperación:",
			Hint: "Cada uno sirve una vez, en lugar del código de la aplicación.",
		})
	}, func(status int) error { return p.showFirstCode(v, status, form) })
}

func (p *Pages) removeSecondFactor(v *Request) error {
	form := secondFactorForm(v, true)
	return p.handlePassword(v, form, func(in *jsonbody.Object) error {
		if err := p.Operators.RemoveSecondFactor(v.Ctx(), v.Who, in); err != nil {
			return err
		}
		return p.done(v, SecondFactorPath, "El segundo factor quedó quitado.")
	}, func(status int) error { return p.showSecondFactorForm(v, status, form) })
}
