// Package docs renders openapi.yaml as a reference: HTML pages with a style sheet and a script of
// their own, which search and copying need and nothing else. Nothing comes from elsewhere.
package docs

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// Root is the path of the first page. The others are one level below it.
const Root = "/docs"

// Policy is the pages' Content-Security-Policy: nothing but the style sheet, the script and what it
// asks this service for may be loaded.
const Policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// File is a page, or something that the pages use or offer.
type File struct {
	ContentType string
	Content     []byte
}

var (
	//go:embed page.html
	pageSource string
	//go:embed page.css
	style []byte
	//go:embed script.js
	script []byte
)

const (
	stylePath  = Root + "/style.css"
	scriptPath = Root + "/script.js"
)

// Render makes the files of the reference by their paths. baseURL is the server in its curl
// examples.
func Render(document []byte, baseURL string) (map[string]File, error) {
	root, err := parse(document)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	b := &builder{root: root, baseURL: baseURL}
	content := b.reference()
	functions := template.FuncMap{"lower": strings.ToLower, "markdown": content.markdown, "href": content.href}
	layout, err := template.New("page").Funcs(functions).Parse(pageSource)
	if err != nil {
		return nil, err
	}
	index, err := content.searchIndex()
	if err != nil {
		return nil, err
	}
	requests, err := b.collection()
	if err != nil {
		return nil, err
	}
	files := map[string]File{
		stylePath:   {"text/css; charset=utf-8", style},
		scriptPath:  {"text/javascript; charset=utf-8", script},
		searchPath:  {"application/json; charset=utf-8", index},
		postmanPath: {"application/json; charset=utf-8", requests},
	}
	for _, p := range content.Pages {
		path := content.targets[p.ID]
		if _, taken := files[path]; taken {
			return nil, fmt.Errorf("openapi.yaml: two pages at %s", path)
		}
		var out bytes.Buffer
		if err := layout.Execute(&out, view{reference: content, Current: p}); err != nil {
			return nil, fmt.Errorf("openapi.yaml: %w", err)
		}
		files[path] = File{"text/html; charset=utf-8", out.Bytes()}
	}
	return files, nil
}

type builder struct {
	root    node
	baseURL string
	// shared are the common responses that the operations refer to.
	shared []response
}

// reference is all pages.
type reference struct {
	Title, Version string
	// Style and Script are the URLs of the style sheet and the script. They change with the content,
	// so that no browser uses an earlier release's.
	Style, Script string
	// Pages starts with the introduction, which also lists what is on the others.
	Pages []page
	// targets are the URLs of the pages and of what is on them, by ID.
	targets map[string]string
}

// page is one page. What it does not have is empty.
type page struct {
	ID, Title string
	// Description is Markdown.
	Description string
	Operations  []operation
	Responses   []response
	Headers     []field
	Objects     []object
	Examples    []example
	Codes       []errorCode
	// Entries are the links to what is on the page.
	Entries []link
}

// link is an entry of an index. Its ID is also the target's anchor.
type link struct {
	ID, Label, Title string
}

// view is what the template renders.
type view struct {
	*reference
	Current page
}

const introduction = "introduccion"

// IsIntroduction reports whether the page is the first one.
func (v view) IsIntroduction() bool { return v.Current.ID == introduction }

func (b *builder) reference() *reference {
	info := b.root.get("info")
	r := &reference{
		Title: info.get("title").text(), Version: info.get("version").text(),
		Style: versioned(stylePath, style), Script: versioned(scriptPath, script), targets: map[string]string{},
	}
	intro := info.get("description").text()
	r.add(page{ID: introduction, Title: "Introducción", Description: intro, Entries: headings(intro)})
	for tag := range b.root.get("tags").items() {
		r.add(b.section(tag))
	}
	for _, p := range b.eventPages() {
		r.add(p)
	}
	r.add(b.errorPage())
	r.add(b.commonResponses())
	r.add(page{ID: "cabeceras", Title: "Cabeceras de respuesta", Headers: b.headers()})
	r.add(b.objectPage())
	if changes := b.root.get("x-changelog").text(); changes != "" {
		r.add(page{ID: "cambios", Title: "Cambios", Description: changes, Entries: headings(changes)})
	}
	return r
}

// versioned is the URL of a file that has this content.
func versioned(path string, content []byte) string {
	sum := sha256.Sum256(content)
	return path + "?v=" + hex.EncodeToString(sum[:6])
}

// add appends a page and records where its contents are.
func (r *reference) add(p page) {
	path := Root
	if p.ID != introduction {
		path += "/" + p.ID
	}
	r.targets[p.ID] = path
	for _, entry := range p.Entries {
		r.targets[entry.ID] = path + "#" + entry.ID
	}
	r.Pages = append(r.Pages, p)
}

// href is the URL of a page or of something on a page.
func (r *reference) href(id string) (string, error) {
	url, known := r.targets[id]
	if !known {
		return "", fmt.Errorf("nothing has the anchor %q", id)
	}
	return url, nil
}

// section is the page of a tag: its operations.
func (b *builder) section(tag node) page {
	name := tag.get("name").text()
	p := page{ID: anchor(name), Title: name, Description: tag.get("description").text(), Operations: b.operations(name)}
	for _, o := range p.Operations {
		label := o.Method
		if o.Incoming {
			label = "HOOK"
		}
		p.Entries = append(p.Entries, link{ID: "op-" + o.ID, Label: label, Title: o.Summary})
	}
	return p
}

// commonResponses is the page of the responses that operations share.
func (b *builder) commonResponses() page {
	slices.SortStableFunc(b.shared, func(one, other response) int { return strings.Compare(one.Status, other.Status) })
	p := page{ID: "comunes", Title: "Respuestas comunes", Responses: b.shared}
	for _, r := range b.shared {
		p.Entries = append(p.Entries, link{ID: "r-" + r.Name, Label: r.Status, Title: strings.ReplaceAll(r.Description, "`", "")})
	}
	return p
}

// objectPage is the page of the named schemas.
func (b *builder) objectPage() page {
	p := page{ID: "objetos", Title: "Objetos", Description: "Lo que viene en las respuestas y en los avisos, campo por campo.",
		Objects: b.objects()}
	for _, o := range p.Objects {
		p.Entries = append(p.Entries, link{ID: "obj-" + o.Name, Title: o.Name})
	}
	return p
}

var methods = []string{"get", "post", "put", "patch", "delete"}

func (b *builder) operations(tag string) []operation {
	var list []operation
	for path, item := range b.root.get("paths").pairs() {
		for method, op := range item.pairs() {
			if slices.Contains(methods, method) && slices.Contains(op.get("tags").words(), tag) {
				list = append(list, b.operation(method, path, op))
				list = append(list, b.callbacks(op)...)
			}
		}
	}
	return list
}

// callbacks are the requests that the service sends to the reader: webhooks.
func (b *builder) callbacks(op node) []operation {
	var list []operation
	for _, callback := range op.get("callbacks").pairs() {
		for _, item := range callback.pairs() {
			for method, op := range item.pairs() {
				received := b.operation(method, "su dirección", op)
				received.Incoming, received.Samples = true, nil
				list = append(list, received)
			}
		}
	}
	return list
}
