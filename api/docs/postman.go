package docs

import (
	"encoding/json"
	"slices"
	"strings"
)

// postmanPath is the collection that Postman and the programs that read its format import.
const postmanPath = Root + "/postman.json"

const postmanSchema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"

// pair is a named value, as collections have them in many places.
type pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// collection makes a Postman collection with a folder for each tag. Its variables are the service's
// address and the credentials.
func (b *builder) collection() ([]byte, error) {
	var folders []any
	for tag := range b.root.get("tags").items() {
		items := []any{}
		for path, operations := range b.root.get("paths").pairs() {
			for method, op := range operations.pairs() {
				if slices.Contains(methods, method) && slices.Contains(op.get("tags").words(), tag.get("name").text()) {
					items = append(items, map[string]any{
						"id": op.get("operationId").text(), "name": op.get("summary").text(),
						"request": b.postmanRequest(method, path, op),
					})
				}
			}
		}
		folders = append(folders, map[string]any{"name": tag.get("name").text(), "item": items})
	}
	return json.Marshal(map[string]any{
		"info":     map[string]string{"name": b.root.get("info", "title").text(), "schema": postmanSchema},
		"item":     folders,
		"variable": []pair{{"baseUrl", b.baseURL}, {"apiKey", ""}, {"panelToken", ""}},
	})
}

// postmanRequest is an operation with its examples.
func (b *builder) postmanRequest(method, path string, op node) map[string]any {
	headers, query, variables := []pair{}, []pair{}, []pair{}
	for parameter := range op.get("parameters").items() {
		given := pair{parameter.get("name").text(), parameter.get("example").text()}
		switch place := parameter.get("in").text(); {
		case place == "path":
			variables = append(variables, given)
		case given.Value == "":
		case place == "query":
			query = append(query, given)
		default:
			headers = append(headers, given)
		}
	}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, segment := range segments {
		if name, is := strings.CutPrefix(segment, "{"); is {
			segments[i] = ":" + strings.TrimSuffix(name, "}")
		}
	}
	raw := "{{baseUrl}}/" + strings.Join(segments, "/")
	for i, q := range query {
		raw += []string{"?", "&"}[min(i, 1)] + q.Key + "=" + q.Value
	}
	request := map[string]any{
		"method": strings.ToUpper(method), "auth": map[string]any{"type": "noauth"},
		"url": map[string]any{"raw": raw, "host": []string{"{{baseUrl}}"}, "path": segments, "query": query,
			"variable": variables},
	}
	if access := b.access(op); len(access) > 0 {
		request["auth"] = auths[access[0]]
	}
	if sent := firstExample(op.get("requestBody", "content", "application/json")); sent.exists() {
		headers = append(headers, pair{"Content-Type", "application/json"})
		language := map[string]any{"raw": map[string]string{"language": "json"}}
		request["body"] = map[string]any{"mode": "raw", "raw": written(sent, jsonNotation, ""), "options": language}
	}
	if files := op.get("requestBody", "content", "multipart/form-data"); formOnly(op) && files.exists() {
		var fields []map[string]string // whoever sends the form chooses the files
		for name := range files.get("schema", "properties").pairs() {
			fields = append(fields, map[string]string{"key": name, "type": "file"})
		}
		request["body"] = map[string]any{"mode": "formdata", "formdata": fields}
	}
	if form := op.get("requestBody", "content", "application/x-www-form-urlencoded"); form.exists() {
		fields := []pair{}
		for name, value := range firstExample(form).pairs() {
			fields = append(fields, pair{name, value.text()})
		}
		request["body"] = map[string]any{"mode": "urlencoded", "urlencoded": fields}
	}
	request["header"] = headers
	return request
}

// auths are the credentials, by what the pages call them.
var auths = map[string]map[string]any{
	"X-API-Key": {"type": "apikey", "apikey": []pair{{"key", "X-API-Key"}, {"value", "{{apiKey}}"}, {"in", "header"}}},
	"Bearer":    {"type": "bearer", "bearer": []pair{{"token", "{{panelToken}}"}}},

	"cookie del celular": {"type": "noauth"}, // Postman keeps cookies itself
}
