package docs

import (
	"html/template"
	"net/url"
	"slices"
	"strings"
)

// operation describes one request.
type operation struct {
	ID, Method, Path, Summary string
	Description               string // Markdown
	// Access lists the accepted credentials.
	Access     []string
	Scope      string
	Parameters []field
	Bodies     []body
	// Samples are programs that send the example request.
	Samples   []sample
	Responses []response
	// Common are the responses that many operations share; a page of their own describes them.
	Common []response
	// Incoming marks a request that the reader receives: a webhook.
	Incoming bool
}

// body is the content of a request or response in one media type.
type body struct {
	MediaType string
	Object    string
	Fields    []field
	Examples  []example
}

type example struct {
	Title string
	JSON  template.HTML
}

type response struct {
	// Name is that of a common response.
	Name        string
	Status      string
	Good        bool
	Description string // Markdown
	// Headers are names only; the page of the headers describes them.
	Headers []string
	Bodies  []body
}

func (b *builder) operation(method, path string, op node) operation {
	o := operation{
		ID: op.get("operationId").text(), Method: strings.ToUpper(method), Path: path, Summary: op.get("summary").text(),
		Description: op.get("description").text(), Scope: op.get("x-scope").text(),
		Access: b.access(op), Bodies: b.bodies(op.get("requestBody"), request),
	}
	for parameter := range op.get("parameters").items() {
		f := b.fieldOf(parameter.get("schema"))
		f.Name, f.Place = parameter.get("name").text(), placeWords[parameter.get("in").text()]
		f.Mark, f.Description = request.mark(parameter.get("required").isTrue()), parameter.get("description").text()
		o.Parameters = append(o.Parameters, f)
	}
	for status, described := range op.get("responses").pairs() {
		if described.ref != "" {
			o.Common = append(o.Common, b.common(status, described))
			continue
		}
		o.Responses = append(o.Responses, b.response(status, described))
	}
	o.Samples = b.samples(method, path, op)
	return o
}

func (b *builder) response(status string, described node) response {
	r := response{Name: described.ref, Status: status, Good: status < "300", Description: described.get("description").text(),
		Bodies: b.bodies(described, answer)}
	for name := range described.get("headers").pairs() {
		r.Headers = append(r.Headers, name)
	}
	return r
}

// common keeps a response for the page of common ones, once, and returns what an operation shows
// of it.
func (b *builder) common(status string, described node) response {
	if !slices.ContainsFunc(b.shared, func(known response) bool { return known.Name == described.ref }) {
		b.shared = append(b.shared, b.response(status, described))
	}
	return response{Name: described.ref, Status: status}
}

var placeWords = map[string]string{"path": "ruta", "query": "consulta", "header": "cabecera", "cookie": "cookie"}

// security is the operation's own requirement, or the document's.
func (b *builder) security(op node) node {
	if own := op.get("security"); own.exists() {
		return own
	}
	return b.root.get("security")
}

func (b *builder) access(op node) []string {
	var list []string
	for requirement := range b.security(op).items() {
		for name := range requirement.pairs() {
			list = append(list, accessWords[name])
		}
	}
	return list
}

var accessWords = map[string]string{
	"apiKey": "X-API-Key", "panelToken": "Bearer", "panelCookie": "cookie de sesión", "riderCookie": "cookie del celular",
}

func (b *builder) bodies(holder node, d direction) []body {
	var list []body
	for mediaType, content := range holder.get("content").pairs() {
		schema := content.get("schema")
		described := body{MediaType: mediaType, Examples: examplesOf(content)}
		if hasOwnSection(schema.ref) {
			described.Object = schema.ref
		} else {
			described.Fields = b.fieldsOf(schema, d, "")
		}
		list = append(list, described)
	}
	return list
}

func examplesOf(content node) []example {
	var list []example
	if single := content.get("example"); single.exists() {
		list = append(list, example{JSON: highlightedJSON(single)})
	}
	for _, named := range content.get("examples").pairs() {
		list = append(list, example{Title: named.get("summary").text(), JSON: highlightedJSON(named.get("value"))})
	}
	return list
}

// exampleTarget puts the example parameters into the path, the query and the headers.
func exampleTarget(path string, op node) (target string, headers [][2]string) {
	query := url.Values{}
	for parameter := range op.get("parameters").items() {
		name, value := parameter.get("name").text(), parameter.get("example").text()
		switch {
		case value == "":
		case parameter.get("in").text() == "path":
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
		case parameter.get("in").text() == "query":
			query.Set(name, value)
		default:
			headers = append(headers, [2]string{name, value})
		}
	}
	if len(query) == 0 {
		return path, headers
	}
	return path + "?" + strings.ReplaceAll(query.Encode(), "%2C", ","), headers
}

func firstExample(content node) node {
	if single := content.get("example"); single.exists() {
		return single
	}
	for _, named := range content.get("examples").pairs() {
		return named.get("value")
	}
	return node{}
}
