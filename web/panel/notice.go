package panel

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
)

// notice is a flash message: the result of a form on the next page. It is kept in a cookie, because
// the response to a form is a redirect, so that reloading the page does not send the form again.
type notice struct {
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
}

const (
	noticeCookie = "despacho_notice"
	// maxNotice keeps the cookie below the browsers' limit.
	maxNotice = 1500
)

// done redirects to a page with a success message.
func (p *Pages) done(v *Request, path, text string) error {
	return p.redirectWithNotice(v, path, notice{Text: text})
}

// refused redirects to a page with an error message. Internal and not-found errors are returned
// instead.
func (p *Pages) refused(v *Request, path string, err error) error {
	f := apperror.From(err)
	if f.Kind == apperror.Internal || f.Kind == apperror.NotFound {
		return err
	}
	return p.redirectWithNotice(v, path, notice{Text: f.Message, Failed: true})
}

func (p *Pages) redirectWithNotice(v *Request, path string, n notice) error {
	if len(n.Text) > maxNotice {
		n.Text = strings.ToValidUTF8(n.Text[:maxNotice], "") + "…"
	}
	packed, err := json.Marshal(n)
	if err != nil {
		return err
	}
	p.setCookie(v.Context, noticeCookie, base64.RawURLEncoding.EncodeToString(packed), 60)
	v.Redirect(http.StatusSeeOther, localPath(path))
	return nil
}

// setCookie sets a cookie for the panel's pages; maxAge is in seconds.
func (p *Pages) setCookie(c *gin.Context, name, value string, maxAge int) {
	http.SetCookie(c.Writer, &http.Cookie{
		Name: name, Value: value, Path: "/panel", MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(p.Config.BaseURL, "https://"),
	})
}

// takeNotice reads the notice and deletes its cookie.
func takeNotice(c *gin.Context) *notice {
	cookie, err := c.Cookie(noticeCookie)
	if err != nil || cookie == "" {
		return nil
	}
	http.SetCookie(c.Writer, &http.Cookie{Name: noticeCookie, Path: "/panel", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	packed, err := base64.RawURLEncoding.DecodeString(cookie)
	var n notice
	if err != nil || json.Unmarshal(packed, &n) != nil {
		return nil
	}
	return &n
}
