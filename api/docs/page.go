// Package docs renders openapi.yaml as a reference page: one HTML document without scripts or
// external resources.
package docs

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// Page is the rendered reference.
type Page struct {
	HTML []byte
	// Policy is its Content-Security-Policy: nothing may be loaded, and only the page's own style
	// applies.
	Policy string
}

var (
	//go:embed page.html
	pageSource string
	//go:embed page.css
	style string

	pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"lower": strings.ToLower}).Parse(pageSource))
)

// Render makes the page of an OpenAPI file. baseURL is the server in its curl examples.
func Render(document []byte, baseURL string) (*Page, error) {
	root, err := parse(document)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	b := &builder{root: root, baseURL: baseURL}
	content := b.reference()
	if b.err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", b.err)
	}
	content.Style = template.CSS(style) // our own file
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, content); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(style))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return &Page{HTML: out.Bytes(), Policy: policy}, nil
}

type builder struct {
	root    node
	baseURL string
	// shared are the common responses that the operations refer to.
	shared []response
	err    error
}

// link is an entry of the index.
type link struct {
	ID, Title, Method string
}

type reference struct {
	Style    template.CSS
	Title    string
	Version  string
	Intro    template.HTML
	Topics   []link
	Sections []section
	Shared   []response
	Headers  []field
	Objects  []object
}

// section is a tag with its operations.
type section struct {
	ID, Name    string
	Description template.HTML
	Operations  []operation
}

func (b *builder) reference() *reference {
	info := b.root.get("info")
	intro := info.get("description").text()
	sections := b.sections() // they collect the shared responses
	slices.SortStableFunc(b.shared, func(one, other response) int { return strings.Compare(one.Status, other.Status) })
	return &reference{
		Title: info.get("title").text(), Version: info.get("version").text(),
		Intro: b.markdown(intro), Topics: headings(intro), Sections: sections, Shared: b.shared, Headers: b.headers(), Objects: b.objects(),
	}
}

func (b *builder) sections() []section {
	var list []section
	for tag := range b.root.get("tags").items() {
		name := tag.get("name").text()
		list = append(list, section{
			ID: anchor(name), Name: name, Description: b.markdown(tag.get("description").text()), Operations: b.operations(name),
		})
	}
	return list
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
				received.Incoming, received.Curl = true, ""
				list = append(list, received)
			}
		}
	}
	return list
}
