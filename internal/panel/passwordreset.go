package panel

import (
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/operators"
	"despacho/internal/panel/forms"
)

// PasswordReset is the form in which a user chooses a password with the token of a reset.
type PasswordReset struct {
	*forms.Form
	Token string
}

// NewPasswordReset is the empty form.
func NewPasswordReset(token string) *PasswordReset {
	return &PasswordReset{Token: token, Form: &forms.Form{Action: operators.PasswordResetPath, Submit: "Guardar contraseña",
		Fields: []forms.Field{
			{Name: "new", Label: "Contraseña nueva", Kind: forms.NewPassword, Required: true, Wide: true, Focus: true,
				Hint: "Al menos 8 caracteres, y que no sea fácil de adivinar."},
			{Name: "repeat", Label: "Repita la contraseña nueva", Kind: forms.NewPassword, Required: true, Wide: true},
		}}}
}

// ReadPasswordReset reads the posted form.
func ReadPasswordReset(c *gin.Context) (*PasswordReset, *jsonbody.Object, error) {
	values, err := posted(c)
	if err != nil {
		return NewPasswordReset(""), nil, err
	}
	form := NewPasswordReset(values.Get("token"))
	in, err := jsonbody.FromForm(map[string][]string{"token": values["token"], "new": values["new"]}, nil)
	if err == nil && values.Get("new") != values.Get("repeat") {
		in.AddError("repeat", "no es igual a la contraseña nueva")
	}
	return form, in, err
}

// ShowPasswordReset renders the form.
func (p *Pages) ShowPasswordReset(c *gin.Context, status int, form *PasswordReset) error {
	c.Header("Cache-Control", "no-store")
	return p.render(c, status, "password_reset", &frame{Title: "Elegir contraseña", Page: form})
}

// PasswordResetDone leads to the sign-in.
func (p *Pages) PasswordResetDone(c *gin.Context) error {
	return p.redirectWithNotice(c, uuid.Nil, "/panel/ingreso", notice{Text: "La contraseña quedó guardada: ya puede ingresar."})
}
