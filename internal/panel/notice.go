package panel

import (
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/panel/barcode"
)

// notice is the result of a form on the page that the browser is redirected to, so that reloading
// that page does not send the form again. It rides in an encrypted cookie.
type notice struct {
	Text   string      `json:"text"`
	Failed bool        `json:"failed,omitempty"`
	Once   []shownOnce `json:"once,omitempty"`
	// Path is a page that the notice is about, and Label its name.
	Path  string    `json:"path,omitempty"`
	Label string    `json:"label,omitempty"`
	Until time.Time `json:"until"`
}

// shownOnce is a secret, which only the notice's page shows.
type shownOnce struct {
	// ID is the element that the copy button copies from.
	ID    string `json:"id"`
	Value string `json:"value"`
	// Label is above the secret, Hint below it.
	Label string `json:"label,omitempty"`
	Hint  string `json:"hint,omitempty"`
	// QR is the text of a QR code above the secret, if there is one.
	QR string `json:"qr,omitempty"`
	// Here means that the QR code is for the phone that shows it, too, at which nobody can point its
	// camera.
	Here bool `json:"here,omitempty"`
	// WhatsApp is the address of a conversation to send the secret in, if there is one.
	WhatsApp string `json:"whatsapp,omitempty"`
}

// Opens is the link of a QR code that is for this phone. The text is the service's own, whatever
// its scheme is.
func (s shownOnce) Opens() template.URL {
	if !s.Here {
		return ""
	}
	return template.URL(s.QR)
}

// Square is the QR code, or nil.
func (s shownOnce) Square() (*barcode.Drawing, error) {
	if s.QR == "" {
		return nil, nil
	}
	return barcode.QR(s.QR)
}

// ShowsSecret is set in the context of a request whose response shows a secret.
const ShowsSecret = "shows secret"

const (
	noticeCookie = "despacho_notice"
	// maxNotice keeps the cookie below the browsers' limit.
	maxNotice = 1500
	// noticeDuration is how long a notice waits for the browser to follow the redirect.
	noticeDuration = 5 * time.Minute
)

// done redirects to a page with a success message and what is shown once.
func (p *Pages) done(v *Request, path, text string, once ...shownOnce) error {
	return p.redirectWithNotice(v.Context, v.Who.SessionID, path, notice{Text: text, Once: once})
}

// refused redirects to a page with an error message. Internal and not-found errors are returned
// instead.
func (p *Pages) refused(v *Request, path string, err error) error {
	f := apperror.From(err)
	if f.Kind == apperror.Internal || f.Kind == apperror.NotFound {
		return err
	}
	return p.redirectWithNotice(v.Context, v.Who.SessionID, path, notice{Text: f.Message, Failed: true})
}

// redirectWithNotice redirects to a page that shows the notice to the session; uuid.Nil is a
// visitor who is not signed in. A cookie of somebody else's making, or of another session, shows
// nothing.
func (p *Pages) redirectWithNotice(c *gin.Context, session uuid.UUID, path string, n notice) error {
	if len(n.Text) > maxNotice {
		n.Text = strings.ToValidUTF8(n.Text[:maxNotice], "") + "…"
	}
	n.Until = p.Clock.Now().Add(noticeDuration)
	packed, err := json.Marshal(n)
	if err != nil {
		return err
	}
	sealed := base64.RawURLEncoding.EncodeToString(p.Secrets.Seal(packed, noticeContext(session)))
	p.SetCookie(c, noticeCookie, sealed, int(noticeDuration.Seconds()))
	if c.GetHeader("X-Script") == "form" {
		// A script that follows a redirect would take the notice from the page that the browser shows.
		c.Header("Location", localPath(path))
		c.Status(http.StatusNoContent)
		return nil
	}
	c.Redirect(http.StatusSeeOther, localPath(path))
	return nil
}

// noticeContext binds a notice to the session that it is for.
func noticeContext(session uuid.UUID) []byte { return []byte("notice for " + session.String()) }

// takeNotice reads the notice of a session and deletes its cookie.
func (p *Pages) takeNotice(c *gin.Context, session uuid.UUID) *notice {
	cookie, err := c.Cookie(noticeCookie)
	if err != nil || cookie == "" {
		return nil
	}
	p.SetCookie(c, noticeCookie, "", -1)
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil {
		return nil
	}
	packed, err := p.Secrets.Open(sealed, noticeContext(session))
	var n notice
	if err != nil || json.Unmarshal(packed, &n) != nil || !p.Clock.Now().Before(n.Until) {
		return nil
	}
	if len(n.Once) > 0 {
		c.Set(ShowsSecret, true)
	}
	return &n
}
