package panel

import (
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	// listCookie is the list of orders that the user saw last, with its filter: the way back from an
	// order.
	listCookie   = "despacho_list"
	listDuration = 12 * time.Hour
	// maxList keeps the cookie below the browsers' limit, and the header below that of proxies.
	maxList = 1500
)

// listPurpose binds the list to the session that saw it: a filter may have the name or the phone of
// a recipient, which whoever signs in next in the same browser may not be allowed to know.
func listPurpose(v *Request) string { return "list of orders for " + v.Who.SessionID.String() }

// rememberList remembers a list. In place of one that is too long for a cookie, as with a pasted
// text in its search, it is the list of all orders.
func (p *Pages) rememberList(v *Request, path string) {
	if len(path) > maxList {
		path = ordersPath
	}
	signed := p.Signer.Sign(listPurpose(v), []byte(path), p.Clock.Now().Add(listDuration))
	p.SetCookie(v.Context, listCookie, signed, int(listDuration.Seconds()))
}

// lastList is the list that the user saw last.
func (p *Pages) lastList(v *Request) string {
	cookie, err := v.Cookie(listCookie)
	if err != nil {
		return ordersPath
	}
	seen, ok := p.Signer.Open(listPurpose(v), cookie, p.Clock.Now())
	if !ok || !strings.HasPrefix(string(seen), ordersPath+"?") {
		return ordersPath
	}
	return localPath(string(seen))
}

// ForgetUser deletes what the browser keeps of a user who signs out.
func (p *Pages) ForgetUser(c *gin.Context) {
	for _, name := range []string{listCookie, noticeCookie} {
		if _, err := c.Cookie(name); err == nil {
			p.SetCookie(c, name, "", -1)
		}
	}
}
