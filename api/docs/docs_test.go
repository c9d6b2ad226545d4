package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/api/docs"
)

func rendered(t *testing.T) string {
	t.Helper()
	document, err := os.ReadFile("../openapi.yaml")
	require.NoError(t, err)
	page, err := docs.Render(document, "https://despacho.example")
	require.NoError(t, err)
	return string(page.HTML)
}

func TestPage_everyLinkInsideItHasItsTarget(t *testing.T) {
	t.Parallel()
	page := rendered(t)
	targets := map[string]int{}
	for _, match := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		targets[match[1]]++
	}
	for id, count := range targets {
		require.Equal(t, 1, count, "id %s", id)
	}
	links := regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1)
	require.Greater(t, len(links), 100)
	for _, match := range links {
		require.Contains(t, targets, match[1])
	}
}

func TestPage_loadsAndRunsNothing(t *testing.T) {
	t.Parallel()
	page := rendered(t)
	for _, loading := range []string{"<script", "<link", "<img", "<iframe", " src=", "url(", "@import", " style=", " onclick"} {
		require.False(t, strings.Contains(page, loading), loading)
	}
}

func TestPage_showsEveryOperation(t *testing.T) {
	t.Parallel()
	page := rendered(t)
	document, err := os.ReadFile("../openapi.yaml")
	require.NoError(t, err)
	operations := regexp.MustCompile(`operationId: (\w+)`).FindAllStringSubmatch(string(document), -1)
	require.NotEmpty(t, operations)
	for _, match := range operations {
		require.True(t, strings.Contains(page, `id="op-`+match[1]+`"`), match[1])
	}
}

const small = `
openapi: 3.0.3
info: {title: Prueba, version: 1.0.0, description: "## Título uno"}
security: [{apiKey: []}]
tags: [{name: Cosas, description: "Uso de <script>"}]
paths:
  /cosas/{id}:
    post:
      operationId: move
      tags: [Cosas]
      summary: Mover
      x-scope: write:things
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}, example: a/b}
        - {name: q, in: query, required: false, schema: {type: integer, minimum: 1, maximum: 9, default: 3}, example: "2"}
      requestBody:
        content:
          application/json:
            schema: {$ref: "#/components/schemas/ThingInput"}
            example: {zeta: O'Higgins, alfa: 1, nada: null, cierto: true, lista: [x]}
      responses:
        "200":
          description: Bien
          content:
            application/json:
              schema: {type: object, required: [data], properties: {data: {$ref: "#/components/schemas/Thing"}}}
components:
  schemas:
    ThingInput:
      type: object
      required: [zeta]
      properties:
        zeta: {type: string, maxLength: 5}
    Thing:
      type: object
      properties:
        kind: {type: string, nullable: true, allOf: [{$ref: "#/components/schemas/Kind"}]}
    Kind: {type: string, enum: [uno, dos]}
`

func TestRender_smallDocument(t *testing.T) {
	t.Parallel()
	page, err := docs.Render([]byte(small), "https://x.example")
	require.NoError(t, err)
	html := string(page.HTML)
	for what, text := range map[string]string{
		"the curl line has the example's path, query, key and body, quoted for a shell": strings.Join([]string{
			`curl -X POST &#34;https://x.example/cosas/a%2Fb?q=2&#34; \`,
			`  -H &#34;X-API-Key: $DESPACHO_KEY&#34; \`,
			`  -H &#34;Content-Type: application/json&#34; \`,
			`  -d &#39;{`,
			`  &#34;zeta&#34;: &#34;O&#39;\&#39;&#39;Higgins&#34;,`,
			`  &#34;alfa&#34;: 1,`,
			`  &#34;nada&#34;: null,`,
			`  &#34;cierto&#34;: true,`,
			`  &#34;lista&#34;: [`,
			`    &#34;x&#34;`,
			`  ]`,
			`}&#39;</pre>`,
		}, "\n"),
		"what must be sent is marked":         `<code>zeta</code> <span class="type">texto · hasta 5 caracteres</span> <span class="required">obligatorio</span>`,
		"bounds and defaults are in words":    `entero · de 1 a 9 · por omisión 3 · consulta`,
		"the scope is named":                  `con el permiso <code>write:things</code>`,
		"objects are linked":                  `objeto <a href="#obj-Thing">Thing</a>`,
		"values of an enum are listed":        `<code>uno</code> <code>dos</code>`,
		"headings have anchors without marks": `<h2 id="titulo-uno">`,
		"HTML in a description is no HTML":    `Uso de <!-- raw HTML omitted -->`,
	} {
		require.Contains(t, html, text, what)
	}
	require.Contains(t, page.Policy, "default-src 'none'")
}

func TestRender_rejectsInvalidDocuments(t *testing.T) {
	t.Parallel()
	for _, document := range []string{"", "[]", "a: [", "text"} {
		_, err := docs.Render([]byte(document), "")
		require.Error(t, err, document)
	}
}
