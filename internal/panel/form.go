package panel

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/panel/forms"
)

// readForm reads the posted values of a form.
func (p *Pages) readForm(v *Request, form *forms.Form) (*jsonbody.Object, error) {
	values, err := posted(v.Context)
	if err != nil {
		return nil, err
	}
	return p.readValues(v, form, values)
}

// readValues is readForm for values that were read from the request before.
func (p *Pages) readValues(v *Request, form *forms.Form, values url.Values) (*jsonbody.Object, error) {
	return form.Read(values, v.Operator().TimeZone(), func(field *forms.Field) (id, complaint string, err error) {
		if field.Kind == forms.Destination {
			return p.findDestination(v, field)
		}
		return p.findPlace(v, field)
	})
}

// handle reads a form and runs act, which ends with a redirect. If the form is refused, again shows
// its page with what was typed and the error. What does not exist has no such page.
func (p *Pages) handle(v *Request, form *forms.Form, act func(*jsonbody.Object) error, again func(status int) error) error {
	in, err := p.readForm(v, form)
	if err == nil {
		err = act(in)
	}
	if err == nil || apperror.From(err).Kind == apperror.NotFound || !form.AddError(err) {
		return err
	}
	return again(http.StatusUnprocessableEntity)
}

// handlePassword is handle for a form with a password or a code: attempts are counted.
func (p *Pages) handlePassword(
	v *Request, form *forms.Form, act func(*jsonbody.Object) error, again func(status int) error,
) error {
	if err := p.LimitPasswordAttempts(v.Context, &v.Who.User); err != nil {
		return err
	}
	return p.handle(v, form, act, again)
}

// posted returns the values of a form without files.
func posted(c *gin.Context) (url.Values, error) {
	if err := c.Request.ParseForm(); err != nil {
		return nil, formError(err, apperror.New(apperror.Invalid, "invalid_form", "El formulario no se pudo leer.").Because(err))
	}
	return c.Request.PostForm, nil
}

// formError returns the error of the body, if it could not be received; otherwise the form is
// wrong.
func formError(err, wrong error) error {
	var received *apperror.Error
	if errors.As(err, &received) {
		return received
	}
	return wrong
}
