package docs

import (
	"bytes"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"despacho/internal/textnorm"
)

var renderer = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// markdown renders a description. The file is our own, so an error is kept and reported at the end.
func (b *builder) markdown(source string) template.HTML {
	var out bytes.Buffer
	context := parser.NewContext(parser.WithIDs(anchors{}))
	if err := renderer.Convert([]byte(source), &out, parser.WithContext(context)); err != nil {
		b.err = err
	}
	return template.HTML(out.String()) // goldmark escapes HTML unless told otherwise
}

// headings lists the headings of a text with their anchors.
func headings(source string) []link {
	document := renderer.Parser().Parse(text.NewReader([]byte(source)), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	var list []link
	for child := document.FirstChild(); child != nil; child = child.NextSibling() {
		heading, ok := child.(*ast.Heading)
		if !ok {
			continue
		}
		lines := heading.Lines()
		title := strings.TrimSpace(string(lines.Value([]byte(source))))
		list = append(list, link{ID: anchor(title), Title: title})
	}
	return list
}

// anchor is a heading as a URL fragment.
func anchor(title string) string {
	words := strings.FieldsFunc(textnorm.String(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}

// anchors makes goldmark use the same anchors. It implements parser.IDs.
type anchors struct{}

// Generate returns a heading's anchor.
func (anchors) Generate(title []byte, _ ast.NodeKind) []byte { return []byte(anchor(string(title))) }

// Put records explicit anchors; there are none.
func (anchors) Put([]byte) {}
