package panel_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// textOf is what an element of the page reads; the element must be there.
func (p *page) textOf(t *testing.T, id string) string {
	t.Helper()
	document, err := html.Parse(strings.NewReader(p.Text))
	require.NoError(t, err)
	for node := range document.Descendants() {
		for _, attribute := range node.Attr {
			if attribute.Key == "id" && attribute.Val == id {
				return strings.TrimSpace(innerText(node))
			}
		}
	}
	require.Failf(t, "no element", "#%s in %s", id, p.Text)
	return ""
}

func innerText(node *html.Node) string {
	var text strings.Builder
	for inner := range node.Descendants() {
		if inner.Type == html.TextNode {
			text.WriteString(inner.Data)
		}
	}
	return text.String()
}

// actions are where the forms of the page go.
func (p *page) actions(t *testing.T) []string {
	t.Helper()
	document, err := html.Parse(strings.NewReader(p.Text))
	require.NoError(t, err)
	var actions []string
	for node := range document.Descendants() {
		for _, attribute := range node.Attr {
			if node.Data == "form" && attribute.Key == "action" {
				actions = append(actions, unbound(attribute.Val))
			}
		}
	}
	return actions
}

// hostile is text that would be a script if a page forgot to escape it.
const hostile = `"><script>alert(1)</script>`
