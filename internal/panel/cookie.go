package panel

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// SetCookie sets a cookie for the panel's pages and its API; maxAge is in seconds.
func (p *Pages) SetCookie(c *gin.Context, name, value string, maxAge int) {
	http.SetCookie(c.Writer, &http.Cookie{
		Name: name, Value: value, Path: "/panel", MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(p.Config.BaseURL, "https://"),
	})
}
