package panel

import (
	"net/http"

	"despacho/models"
)

const accountPath = "/panel/cuenta"

// accountPage shows the signed-in user, and the form to change the password.
type accountPage struct {
	Role, Store string
	Form        *form
}

func passwordForm() *form {
	return &form{Action: accountPath, Submit: "Cambiar contraseña", Fields: []field{
		{Name: "current", Label: "Contraseña actual", Kind: passwordField, Required: true, Wide: true},
		{Name: "new", Label: "Contraseña nueva", Kind: secretField, Required: true, Wide: true, Hint: "Al menos 8 caracteres."},
		{Name: "repeat", Label: "Repita la contraseña nueva", Kind: secretField, Required: true, Wide: true},
	}}
}

func (p *Pages) account(v *Request) error { return p.showAccount(v, http.StatusOK, passwordForm()) }

func (p *Pages) showAccount(v *Request, status int, asked *form) error {
	page := accountPage{Role: roleName(&v.Who.User), Form: asked}
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
		return "Personal del operador"
	}
	return "Personal de la tienda"
}

// changePassword changes the user's own password, which is typed twice because it is not shown.
func (p *Pages) changePassword(v *Request) error {
	asked := passwordForm()
	in, err := asked.read(p, v)
	if err == nil {
		if v.PostForm("new") != v.PostForm("repeat") {
			in.AddError("repeat", "no es igual a la contraseña nueva")
		}
		if err := p.LimitPasswordAttempts(v.Context, &v.Who.User); err != nil {
			return err
		}
		err = p.Operators.ChangePassword(v.Ctx(), &v.Who.User, v.Who.SessionID, in)
	}
	if err == nil {
		return p.done(v, accountPath, "La contraseña cambió. Sus otras sesiones se cerraron.")
	}
	if !asked.addError(err) {
		return err
	}
	return p.showAccount(v, http.StatusUnprocessableEntity, asked)
}
