package panel

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

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
	return p.redirectWithNotice(v.Context, v.Who.SessionID, path, notice{Text: text})
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
// visitor who is not signed in. The notice is signed, so that a cookie of somebody else's making
// shows nothing.
func (p *Pages) redirectWithNotice(c *gin.Context, session uuid.UUID, path string, n notice) error {
	if len(n.Text) > maxNotice {
		n.Text = strings.ToValidUTF8(n.Text[:maxNotice], "") + "…"
	}
	packed, err := json.Marshal(n)
	if err != nil {
		return err
	}
	p.SetCookie(c, noticeCookie, p.Signer.Sign(noticePurpose(session), packed, p.Clock.Now().Add(noticeDuration)), int(noticeDuration.Seconds()))
	c.Redirect(http.StatusSeeOther, localPath(path))
	return nil
}

const noticeDuration = time.Minute

// noticePurpose binds a notice to the session that it is for.
func noticePurpose(session uuid.UUID) string { return "notice for " + session.String() }

// takeNotice reads the notice of a session and deletes its cookie.
func (p *Pages) takeNotice(c *gin.Context, session uuid.UUID) *notice {
	cookie, err := c.Cookie(noticeCookie)
	if err != nil || cookie == "" {
		return nil
	}
	p.SetCookie(c, noticeCookie, "", -1)
	packed, ok := p.Signer.Open(noticePurpose(session), cookie, p.Clock.Now())
	var n notice
	if !ok || json.Unmarshal(packed, &n) != nil {
		return nil
	}
	return &n
}
