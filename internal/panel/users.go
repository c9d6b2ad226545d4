package panel

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"despacho/internal/jsonbody"
	"despacho/internal/operators"
	"despacho/internal/panel/forms"
	"despacho/models"
)

const usersPath = "/panel/usuarios"

func (p *Pages) users() *resource[models.User] {
	return &resource[models.User]{
		pages: p, path: usersPath, title: "Usuarios",
		intro:   "Quienes entran a este panel: su equipo y el de sus tiendas. Los administradores, además, ven esta página.",
		columns: []string{"Nombre", "Rol", "Estado"},
		add:     "Agregar usuario", made: "Usuario agregado. Con el enlace elige su contraseña.", changed: "Usuario guardado.",
		gender: masculine, reads: models.AdminRead, writes: models.AdminWrite,
		inactive: "Sin marcar, no puede ingresar y sus sesiones se cierran.",
		list:     p.Operators.Users, change: p.Operators.ChangeUser, absent: operators.ErrUserNotFound,
		create: func(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*models.User, []shownOnce, error) {
			if role := in.Text("role", len(models.RoleOperator)); role != nil && *role == string(models.RoleStore) {
				in = in.With("grants", []models.Grant{}) // the form ticks one for whoever is of the operator
			}
			invited, err := p.Operators.InviteUser(ctx, operator, in)
			if err != nil {
				return nil, nil, err
			}
			return invited.User, []shownOnce{p.resetLink(operator, invited)}, nil
		},
		name: func(u *models.User) string { return u.Name }, active: func(u *models.User) bool { return u.Active },
		describe: p.describeUsers,
	}
}

func (p *Pages) describeUsers(v *Request) (described[models.User], error) {
	stores, err := p.Operators.Stores().List(v.Ctx(), v.Operator())
	names := storeNames(stores)
	return described[models.User]{
		cells: func(u *models.User) []cell {
			state := activity(u.Active, masculine)
			if u.HasSecondFactor() {
				state.Note = "Con segundo factor"
			}
			return []cell{{Text: u.Name, Note: u.Email}, roleOf(u, names), state}
		},
		fields:  func(u *models.User) []forms.Field { return userFields(u, stores) },
		actions: func(u *models.User) []action { return userActions(v, u) },
	}, err
}

func roleOf(u *models.User, names storeNaming) cell {
	switch {
	case u.Role == models.RoleStore:
		return cell{Text: "Tienda", Note: names.of(u.StoreID)}
	case u.Admin:
		return cell{Text: "Operador", Note: "Administrador"}
	}
	return cell{Text: "Operador", Note: grantNames(u)}
}

// grantNames are what a user of the operator may do besides reading, in words.
func grantNames(u *models.User) string {
	var names []string
	for _, grant := range models.Grants {
		if u.HasGrant(grant) {
			names = append(names, grant.Label())
		}
	}
	return cmp.Or(strings.Join(names, ", "), "Solo consulta")
}

func userFields(u *models.User, stores []models.Store) []forms.Field {
	store := forms.IDValue(u.StoreID)
	return []forms.Field{
		{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true, Value: u.Name},
		{Name: "email", Label: "Correo", Kind: forms.Email, Required: true, Value: u.Email, Hint: "Con él ingresa."},
		{
			Name: "role", Label: "Rol", Kind: forms.Choice, Required: true, Value: string(cmp.Or(u.Role, models.RoleOperator)),
			Hint: "Una tienda ve y crea solo lo suyo.",
			Options: []forms.Option{{Value: string(models.RoleOperator), Label: "Operador"},
				{Value: string(models.RoleStore), Label: "Tienda"}},
		},
		{
			Name: "store_id", Label: "Tienda", Kind: forms.Choice, Value: store, Hint: "Solo para el rol Tienda.",
			Options: forms.StoreOptions("Ninguna", stores, store),
		},
		{
			Name: "admin", Label: "Administrador", Kind: forms.Flag, Value: strconv.FormatBool(u.Admin),
			Hint: "Solo para el rol Operador: tiene todos los permisos y también maneja los usuarios.",
		},
		grantsField(u),
	}
}

