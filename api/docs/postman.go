package docs

import (
	"encoding/json"
	"slices"
	"strings"
)

// postmanPath is the collection that Postman and the programs that read its format import.
const postmanPath = Root + "/postman.json"

const postmanSchema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"

// The members of a collection, of https://schema.postman.com, that this one has.
type (
	collection struct {
		Info      collectionInfo `json:"info"`
		Folders   []folder       `json:"item"`
		Variables []pair         `json:"variable"`
	}
	collectionInfo struct {
		Name   string `json:"name"`
		Schema string `json:"schema"`
	}
	folder struct {
		Name  string `json:"name"`
		Items []item `json:"item"`
	}
	item struct {
		ID      string      `json:"id"` // the operation's
		Name    string      `json:"name"`
		Request itemRequest `json:"request"`
	}
	itemRequest struct {
		Method  string    `json:"method"`
		URL     itemURL   `json:"url"`
		Auth    auth      `json:"auth"`
		Headers []pair    `json:"header"`
		Body    *itemBody `json:"body,omitempty"`
	}
	itemURL struct {
		Raw       string   `json:"raw"`
		Host      []string `json:"host"`
		Path      []string `json:"path"`
		Query     []pair   `json:"query,omitempty"`
		Variables []pair   `json:"variable,omitempty"`
	}
	auth struct {
		Type   string `json:"type"`
		APIKey []pair `json:"apikey,omitempty"`
		Bearer []pair `json:"bearer,omitempty"`
	}
	itemBody struct {
		Mode    string         `json:"mode"`
		Raw     string         `json:"raw,omitempty"`
		Options map[string]any `json:"options,omitempty"`
		// Form are the fields of a form; whoever sends it chooses the file.
		Form []formField `json:"formdata,omitempty"`
	}
	formField struct {
		Key  string `json:"key"`
		Type string `json:"type"`
	}
	pair struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
)

// collection makes a Postman collection with a folder for each tag. Its variables are the service's
// address and the credentials.
func (b *builder) collection() ([]byte, error) {
	c := collection{
		Info:      collectionInfo{b.root.get("info", "title").text(), postmanSchema},
		Variables: []pair{{"baseUrl", b.baseURL}, {"apiKey", ""}, {"panelToken", ""}},
	}
	for tag := range b.root.get("tags").items() {
		f := folder{Name: tag.get("name").text(), Items: []item{}}
		for path, operations := range b.root.get("paths").pairs() {
			for method, op := range operations.pairs() {
				if slices.Contains(methods, method) && slices.Contains(op.get("tags").words(), f.Name) {
					f.Items = append(f.Items, item{op.get("operationId").text(), op.get("summary").text(), b.itemRequest(method, path, op)})
				}
			}
		}
		c.Folders = append(c.Folders, f)
	}
	return json.Marshal(c)
}

func (b *builder) itemRequest(method, path string, op node) itemRequest {
	r := itemRequest{Method: strings.ToUpper(method), Auth: auth{Type: "noauth"}, Headers: []pair{}}
	if access := b.access(op); len(access) > 0 {
		r.Auth = auths[access[0]]
	}
	for parameter := range op.get("parameters").items() {
		given := pair{parameter.get("name").text(), parameter.get("example").text()}
		switch place := parameter.get("in").text(); {
		case place == "path":
			r.URL.Variables = append(r.URL.Variables, given)
		case given.Value == "":
		case place == "query":
			r.URL.Query = append(r.URL.Query, given)
		default:
			r.Headers = append(r.Headers, given)
		}
	}
	r.URL.Host = []string{"{{baseUrl}}"}
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if name, is := strings.CutPrefix(segment, "{"); is {
			segment = ":" + strings.TrimSuffix(name, "}")
		}
		r.URL.Path = append(r.URL.Path, segment)
	}
	r.URL.Raw = "{{baseUrl}}/" + strings.Join(r.URL.Path, "/")
	for i, q := range r.URL.Query {
		r.URL.Raw += []string{"?", "&"}[min(i, 1)] + q.Key + "=" + q.Value
	}
	if sent := firstExample(op.get("requestBody", "content", "application/json")); sent.exists() {
		r.Headers = append(r.Headers, pair{"Content-Type", "application/json"})
		r.Body = &itemBody{Mode: "raw", Raw: written(sent, jsonNotation, ""), Options: map[string]any{"raw": map[string]string{"language": "json"}}}
	}
	if formOnly(op) {
		r.Body = &itemBody{Mode: "formdata"}
		for name := range op.get("requestBody", "content", "multipart/form-data", "schema", "properties").pairs() {
			r.Body.Form = append(r.Body.Form, formField{name, "file"})
		}
	}
	return r
}

// auths are the credentials, by what the pages call them.
var auths = map[string]auth{
	"X-API-Key": {Type: "apikey", APIKey: []pair{{"key", "X-API-Key"}, {"value", "{{apiKey}}"}, {"in", "header"}}},
	"Bearer":    {Type: "bearer", Bearer: []pair{{"token", "{{panelToken}}"}}},
}
