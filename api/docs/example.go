package docs

import (
	"encoding/json"
	"html"
	"html/template"
	"strings"

	"go.yaml.in/yaml/v3"
)

// writer renders an example as indented JSON, with the members in the file's order.
type writer struct {
	strings.Builder
	// highlight formats a token for display. Plain JSON leaves tokens as they are.
	highlight func(class, token string) string
}

// plainJSON renders an example as a program would send it.
func plainJSON(example node) string {
	w := &writer{highlight: func(_, token string) string { return token }}
	w.value(example.yaml, "")
	return w.String()
}

// highlightedJSON renders an example as HTML with syntax highlighting.
func highlightedJSON(example node) template.HTML {
	w := &writer{highlight: func(class, token string) string {
		return `<span class="` + class + `">` + html.EscapeString(token) + `</span>`
	}}
	w.value(example.yaml, "")
	return template.HTML(w.String()) // every token is escaped above
}

const step = "  "

func (w *writer) value(n *yaml.Node, indent string) {
	switch n.Kind {
	case yaml.MappingNode:
		w.list(len(n.Content)/2, "{", "}", indent, func(i int) {
			w.WriteString(w.highlight("key", quote(n.Content[2*i].Value)) + ": ")
			w.value(n.Content[2*i+1], indent+step)
		})
	case yaml.SequenceNode:
		w.list(len(n.Content), "[", "]", indent, func(i int) { w.value(n.Content[i], indent+step) })
	default:
		w.scalar(n)
	}
}

func (w *writer) list(count int, opening, closing, indent string, element func(int)) {
	w.WriteString(opening)
	for i := range count {
		if i > 0 {
			w.WriteString(",")
		}
		w.WriteString("\n" + indent + step)
		element(i)
	}
	if count > 0 {
		w.WriteString("\n" + indent)
	}
	w.WriteString(closing)
}

func (w *writer) scalar(n *yaml.Node) {
	switch n.ShortTag() {
	case "!!null":
		w.WriteString(w.highlight("literal", "null"))
	case "!!bool":
		w.WriteString(w.highlight("literal", n.Value))
	case "!!int", "!!float":
		w.WriteString(w.highlight("number", n.Value))
	default:
		w.WriteString(w.highlight("text", quote(n.Value)))
	}
}

func quote(text string) string {
	var quoted strings.Builder
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always encodes
	return strings.TrimSuffix(quoted.String(), "\n")
}
