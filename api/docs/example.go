package docs

import (
	"encoding/json"
	"html"
	"html/template"
	"strings"

	"go.yaml.in/yaml/v3"
)

// writer renders an example as indented JSON, or as the same value in a programming language, with
// the members in the file's order.
type writer struct {
	strings.Builder
	notation
	// highlight formats a token for display.
	highlight func(class, token string) string
}

// notation is how a language writes a value.
type notation struct {
	object [2]string
	empty  string // an object without members
	colon  string
	// literals are the language's words for null, true and false, where they are not JSON's.
	literals map[string]string
	quote    func(string) string
}

var (
	jsonNotation   = notation{object: [2]string{"{", "}"}, empty: "{}", colon: ": ", quote: quote}
	pythonNotation = notation{
		object: [2]string{"{", "}"}, empty: "{}", colon: ": ", quote: quote,
		literals: map[string]string{"null": "None", "true": "True", "false": "False"},
	}
	phpNotation = notation{object: [2]string{"[", "]"}, empty: "new stdClass()", colon: " => ", quote: phpQuote}
)

// written renders an example in a notation. Every line but the first is indented.
func written(example node, n notation, indent string) string {
	w := &writer{notation: n, highlight: func(_, token string) string { return token }}
	w.value(example.yaml, indent)
	return w.String()
}

// highlightedJSON renders an example as HTML with syntax highlighting.
func highlightedJSON(example node) template.HTML {
	w := &writer{notation: jsonNotation, highlight: func(class, token string) string {
		return `<span class="` + class + `">` + html.EscapeString(token) + `</span>`
	}}
	w.value(example.yaml, "")
	return template.HTML(w.String()) // every token is escaped above
}

const step = "  "

func (w *writer) value(n *yaml.Node, indent string) {
	switch n.Kind {
	case yaml.MappingNode:
		if len(n.Content) == 0 {
			w.WriteString(w.empty)
			return
		}
		w.list(len(n.Content)/2, w.object[0], w.object[1], indent, func(i int) {
			w.WriteString(w.highlight("key", w.quote(n.Content[2*i].Value)) + w.colon)
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
		w.WriteString(w.highlight("literal", w.word("null")))
	case "!!bool":
		w.WriteString(w.highlight("literal", w.word(n.Value)))
	case "!!int", "!!float":
		w.WriteString(w.highlight("number", n.Value))
	default:
		w.WriteString(w.highlight("text", w.quote(n.Value)))
	}
}

func (n notation) word(literal string) string {
	if word, other := n.literals[literal]; other {
		return word
	}
	return literal
}

func quote(text string) string {
	var quoted strings.Builder
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always encodes
	return strings.TrimSuffix(quoted.String(), "\n")
}