// grantsField has the grants of a user, or of a new one.
func grantsField(u *models.User) forms.Field {
	chosen := models.SplitSpaced[models.Grant](u.Grants)
	if u.Role == "" {
		chosen = models.NewUserGrants
	}
	field := ruleWords("grants", "Permisos", models.Grants, chosen)
	field.Hint = "Solo para el rol Operador. Sin ninguno, solo consulta."
	return field
}

func passwordQuestion() forms.Field {
	return forms.Field{Name: "password", Label: "Contraseña", Kind: forms.NewPassword,
		Hint: "En blanco, se genera una y se le muestra a usted una sola vez."}
}

// userActions are the actions on a colleague; the first sets the password. Users change their own
// in their account.
func userActions(v *Request, a *models.User) []action {
	if a.ID == v.Who.User.ID {
		return nil
	}
	path := usersPath + "/" + a.ID.String()
	actions := []action{
		{
			Title: "Cambiar la contraseña",
			Text:  "Para quien la olvidó, o si otra persona la conoce. Sus sesiones abiertas se cierran.",
			Form:  &forms.Form{Action: path + "/contrasena", Submit: "Sí, cambiarla", Fields: []forms.Field{passwordQuestion()}},
		},
		{
			Title: "Dar un enlace para que elija su contraseña",
			Text:  "El enlace sirve una vez, durante 24 horas. La contraseña de ahora deja de servir y sus sesiones abiertas se cierran.",
			Form:  &forms.Form{Action: path + "/enlace", Submit: "Sí, crear el enlace"},
		},
	}
	if a.HasSecondFactor() {
		actions = append(actions, action{
			Title: "Quitar su segundo factor",
			Text: "Para quien perdió su teléfono y sus códigos de recuperación. Asegúrese antes de que quien lo pide " +
				"es esa persona. Sus sesiones abiertas se cierran.",
			Form: &forms.Form{Action: path + "/segundo-factor", Submit: "Sí, quitarlo", Danger: true},
		})
	}
	return actions
}

// newPassword shows the generated password of a user, if there is one.
func newPassword(u *models.User, generated string) []shownOnce {
	if generated == "" {
		return nil
	}
	return []shownOnce{{ID: "new-password", Value: generated, Label: "Contraseña de " + u.Name + " (" + u.Email + "):"}}
}

func (p *Pages) resetPassword(v *Request) error {
	users := p.users()
	user, as, err := users.open(v)
	if err != nil {
		return err
	}
	actions := userActions(v, user)
	if len(actions) == 0 {
		return operators.ErrOwnAccount
	}
	return p.handle(v, actions[0].Form, func(in *jsonbody.Object) error {
		generated, err := p.Operators.ResetPassword(v.Ctx(), v.Who, user.ID, in)
		if err != nil {
			return err
		}
		return p.done(v, usersPath, "Contraseña cambiada.", newPassword(user, generated)...)
	}, func(status int) error {
		actions[0].Open = true
		as.actions = func(*models.User) []action { return actions }
		return users.showEdit(v, status, user, users.editForm(as, user), as)
	})
}

func (p *Pages) startPasswordReset(v *Request) error {
	user, err := p.users().find(v)
	if err != nil {
		return err
	}
	reset, err := p.Operators.StartPasswordReset(v.Ctx(), v.Who, user.ID)
	if err != nil {
		return err
	}
	text := "Enlace para que " + user.Name + " elija su contraseña. La anterior ya no sirve y sus sesiones se cerraron."
	return p.done(v, usersPath, text, p.resetLink(v.Operator(), reset))
}

// resetLink shows the link with which a user chooses a password.
func (p *Pages) resetLink(operator *models.Operator, reset *operators.PasswordReset) shownOnce {
	return shownOnce{
		ID: "reset-link", Value: reset.Link(p.Config.BaseURL),
		Label: "Enlace para que " + reset.User.Name + " elija su contraseña:",
		Hint: "Entréguelo a esa persona: sirve una vez, hasta el " +
			reset.ExpiresAt.In(operator.TimeZone()).Format("02/01/2006 15:04") + ".",
	}
}

func (p *Pages) resetSecondFactor(v *Request) error {
	user, err := p.users().find(v)
	if err != nil {
		return err
	}
	if err := p.Operators.ResetSecondFactor(v.Ctx(), v.Who, user.ID); err != nil {
		return err
	}
	return p.done(v, usersPath, user.Name+" ya no tiene segundo factor. Sus sesiones se cerraron.")
}
