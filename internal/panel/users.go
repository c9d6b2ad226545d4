package panel

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/operators"
	"despacho/internal/panel/forms"
	"despacho/models"
)

const usersPath = "/panel/usuarios"

// account is a user with the name of its store and, if it was just generated, its password.
type account struct {
	models.User
	store     string
	generated string
}

func (p *Pages) users() *resource[account] {
	return &resource[account]{
		pages: p, path: usersPath, title: "Usuarios",
		intro:   "Quienes entran a este panel: su equipo y el de sus tiendas. Los administradores, además, ven esta página.",
		columns: []string{"Nombre", "Rol", "Estado"},
		add:     "Agregar usuario", made: "Usuario agregado.", changed: "Usuario guardado.",
		all: p.listAccounts, absent: operators.ErrUserNotFound, once: newPassword, actions: userActions,
		make: func(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*account, error) {
			user, generated, err := p.Operators.CreateUser(ctx, operator, in)
			if err != nil {
				return nil, err
			}
			return &account{User: *user, generated: generated}, nil
		},
		alter: func(ctx context.Context, operator *models.Operator, id uuid.UUID, read *account, in *jsonbody.Object) error {
			return unlessChanged(p.Operators.ChangeUser)(ctx, operator, id, &read.User, in)
		},
		id:   func(a *account) uuid.UUID { return a.ID },
		name: func(a *account) string { return a.Name },
		cells: func(_ *Request, a *account) []cell {
			return []cell{{Text: a.Name, Note: a.Email}, a.role(), a.state()}
		},
		fields: p.accountFields,
	}
}

func (p *Pages) listAccounts(ctx context.Context, operator *models.Operator) ([]account, error) {
	users, err := p.Operators.Users(ctx, operator)
	if err != nil {
		return nil, err
	}
	stores, err := p.Operators.Stores(ctx, operator)
	if err != nil {
		return nil, err
	}
	names := storeNames(stores)
	accounts := make([]account, len(users))
	for i, user := range users {
		accounts[i].User = user
		if user.StoreID != nil {
			accounts[i].store = names[*user.StoreID]
		}
	}
	return accounts, nil
}

func (a *account) role() cell {
	switch {
	case a.Role == models.RoleStore:
		return cell{Text: "Tienda", Note: a.store}
	case a.Admin:
		return cell{Text: "Operador", Note: "Administrador"}
	}
	return plain("Operador")
}

func (a *account) state() cell {
	state := activity(a.Active)
	if a.HasSecondFactor() {
		state.Note = "Con segundo factor"
	}
	return state
}

func (p *Pages) accountFields(v *Request, a *account) ([]forms.Field, error) {
	stores, err := p.Operators.Stores(v.Ctx(), v.Operator())
	if err != nil {
		return nil, err
	}
	name := forms.Field{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true}
	email := forms.Field{Name: "email", Label: "Correo", Kind: forms.Email, Required: true, Hint: "Con él ingresa."}
	role := forms.Field{Name: "role", Label: "Rol",
		Kind: forms.Choice, Required: true, Value: string(models.RoleOperator),
		Hint:    "Una tienda ve y crea solo lo suyo.",
		Options: []forms.Option{{Value: string(models.RoleOperator), Label: "Operador"}, {Value: string(models.RoleStore), Label: "Tienda"}},
	}
	store := forms.Field{Name: "store_id", Label: "Tienda", Kind: forms.Choice, Hint: "Solo para el rol Tienda."}
	admin := forms.Field{Name: "admin", Label: "Administrador", Kind: forms.Flag, Hint: "Solo para el rol Operador: también maneja los usuarios."}
	if a == nil {
		store.Options = forms.StoreOptions("Ninguna", stores, "")
		return []forms.Field{name, email, role, store, admin, passwordQuestion()}, nil
	}
	name.Value, email.Value, role.Value, store.Value, admin.Value = a.Name, a.Email, string(a.Role), forms.IDValue(a.StoreID), strconv.FormatBool(a.Admin)
	store.Options = forms.StoreOptions("Ninguna", stores, store.Value)
	return []forms.Field{name, email, role, store, admin, forms.Active(a.Active, "Sin marcar, no puede ingresar y sus sesiones se cierran.")}, nil
}

func passwordQuestion() forms.Field {
	return forms.Field{Name: "password", Label: "Contraseña", Kind: forms.NewPassword, Hint: "En blanco, se genera una y se le muestra a usted una sola vez."}
}

// userActions are the actions on a colleague; the first sets the password. Users change their own
// in their account.
func userActions(v *Request, a *account) []action {
	if a.ID == v.Who.User.ID {
		return nil
	}
	path := usersPath + "/" + a.ID.String()
	actions := []action{
		{
			Title: "Cambiar la contraseña", Text: "Para quien la olvidó, o si otra persona la conoce. Sus sesiones abiertas se cierran.",
			Form: &forms.Form{Action: path + "/contrasena", Submit: "Sí, cambiarla", Fields: []forms.Field{passwordQuestion()}},
		},
		{
			Title: "Dar un enlace para que elija su contraseña", Text: "El enlace sirve una vez, durante 24 horas. La contraseña de ahora deja de servir y sus sesiones abiertas se cierran.",
			Form: &forms.Form{Action: path + "/enlace", Submit: "Sí, crear el enlace"},
		},
	}
	if a.HasSecondFactor() {
		actions = append(actions, action{
			Title: "Quitar su segundo factor", Text: "Para quien perdió su teléfono y sus códigos de recuperación. Asegúrese antes de que quien lo pide es esa persona. Sus sesiones abiertas se cierran.",
			Form: &forms.Form{Action: path + "/segundo-factor", Submit: "Sí, quitarlo", Danger: true},
		})
	}
	return actions
}

// newPassword is the generated password of an account, if it has one.
func newPassword(a *account) []shownOnce {
	if a.generated == "" {
		return nil
	}
	return []shownOnce{{ID: "new-password", Value: a.generated, Label: "Contraseña de " + a.Name + " (" + a.Email + "):"}}
}

func (p *Pages) resetPassword(v *Request) error {
	users := p.users()
	user, err := users.find(v)
	if err != nil {
		return err
	}
	actions := userActions(v, user)
	if len(actions) == 0 {
		return operators.ErrOwnAccount
	}
	form := actions[0].Form
	return p.handle(v, form, func(in *jsonbody.Object) (err error) {
		if user.generated, err = p.Operators.ResetPassword(v.Ctx(), v.Who, user.ID, in); err != nil {
			return err
		}
		return p.done(v, usersPath, "Contraseña cambiada.", newPassword(user)...)
	}, func(status int) error {
		actions[0].Open = true
		edit, err := users.ask(v, user)
		if err != nil {
			return err
		}
		return users.showEdit(v, status, user, edit, actions)
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
	until := reset.ExpiresAt.In(v.Operator().TimeZone()).Format("02/01/2006 15:04")
	return p.done(v, usersPath, text, shownOnce{
		ID: "reset-link", Value: reset.Link(p.Config.BaseURL), Hint: "Entréguelo a esa persona: sirve una vez, hasta el " + until + ".",
	})
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
