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

// markdown renders a description; the file is our own, so a failure is kept and reported once at
// the end.
func (b *builder) markdown(source string) template.HTML {
	var out bytes.Buffer
	context := parser.NewContext(parser.WithIDs(anchors{}))
	if err := renderer.Convert([]byte(source), &out, parser.WithContext(context)); err != nil {
		b.err = err
	}
	return template.HTML(out.String()) // goldmark escapes HTML unless told otherwise
}

// headings lists the titles of a text with their anchors.
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

// anchor is a title as it appears in an address.
func anchor(title string) string {
	words := strings.FieldsFunc(textnorm.String(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}

// anchors gives goldmark's headings the same anchors.
type anchors struct{}

// Generate makes a heading's anchor.
func (anchors) Generate(title []byte, _ ast.NodeKind) []byte { return []byte(anchor(string(title))) }

// Put is told of anchors that were set by hand; there are none.
func (anchors) Put([]byte) {}
