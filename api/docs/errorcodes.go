package docs

import (
	"regexp"
	"slices"
	"strings"
)

// errorCode is an entry of the catalogue of errors.
type errorCode struct {
	Code, Statuses string
	Meaning        string // Markdown
	Action         string // Markdown
	// Operations are those that describe it themselves.
	Operations []link
}

var (
	codeRow   = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([0-9, ]+) \\| (.+) \\|$")
	statusRow = regexp.MustCompile(`(?m)^\| ([0-9]{3}) \| .+ \| (.+) \|$`)
)

// errorPage is the catalogue: the codes of the introduction's table, each with what to do. That is
// x-error-actions of the document, or else what its table of statuses says.
func (b *builder) errorPage() page {
	introduction := b.root.get("info", "description").text()
	byStatus := map[string]string{}
	for _, row := range statusRow.FindAllStringSubmatch(introduction, -1) {
		byStatus[row[1]] = row[2]
	}
	p := page{ID: "codigos", Title: "Códigos de error", Description: b.root.get("x-error-actions", "description").text()}
	described := b.describedCodes()
	for _, row := range codeRow.FindAllStringSubmatch(introduction, -1) {
		e := errorCode{Code: row[1], Statuses: row[2], Meaning: row[3], Operations: described[row[1]]}
		if e.Action = b.root.get("x-error-actions", "codes", e.Code).text(); e.Action == "" {
			e.Action = byStatus[e.Statuses[:3]]
		}
		p.Codes = append(p.Codes, e)
		p.Entries = append(p.Entries, link{ID: "e-" + e.Code, Label: e.Statuses[:3], Title: e.Code})
	}
	return p
}

// describedCodes are the operations whose own responses have an example with a code.
func (b *builder) describedCodes() map[string][]link {
	list := map[string][]link{}
	for _, item := range b.root.get("paths").pairs() {
		for method, op := range item.pairs() {
			if !slices.Contains(methods, method) {
				continue
			}
			operation := link{ID: "op-" + op.get("operationId").text(), Title: op.get("summary").text()}
			for _, response := range op.get("responses").pairs() {
				content := response.get("content", "application/json")
				examples := []node{content.get("example")}
				for _, named := range content.get("examples").pairs() {
					examples = append(examples, named.get("value"))
				}
				for _, sent := range examples {
					code := sent.get("code").text()
					if response.ref == "" && code != "" && !slices.Contains(list[code], operation) {
						list[code] = append(list[code], operation)
					}
				}
			}
		}
	}
	return list
}

// words are what the search finds an error by.
func (e errorCode) words() string {
	return strings.Join([]string{e.Statuses, e.Meaning, e.Action}, " ")
}
