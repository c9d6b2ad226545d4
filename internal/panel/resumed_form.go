package panel

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/models"
)

// resumedForm is a form that was sent after the session had ended. The sign-in page carries it, and
// it is sent again after signing in.
type resumedForm struct {
	Path   string     `json:"path"`
	Values url.Values `json:"values"`
}

const (
	resumedFormField    = "formulario"
	resumedFormPurpose  = "form of a session that ended"
	resumedFormDuration = time.Hour
	// maxResumedForm is more than any form without a file has.
	maxResumedForm = 64 << 10
	// MaxSignInRequest is the largest request of the sign-in page, which sends the form along:
	// encoded and signed, it is longer by a third.
	MaxSignInRequest = 2 * maxResumedForm
)

// hasSecret reports whether a form is never carried: whoever typed a secret types it again. Those
// of somebody's own account have passwords and codes of the second factor, and the others no secret
// but the password of another user.
func hasSecret(path string, values url.Values) bool {
	return path == accountPath || strings.HasPrefix(path, accountPath+"/") || values.Get("password") != ""
}

// ShowSignInForForm answers a form whose session has ended with the sign-in page, which carries the
// form. A form with a file or a password cannot be carried; then the page says so.
func (p *Pages) ShowSignInForForm(c *gin.Context) error {
	signIn := SignIn{Ended: true, Next: p.PageOf(c)}
	signIn.Form = p.carryForm(c)
	return p.ShowSignIn(c, http.StatusUnauthorized, signIn)
}

// carryForm signs the posted form, so that nobody else can make one.
func (p *Pages) carryForm(c *gin.Context) string {
	kind, _, err := mime.ParseMediaType(c.GetHeader("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" || c.Request.ContentLength > maxResumedForm {
		return ""
	}
	values, err := posted(c)
	if err != nil || hasSecret(c.Request.URL.Path, values) {
		return ""
	}
	packed, err := json.Marshal(resumedForm{Path: c.Request.URL.RequestURI(), Values: values})
	if err != nil || len(packed) > maxResumedForm {
		return ""
	}
	return p.Signer.Sign(resumedFormPurpose, packed, p.Clock.Now().Add(resumedFormDuration))
}

// ShowResumed shows the page that sends a carried form again: a script does it at once, and without
// scripts there is a button. It is false if there is no form.
func (p *Pages) ShowResumed(c *gin.Context, signIn SignIn, user *models.User) (bool, error) {
	packed, ok := p.Signer.Open(resumedFormPurpose, signIn.Form, p.Clock.Now())
	var form resumedForm
	if !ok || json.Unmarshal(packed, &form) != nil || localPath(form.Path) != form.Path {
		return false, nil
	}
	return true, p.render(c, http.StatusOK, "resumed_form", &frame{Title: "Continuar", Page: struct {
		resumedForm
		Name, Back string
	}{form, user.Name, signIn.Next}})
}
