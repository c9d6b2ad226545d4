package panel

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
)

// notice tells on the next page what came of a form. It travels in a cookie, because the page after
// a form is reached by a redirect: reloading it sends nothing twice.
type notice struct {
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
}

const (
	noticeCookie = "despacho_notice"
	// maxNotice keeps the cookie well under what browsers take.
	maxNotice = 1500
)

// done sends the visitor on to a page and says there that it worked.
func (p *Pages) done(v *Request, path, text string) error {
	return p.sendOn(v, path, notice{Text: text})
}

// refused sends the visitor on to a page and says there what did not work. What is our own fault
// stays an error, and so does what is not there: nothing leads back to it.
func (p *Pages) refused(v *Request, path string, err error) error {
	f := apperror.From(err)
	if f.Kind == apperror.Internal || f.Kind == apperror.NotFound {
		return err
	}
	return p.sendOn(v, path, notice{Text: f.Message, Failed: true})
}

func (p *Pages) sendOn(v *Request, path string, n notice) error {
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

// setCookie has the browser remember something for the panel's pages, for some seconds.
func (p *Pages) setCookie(c *gin.Context, name, value string, maxAge int) {
	http.SetCookie(c.Writer, &http.Cookie{
		Name: name, Value: value, Path: "/panel", MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(p.Config.BaseURL, "https://"),
	})
}

// takeNotice reads the notice and has the browser forget it.
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
