// Package panel is the web panel: what an operator's people and its stores see in a browser. Pages
// are rendered here, forms come back here, and both go through the same use cases as the panel's
// JSON API. Scripts only make it quicker: everything works without them.
package panel

import (
	"bytes"
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"despacho/db"
	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/models"
	"despacho/operators"
	"despacho/orders"
	"despacho/webhooks"
)

// Pages answers for every page of the panel.
type Pages struct {
	Options
	// templates are read when somebody first opens the panel: many a process never shows a page.
	templates func() map[string]*template.Template
	assets    assets
	policy    string
}

// Options are what the pages stand on.
type Options struct {
	Config    *config.Config
	DB        *db.DB
	Catalog   *db.CatalogCache
	Orders    *orders.Service
	Webhooks  *webhooks.Service
	Operators *operators.Service
	// TemporalNamespace is where the orders' workflows are, for links to the Temporal Web UI.
	TemporalNamespace string
	Clock             clock.Clock
	Log               *slog.Logger
	// LimitGuesses counts a try to name a user's password, and refuses when there were too many.
	LimitPasswordAttempts func(*gin.Context, *models.User) error
}

// New reads the embedded assets.
func New(options Options) *Pages {
	p := &Pages{Options: options, assets: readAssets()}
	p.templates = sync.OnceValue(func() map[string]*template.Template { return parseTemplates(p.assets) })
	p.policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
		"img-src 'self' https: data:" + originOf(options.Config.FilesURL) + "; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	return p
}

// originOf lets photos through that are served from elsewhere without https, as on a developer's
// machine.
func originOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return ""
	}
	return " " + parsed.Scheme + "://" + parsed.Host
}

// Policy is the Content-Security-Policy that the pages are made for: scripts, styles and
// connections of their own alone.
func (p *Pages) Policy() string { return p.policy }

// Request is one request of somebody who is signed in.
type Request struct {
	*gin.Context
	Who    *db.SignedIn
	Caller orders.Caller
}

// Ctx is the request's context, for the use cases.
func (v *Request) Ctx() context.Context { return v.Request.Context() }

// takeTime gives a request the time for work on many orders or places. It goes on when the visitor
// leaves, so that what is under way is not left half done.
func (p *Pages) takeTime(v *Request) (end context.CancelFunc) {
	ctx, end := context.WithTimeout(context.WithoutCancel(v.Ctx()), p.Config.Timeouts.Bulk)
	v.Request = v.Request.WithContext(ctx)
	return end
}

// Operator is whose panel it is.
func (v *Request) Operator() *models.Operator { return &v.Who.Operator }

// May reports whether the visitor has a permission and may use it now.
func (v *Request) May(p models.Permission) bool {
	return p.Allows(&v.Who.User) && !(p.Writes && v.Operator().Suspended())
}

// show answers with a page once all of it is there: half a page is never sent.
func (p *Pages) show(v *Request, status int, name, title string, page any) error {
	return p.render(v.Context, status, name, p.frame(v, title, page))
}

// showPart answers with a named part of a page, for a script that puts it in place.
func (p *Pages) showPart(v *Request, page, part string, content any) error {
	return p.execute(v.Context, http.StatusOK, p.templates()[page], part, p.frame(v, "", content))
}

func (p *Pages) render(c *gin.Context, status int, name string, f *frame) error {
	return p.execute(c, status, p.templates()[name], "frame.html", f)
}

func (p *Pages) execute(c *gin.Context, status int, from *template.Template, name string, f *frame) error {
	var out bytes.Buffer
	if err := from.ExecuteTemplate(&out, name, f); err != nil {
		return err
	}
	c.Data(status, "text/html; charset=utf-8", out.Bytes())
	return nil
}

// localPath keeps a redirect inside the panel.
func localPath(path string) string {
	if parsed, err := url.Parse(path); err == nil && parsed.Host == "" && parsed.Scheme == "" && strings.HasPrefix(parsed.Path, "/panel/") && !strings.Contains(path, "\\") {
		return path
	}
	return home
}

// home is where people land after signing in.
const home = "/panel/pedidos"
