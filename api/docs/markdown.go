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

// markdown renders a description. Its links to anchors lead to the pages that have them.
func (r *reference) markdown(source string) (template.HTML, error) {
	content := []byte(source)
	document := renderer.Parser().Parse(text.NewReader(content), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	if err := ast.Walk(document, r.resolveLink); err != nil {
		return "", err
	}
	var out bytes.Buffer
	err := renderer.Renderer().Render(&out, content, document)
	return template.HTML(out.String()), err // goldmark escapes HTML unless told otherwise
}

func (r *reference) resolveLink(n ast.Node, _ bool) (ast.WalkStatus, error) {
	if link, ok := n.(*ast.Link); ok {
		if id, within := strings.CutPrefix(string(link.Destination), "#"); within {
			url, err := r.href(id)
			link.Destination = []byte(url)
			return ast.WalkContinue, err
		}
	}
	return ast.WalkContinue, nil
}

// headings lists the headings of a text with their anchors.
func headings(source string) []link {
	document := renderer.Parser().Parse(text.NewReader([]byte(source)),
		parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
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
