package panel

import (
	"cmp"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
)

// SignIn is the sign-in form.
type SignIn struct {
	Email, Failure string
	// Next is the page to return to.
	Next string
	// Ended means that a form was sent after the session had ended.
	Ended bool
	// Step is set when the password was right and the code of the second factor is asked for.
	Step string
	// Recovery asks for a recovery code, which has letters, in place of the application's digits.
	// Switched means that the person has just chosen that, and sent no code.
	Recovery, Switched bool
}

// ShowSignIn renders the sign-in form.
func (p *Pages) ShowSignIn(c *gin.Context, status int, signIn SignIn) error {
	signIn.Next = localPath(signIn.Next)
	return p.render(c, status, "sign_in", &frame{Title: "Ingresar", Page: signIn, Notice: p.takeNotice(c, uuid.Nil)})
}

// Asked reports whether somebody who is not signed in asked for a page of the panel.
func (s SignIn) Asked() bool { return s.Next != home }

// ReadSignIn reads the sign-in form.
func ReadSignIn(c *gin.Context) (SignIn, *jsonbody.Object, error) {
	values, err := posted(c)
	if err != nil {
		return SignIn{}, nil, err
	}
	signIn := SignIn{Email: values.Get("email"), Next: localPath(values.Get("siguiente"))}
	in, err := jsonbody.FromForm(map[string][]string{"email": values["email"], "password": values["password"]}, nil)
	return signIn, in, err
}

// recoveryField says that a recovery code is sent, or is to be asked for.
const recoveryField = "recuperacion"

// ReadSignInCode reads the form of the second step.
func ReadSignInCode(c *gin.Context) (SignIn, *jsonbody.Object, error) {
	values, err := posted(c)
	if err != nil {
		return SignIn{}, nil, err
	}
	signIn := SignIn{Step: values.Get("step"), Next: localPath(values.Get("siguiente")),
		Recovery: values.Has(recoveryField), Switched: values.Get(recoveryField) == "elegir"}
	in, err := jsonbody.FromForm(map[string][]string{"step": values["step"], "code": values["code"]}, nil)
	return signIn, in, err
}

// ShowFailure renders an error page, with the menu if the request's user may open the panel. It
// lets a user sign out who may not open the page: one of an inactive store may open none that has
// the menu.
func (p *Pages) ShowFailure(c *gin.Context, status int, f *apperror.Error) error {
	title := cmp.Or(failureTitles[f.Kind], "No se pudo hacer")
	if v := attached(c); v != nil && f.Kind != apperror.Internal && f.Kind != apperror.Unavailable {
		return p.show(v, status, "failure", title, failurePage{Message: f.Message})
	}
	return p.render(c, status, "failure", &frame{Title: title, Page: failurePage{Message: f.Message, Forbidden: f.Kind == apperror.Forbidden}})
}

type failurePage struct {
	Message   string
	Forbidden bool
}

var failureTitles = map[apperror.Kind]string{
	apperror.NotFound: "No encontrado", apperror.MethodNotAllowed: "No encontrado", apperror.Forbidden: "Sin permiso", apperror.Internal: "Algo salió mal",
	apperror.Unavailable: "Vuelva a intentarlo", apperror.TooMany: "Vuelva a intentarlo",
}
