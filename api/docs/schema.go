package docs

import (
	"slices"
	"strings"
)

// field describes a member, a parameter or a header.
type field struct {
	Name string
	// Place is the location of a parameter: path, query or header.
	Place       string
	Type        string
	Object      string // the named object that describes it, if any
	Rules       []string
	Values      []string
	Nullable    bool
	Mark        mark
	Description string // Markdown
}

// mark says whether a member may be absent. The usual case has no mark: optional in a request,
// present in a response.
type mark string

const (
	mandatory mark = "obligatorio"
	sometimes mark = "no siempre"
)

// direction says whether a message is a request or a response.
type direction int

const (
	request direction = iota
	answer
)

func (d direction) mark(required bool) mark {
	switch {
	case d == request && required:
		return mandatory
	case d == answer && !required:
		return sometimes
	}
	return ""
}

// object is a named schema.
type object struct {
	Name        string
	Description string // Markdown
	Fields      []field
	Values      []string
}

// fieldsOf lists an object's members, including those of its allOf parts. Inline objects are
// flattened to dotted names; named ones become links.
func (b *builder) fieldsOf(schema node, d direction, prefix string) []field {
	required := schema.get("required").words()
	var fields []field
	for part := range schema.get("allOf").items() {
		fields = append(fields, b.fieldsOf(part, d, prefix)...)
	}
	for name, property := range schema.get("properties").pairs() {
		f := b.fieldOf(property)
		f.Name, f.Mark = prefix+name, d.mark(slices.Contains(required, name))
		fields = append(fields, f)
		if f.Object == "" && property.get("properties").exists() {
			fields = append(fields, b.fieldsOf(property, d, f.Name+".")...)
		}
	}
	return fields
}

func (b *builder) fieldOf(schema node) field {
	f := field{
		Type: typeName(schema), Nullable: schema.get("nullable").isTrue(),
		Rules: rulesOf(schema), Description: schema.get("description").text(),
	}
	shape := schema
	if f.Type == "lista" {
		shape = schema.get("items")
		f.Type = "lista de " + typeName(shape)
	}
	// A nullable object is written as a wrapper around the named one.
	for part := range shape.get("allOf").items() {
		if shape.ref == "" {
			shape = part
		}
	}
	switch {
	case shape.get("enum").exists():
		f.Values = valuesOf(shape)
	case hasOwnSection(shape.ref):
		f.Object = shape.ref
	}
	return f
}

// valuesOf lists the values of an enum. null, which a nullable one has among them, is told by the
// word for nullable.
func valuesOf(schema node) []string {
	return slices.DeleteFunc(schema.get("enum").words(), func(value string) bool { return value == "null" })
}

// typeName is a schema's type as the page shows it.
func typeName(schema node) string {
	switch schema.get("type").text() {
	case "array":
		return "lista"
	case "boolean":
		return "booleano"
	case "integer":
		return "entero"
	case "number":
		return "número"
	case "string":
		if word, known := formatWords[schema.get("format").text()]; known {
			return word
		}
		return "texto"
	default:
		return "objeto"
	}
}

var formatWords = map[string]string{
	"uuid": "UUID", "date": "fecha", "date-time": "fecha y hora", "uri": "URL", "binary": "archivo",
}

// rulesOf describes a schema's constraints in words.
func rulesOf(schema node) []string {
	var rules []string
	add := func(before, keyword, after string) {
		if value := schema.get(keyword).text(); value != "" {
			rules = append(rules, before+value+after)
		}
	}
	lowest, highest := schema.get("minimum").text(), schema.get("maximum").text()
	switch {
	case lowest != "" && highest != "":
		rules = append(rules, "de "+lowest+" a "+highest)
	default:
		add("desde ", "minimum", "")
		add("hasta ", "maximum", "")
	}
	add("hasta ", "maxLength", " caracteres")
	add("por omisión ", "default", "")
	return rules
}

// hasOwnSection reports whether a named schema is described in a section of its own. Request bodies
// and envelopes are described where they are used.
func hasOwnSection(name string) bool {
	return name != "" && !slices.ContainsFunc([]string{"Response", "Input", "Form"},
		func(kind string) bool { return strings.HasSuffix(name, kind) })
}

// objects lists the named schemas with a section of their own.
func (b *builder) objects() []object {
	var list []object
	for name, schema := range b.root.get("components", "schemas").pairs() {
		if !hasOwnSection(name) {
			continue
		}
		list = append(list, object{
			Name: name, Description: schema.get("description").text(),
			Fields: b.fieldsOf(schema, answer, ""), Values: valuesOf(schema),
		})
	}
	return list
}

// headers lists the response headers. An optional header and a required one of the same name are
// the same header.
func (b *builder) headers() []field {
	var list []field
	known := map[string]bool{}
	for _, path := range b.root.get("paths").pairs() {
		for _, op := range path.pairs() {
			for _, answer := range op.get("responses").pairs() {
				for name, header := range answer.get("headers").pairs() {
					if known[name] {
						continue
					}
					known[name] = true
					f := b.fieldOf(header.get("schema"))
					f.Name, f.Description = name, header.get("description").text()
					list = append(list, f)
				}
			}
		}
	}
	return list
}
