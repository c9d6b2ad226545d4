package panel

import (
	"net/http"

	"despacho/internal/jsonbody"
	"despacho/internal/panel/forms"
	"despacho/models"
)

const accountPath = "/panel/cuenta"

// accountPage shows the signed-in user, and the form to change the password.
type accountPage struct {
	Role, Store string
	Form        *forms.Form
}

func passwordForm() *forms.Form {
	return &forms.Form{Action: accountPath, Submit: "Cambiar contraseña", Fields: []forms.Field{
		{Name: "current", Label: "Contraseña actual", Kind: forms.Password, Required: true, Wide: true},
		{Name: "new", Label: "Contraseña nueva", Kind: forms.NewPassword, Required: true, Wide: true,
			Hint: "Al menos 8 caracteres, y que no sea fácil de adivinar."},
		{Name: "repeat", Label: "Repita la contraseña nueva", Kind: forms.NewPassword, Required: true, Wide: true},
	}}
}

func (p *Pages) account(v *Request) error { return p.showAccount(v, http.StatusOK, passwordForm()) }

func (p *Pages) showAccount(v *Request, status int, form *forms.Form) error {
	page := accountPage{Role: roleName(&v.Who.User), Form: form}
	if id := v.Who.User.StoreID; id != nil {
		store, err := p.DB.Store(v.Ctx(), *id)
		if err != nil {
			return err
		}
		page.Store = store.Name
	}
	return p.show(v, status, "account", "Mi cuenta", page)
}

func roleName(user *models.User) string {
	switch {
	case user.Administers():
		return "Administrador del operador"
	case user.Role == models.RoleOperator:
		return "Personal del operador: " + grantNames(user)
	}
	return "Personal de la tienda"
}

// changePassword changes the user's own password, which is typed twice because it is not shown.
func (p *Pages) changePassword(v *Request) error {
	form := passwordForm()
	return p.handlePassword(v, form, func(in *jsonbody.Object) error {
		if v.PostForm("new") != v.PostForm("repeat") {
			in.AddError("repeat", "no es igual a la contraseña nueva")
		}
		if err := p.Operators.ChangePassword(v.Ctx(), v.Who, in); err != nil {
			return err
		}
		return p.done(v, accountPath, "La contraseña cambió. Sus otras sesiones se cerraron.")
	}, func(status int) error { return p.showAccount(v, status, form) })
}
