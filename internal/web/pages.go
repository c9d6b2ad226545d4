// Package web renders the public pages: plain HTML that loads nothing but an operator's logo and
// the photo of a delivery. Only the page of a recipient's link has a script.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"
)

var (
	//go:embed templates/*.html
	sources embed.FS
	//go:embed style.css
	style string
	//go:embed locate.js
	script string
)

// Pages renders every page. It is safe for concurrent use.
type Pages struct {
	tracking, help, code, noPhoto *template.Template
	policy, helpPolicy            string
}

// New parses the embedded templates. Images may come from the given addresses even if they are
// without https, as on a development machine.
func New(addresses ...string) *Pages {
	// data: is for the icon, which is embedded in the page.
	rest := "; img-src https: data:" + insecureOrigins(addresses) + "; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	policy := "default-src 'none'; style-src " + hashOf(style)
	return &Pages{
		tracking: parse("tracking"), help: parse("help"), code: parse("code_page"), noPhoto: parse("no_photo"),
		policy: policy + rest, helpPolicy: policy + "; script-src " + hashOf(script) + rest,
	}
}

// hashOf is how a Content-Security-Policy names the one text that it allows.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// insecureOrigins are the origins of those addresses that https: does not allow.
func insecureOrigins(addresses []string) string {
	var origins []string
	for _, address := range addresses {
		parsed, err := url.Parse(address)
		if err != nil || parsed.Scheme != "http" || parsed.Host == "" {
			continue
		}
		if origin := " http://" + parsed.Host; !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
	}
	return strings.Join(origins, "")
}

// parse combines a page's template with the shared layout.
func parse(name string) *template.Template {
	functions := template.FuncMap{
		"style":  func() template.CSS { return template.CSS(style) }, // our own files
		"script": func() template.JS { return template.JS(script) },
	}
	return template.Must(template.New("frame.html").Funcs(functions).
		ParseFS(sources, "templates/frame.html", "templates/code_form.html", "templates/"+name+".html"))
}

// Policy is the pages' Content-Security-Policy: no scripts, only their own style, images for the
// logo and the photo of a delivery.
func (p *Pages) Policy() string { return p.policy }

// Home renders the form for a guide code.
func (p *Pages) Home(w io.Writer) error {
	return p.code.Execute(w, codePage{Title: "Sigue tu pedido", Text: "Escribe el código de guía para saber dónde está."})
}

// Tracking renders the status of a package.
func (p *Pages) Tracking(w io.Writer, t Tracking) error { return p.tracking.Execute(w, describe(t)) }

// codePage is the data of a page with a text and the form for a guide code.
type codePage struct {
	Title, Text string
	// Typed is put back into the field.
	Typed string
}

// maxTyped is how much of what was typed is put back; a code has 12 characters.
const maxTyped = 60

// askAgain renders a page that asks for the code again, with the code as it was typed.
func (p *Pages) askAgain(w io.Writer, page codePage, typed string) error {
	page.Typed = strings.ToValidUTF8(typed[:min(len(typed), maxTyped)], "")
	return p.code.Execute(w, page)
}

// NotFound is shown for every code without a package.
func (p *Pages) NotFound(w io.Writer, typed string) error {
	return p.askAgain(w, codePage{
		Title: "No encontramos tu envío",
		Text:  "Revisa el código: tiene 11 letras y números, sin contar el guion. Si está bien escrito, consulta con la tienda donde compraste.",
	}, typed)
}

// NoSuchPage is shown to a browser for an address that does not exist.
func (p *Pages) NoSuchPage(w io.Writer) error {
	return p.code.Execute(w, codePage{
		Title: "Esta página no existe",
		Text:  "Revisa la dirección. Si buscas un envío, escribe su código de guía.",
	})
}

// TooMany is shown when the rate limit is reached.
func (p *Pages) TooMany(w io.Writer, wait time.Duration, typed string) error {
	return p.askAgain(w, codePage{
		Title: "Demasiadas consultas seguidas",
		Text:  "Desde tu conexión se hicieron muchas consultas en poco tiempo. Vuelve a intentarlo en " + inSeconds(wait) + ".",
	}, typed)
}

// Failure is shown for an internal error.
func (p *Pages) Failure(w io.Writer, typed string) error {
	return p.askAgain(w, codePage{
		Title: "Algo salió mal",
		Text:  "No pudimos mostrar tu envío. Tu pedido no se ve afectado: vuelve a intentarlo en unos segundos.",
	}, typed)
}

// NoPhoto is shown to whoever opens a photo that cannot be shown, with the reason. Who may see the
// photo finds it in the panel.
func (p *Pages) NoPhoto(w io.Writer, reason, panelURL string) error {
	return p.noPhoto.Execute(w, struct{ Reason, PanelURL string }{reason, panelURL})
}
