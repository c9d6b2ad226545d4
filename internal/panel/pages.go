// Package panel is the web panel of operators and stores. It renders pages and reads forms, and
// calls the same use cases as the panel's JSON API. Everything works without scripts.
package panel

import (
	"bytes"
	"context"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"despacho/internal/cash"
	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/internal/operators"
	"despacho/internal/orders"
	"despacho/internal/panel/neworder"
	"despacho/internal/riders"
	"despacho/internal/signing"
	"despacho/internal/webhooks"
	"despacho/models"
)

// Pages handles every page of the panel.
type Pages struct {
	Options
	// templates are parsed on first use: many processes never show a page.
	templates func() map[string]*template.Template
	assets    assets
	policy    string
	// pages are the routes that have a page; a file is none.
	pages map[string]bool
	// places are for the rows of uploaded files that become orders.
	places neworder.Places
}

// Options are the dependencies of Pages.
type Options struct {
	Config    *config.Config
	DB        *db.DB
	Catalog   *db.CatalogCache
	Orders    *orders.Service
	Webhooks  *webhooks.Service
	Operators *operators.Service
	Riders    *riders.Service
	Cash      *cash.Service
	// TemporalNamespace is the namespace of the orders' workflows, for links to the Temporal Web
	// UI.
	TemporalNamespace string
	Clock             clock.Clock
	Log               *slog.Logger
	// LimitPasswordAttempts counts an attempt to enter a password, and returns an error when there
	// were too many.
	LimitPasswordAttempts func(*gin.Context, *models.User) error
	// Signer signs the cookie of the last list and the names of held photos.
	Signer *signing.Signer
	// Stream sends a response while it is written. After an error the connection is closed, which
	// tells the client that the response is not whole.
	Stream func(*gin.Context, func(io.Writer) error)
	// Secrets encrypts the notice cookie.
	Secrets *encryption.Cipher
}

// New reads the embedded assets.
func New(options Options) *Pages {
	p := &Pages{Options: options, assets: readAssets(), pages: map[string]bool{}}
	for _, route := range p.Routes() {
		if route.Method == http.MethodGet && !strings.HasSuffix(route.Path, fileSuffix) {
			p.pages[route.Path] = true
		}
	}
	p.templates = sync.OnceValue(func() map[string]*template.Template { return parseTemplates(p.assets) })
	p.policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
		"img-src 'self' https: data:" + originOf(options.Config.FilesURL) +
		"; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	return p
}

// originOf allows photos from another origin without https, as on a development machine.
func originOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return ""
	}
	return " " + parsed.Scheme + "://" + parsed.Host
}

// Policy is the pages' Content-Security-Policy: only their own scripts, styles and connections.
func (p *Pages) Policy() string { return p.policy }

// Request is a request of a signed-in user.
type Request struct {
	*gin.Context
	Who    *db.SignedIn
	Caller orders.Caller
	// Recheck returns why the user, who was allowed to make the request, is not any more.
	Recheck func(context.Context) error
}

// requestKey has the Request in its gin context.
const requestKey = "panel request"

// Attach has the error page of the request show the user's menu.
func (v *Request) Attach() { v.Set(requestKey, v) }

// attached is the Request that was attached, or nil.
func attached(c *gin.Context) *Request {
	found, _ := c.Get(requestKey)
	v, _ := found.(*Request)
	return v
}

// Ctx is the request's context.
func (v *Request) Ctx() context.Context { return v.Request.Context() }

// extendTimeout gives a request the timeout for work on many orders or places. The work continues
// if the client disconnects, so that it is not left half done.
func (p *Pages) extendTimeout(v *Request) (end context.CancelFunc) {
	ctx, end := context.WithTimeout(context.WithoutCancel(v.Ctx()), p.Config.Timeouts.Bulk)
	v.Request = v.Request.WithContext(ctx)
	return end
}

// Operator is the user's operator.
func (v *Request) Operator() *models.Operator { return &v.Who.Operator }

// May reports whether the user has a permission and the operator may use it now.
func (v *Request) May(p models.Permission) bool {
	return p.Allows(&v.Who.User) && !(p.Writes && v.Operator().Suspended())
}

// show sends a page.
func (p *Pages) show(v *Request, status int, name, title string, page any) error {
	f := p.frame(v, title, page)
	if err := p.countWaiting(v, f.Menu); err != nil {
		return err
	}
	return p.render(v.Context, status, name, f)
}

// showPart renders a named template of a page, for a script.
func (p *Pages) showPart(v *Request, page, part string, content any) error {
	return p.execute(v.Context, http.StatusOK, p.templates()[page], part, p.frame(v, "", content))
}

func (p *Pages) render(c *gin.Context, status int, name string, f *frame) error {
	return p.execute(c, status, p.templates()[name], "frame.html", f)
}

// execute renders into memory first, so that no partial page is sent.
func (p *Pages) execute(c *gin.Context, status int, from *template.Template, name string, f *frame) error {
	var out bytes.Buffer
	if err := from.ExecuteTemplate(&out, name, f); err != nil {
		return err
	}
	c.Data(status, "text/html; charset=utf-8", out.Bytes())
	return nil
}

// PageOf is the address of the page that a request belongs to, for after signing in: its own if it
// asks for a page, the list that a file has, or the nearest page above.
func (p *Pages) PageOf(c *gin.Context) string {
	query := c.Request.URL.Query()
	query.Del(accountParameter)
	target := url.URL{Path: c.Request.URL.Path, RawQuery: query.Encode()}
	for route := c.FullPath(); !p.pages[route]; route = parent(route) {
		target.Path = parent(target.Path)
	}
	return target.String()
}

// fileSuffix is how the path of a file ends; the rest of it may be the page of its list.
const fileSuffix = ".csv"

func parent(at string) string {
	if list, isFile := strings.CutSuffix(at, fileSuffix); isFile {
		return list
	}
	return path.Dir(at)
}

// localPath keeps a redirect on the panel's pages (open redirects). A path with dots or empty
// segments is refused, because a browser would resolve it to another one.
func localPath(target string) string {
	parsed, err := url.Parse(target)
	if err != nil || parsed.Host != "" || parsed.Scheme != "" || parsed.User != nil || strings.Contains(target, "\\") {
		return home
	}
	if parsed.Path != path.Clean(parsed.Path) || !strings.HasPrefix(parsed.Path, "/panel/") ||
		isWithin(parsed.Path, "/panel/api") {
		return home
	}
	return parsed.String()
}

// ordersPath is the list of orders.
const ordersPath = "/panel/pedidos"

// home is the page after signing in.
const home = "/panel/hoy"
