package docs_test

import (
	"cmp"
	"encoding/json"
	"html/template"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"despacho/api/docs"
	"despacho/models"
)

var render = sync.OnceValues(func() (map[string]docs.File, error) {
	document, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		return nil, err
	}
	return docs.Render(document, "https://despacho.example")
})

// rendered is the reference of openapi.yaml.
func rendered(t *testing.T) map[string]docs.File {
	t.Helper()
	files, err := render()
	require.NoError(t, err)
	return files
}

func source(t *testing.T) []byte {
	t.Helper()
	document, err := os.ReadFile("../openapi.yaml")
	require.NoError(t, err)
	return document
}

// pages are the files of HTML.
func pages(t *testing.T) map[string]string {
	t.Helper()
	list := map[string]string{}
	for path, file := range rendered(t) {
		if strings.HasPrefix(file.ContentType, "text/html") {
			list[path] = string(file.Content)
		}
	}
	return list
}

// A client that takes no gzip and reads slowly gets no more than this at once.
func TestRender_everyFileIsSmall(t *testing.T) {
	t.Parallel()
	for path, file := range rendered(t) {
		require.Less(t, len(file.Content), 170_000, path)
	}
}

var (
	idPattern   = regexp.MustCompile(` id="([^"]+)"`)
	hrefPattern = regexp.MustCompile(` href="([^"]+)"`)
)

func TestPages_everyLinkHasItsTarget(t *testing.T) {
	t.Parallel()
	targets := map[string]bool{"/openapi.yaml": true}
	for path, file := range rendered(t) {
		targets[path] = true
		for _, match := range idPattern.FindAllStringSubmatch(string(file.Content), -1) {
			target := path + "#" + match[1]
			require.False(t, targets[target], "%s twice", target)
			targets[target] = true
		}
	}
	links := 0
	for path, page := range pages(t) {
		for _, match := range hrefPattern.FindAllStringSubmatch(page, -1) {
			target := match[1]
			switch {
			case strings.HasPrefix(target, "https://"):
				continue
			case strings.HasPrefix(target, "#"):
				target = path + target
			case strings.HasPrefix(target, "/docs/style.css?v="):
				target = "/docs/style.css"
			}
			require.True(t, targets[target], "%s links to %s", path, target)
			links++
		}
	}
	require.Greater(t, links, 500)
}

func TestPages_loadOnlyTheirOwnFiles(t *testing.T) {
	t.Parallel()
	script := regexp.MustCompile(`<script src="/docs/script\.js\?v=[0-9a-f]{12}" defer></script>`)
	for path, page := range pages(t) {
		require.Len(t, script.FindAllString(page, -1), 1, path)
		page = script.ReplaceAllString(page, "")
		for _, loading := range []string{"<script", "<style", "<img", "<iframe", " src=", " style=", " onclick"} {
			require.False(t, strings.Contains(page, loading), "%s: %s", path, loading)
		}
		require.Equal(t, 1, strings.Count(page, "<link "), path)
		require.True(t, strings.Contains(page, `<link rel="stylesheet" href="/docs/style.css?v=`), path)
	}
	for _, loading := range []string{"url(", "@import"} {
		require.NotContains(t, string(rendered(t)["/docs/style.css"].Content), loading)
	}
}

// Every operation and object is on one of the pages. The first page links to it from a place with
// the same anchor, so that links to /docs#op-createOrder still lead there.
func TestPages_showEveryOperationAndObject(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(source(t))
	require.NoError(t, err)
	var ids []string
	for _, match := range regexp.MustCompile(`operationId: (\w+)`).FindAllStringSubmatch(string(source(t)), -1) {
		ids = append(ids, "op-"+match[1])
	}
	require.Greater(t, len(ids), 50)
	shown := pages(t)
	for name, schema := range document.Components.Schemas {
		if !regexp.MustCompile("(Input|Form|Response)$").MatchString(name) {
			ids = append(ids, "obj-"+name)
			continue
		}
		for property := range schema.Value.Properties { // shown where they are used
			require.True(t, slices.ContainsFunc(slices.Collect(maps.Values(shown)), func(page string) bool {
				return strings.Contains(page, "<dt><code>"+property+"</code>")
			}), "%s.%s", name, property)
		}
	}
	for _, id := range ids {
		var found []string
		for path, page := range shown {
			if path != "/docs" && strings.Contains(page, ` id="`+id+`"`) {
				found = append(found, path)
			}
		}
		require.Len(t, found, 1, id)
		require.True(t, strings.Contains(shown["/docs"], `<li id="`+id+`"><a href="`+found[0]+`#`+id+`">`), id)
	}
	for _, tag := range document.Tags {
		section := regexp.MustCompile(`<h3 id="[a-z-]+"><a href="/docs/[a-z-]+">` + regexp.QuoteMeta(tag.Name) + `</a></h3>`)
		require.True(t, section.MatchString(shown["/docs"]), tag.Name)
	}
}

func TestPages_showEveryErrorCode(t *testing.T) {
	t.Parallel()
	codes := regexp.MustCompile("\\| `(\\w+)` \\| \\d{3}|[{ ]code: ([a-z_]+)[ }\n]").FindAllStringSubmatch(string(source(t)), -1)
	require.Greater(t, len(codes), 100)
	introduction := pages(t)["/docs"]
	for _, match := range codes {
		code := match[1] + match[2]
		require.True(t, strings.Contains(introduction, "<td><code>"+code+"</code></td>"), code)
	}
}

// Every event of the document has a page with its body.
func TestPages_showEveryEvent(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(source(t))
	require.NoError(t, err)
	names := append(slices.Clone(document.Components.Schemas["EventName"].Value.Enum), "webhook.test")
	require.Len(t, names, len(models.SubscribableEvents)+1)
	for _, name := range names {
		page := pages(t)["/docs/"+strings.NewReplacer(".", "-", "_", "-").Replace(name.(string))]
		require.Contains(t, page, "<h1>"+name.(string)+"</h1>")
		require.Contains(t, page, `<span class="key">&#34;event&#34;</span>: <span class="text">&#34;`+name.(string)+`&#34;</span>`)
		require.Contains(t, page, `<a href="/docs/webhooks#op-on`)
		require.Regexp(t, `<div class="prose intro"><p>[^<]{20}`, page, "it says when it comes")
	}
}

// The catalogue has every code of the introduction's table with what to do, and the document's
// actions are of codes in the table.
func TestPages_sayWhatToDoAboutEveryError(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(source(t))
	require.NoError(t, err)
	catalogue := pages(t)["/docs/codigos"]
	codes := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| \\d{3}").FindAllStringSubmatch(document.Info.Description, -1)
	require.Greater(t, len(codes), 70)
	known := map[string]bool{}
	for _, match := range codes {
		known[match[1]] = true
		_, entry, found := strings.Cut(catalogue, ` id="e-`+match[1]+`"`)
		require.True(t, found, match[1])
		entry, _, _ = strings.Cut(entry, "</article>")
		require.Regexp(t, `<div class="prose action"><p>[^<]`, entry, match[1])
	}
	actions := document.Extensions["x-error-actions"].(map[string]any)["codes"].(map[string]any)
	require.NotEmpty(t, actions)
	for code, action := range actions {
		require.True(t, known[code], code)
		require.Contains(t, catalogue, template.HTMLEscapeString(strings.SplitN(action.(string), "`", 2)[0]), code)
	}
	require.Contains(t, catalogue, `<a href="/docs/webhooks#op-registerWebhook">`, "too_many_webhooks leads to where it comes from")
}

// The newest entry of the changelog is this version of the document, and no later entry is older.
func TestPages_changelog(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(source(t))
	require.NoError(t, err)
	page := pages(t)["/docs/cambios"]
	versions := regexp.MustCompile(`<h2 id="[^"]+">(\d+)\.(\d+)\.(\d+), \d+ de [a-z]+ de 20\d\d</h2>`).FindAllStringSubmatch(page, -1)
	require.NotEmpty(t, versions)
	require.Equal(t, document.Info.Version, strings.Join(versions[0][1:], "."))
	require.True(t, slices.IsSortedFunc(versions, func(one, other []string) int {
		return slices.CompareFunc(other[1:], one[1:], func(a, b string) int {
			return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
		})
	}), "the newest first: %v", versions)
	require.Len(t, versions, strings.Count(page, "<h2"), "every heading is a version")
}

const small = `
openapi: 3.0.3
info: {title: Prueba, version: 1.0.0, description: "## Título uno"}
security: [{apiKey: []}]
tags: [{name: Cosas, description: "Uso de <script>, [arriba](#titulo-uno)"}]
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
            example: {zeta: "O'Higgins & <b>", alfa: 1, nada: null, cierto: true, lista: [x]}
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
    Kind: {type: string, nullable: true, enum: [uno, dos, null]}
`

func TestRender_smallDocument(t *testing.T) {
	t.Parallel()
	files, err := docs.Render([]byte(small), "https://x.example")
	require.NoError(t, err)
	require.ElementsMatch(t, slices.Collect(maps.Keys(files)), []string{"/docs", "/docs/cosas", "/docs/codigos", "/docs/comunes", "/docs/cabeceras", "/docs/objetos", "/docs/style.css", "/docs/script.js", "/docs/search.json", "/docs/postman.json"})
	for what, text := range map[string]string{ // on the page of the section
		"the curl line has the example's path, query, key and body, quoted for a shell": strings.Join([]string{
			`curl -X POST "https://x.example/cosas/a%2Fb?q=2" \`,
			`  -H "X-API-Key: $DESPACHO_KEY" \`,
			`  -H 'Content-Type: application/json' \`,
			`  -d '{`,
			`  "zeta": "O'\''Higgins &amp; &lt;b&gt;",`,
			`  "alfa": 1,`,
			`  "nada": null,`,
			`  "cierto": true,`,
			`  "lista": [`,
			`    "x"`,
			`  ]`,
			`}'</pre>`,
		}, "\n"),
		"Python has its own words": strings.Join([]string{
			`    data=json.dumps({`,
			`      "zeta": "O'Higgins &amp; &lt;b&gt;",`,
			`      "alfa": 1,`,
			`      "nada": None,`,
			`      "cierto": True,`,
		}, "\n"),
		"PHP has its own arrays and quotes": strings.Join([]string{
			`    'content' =&gt; json_encode([`,
			`      'zeta' =&gt; 'O\'Higgins &amp; &lt;b&gt;',`,
		}, "\n"),
		"what must be sent is marked":          `<code>zeta</code> <span class="type">texto · hasta 5 caracteres</span> <span class="required">obligatorio</span>`,
		"bounds and defaults are in words":     `entero · de 1 a 9 · por omisión 3 · consulta`,
		"the scope is named":                   `con el permiso <code>write:things</code>`,
		"objects are linked":                   `objeto <a href="/docs/objetos#obj-Thing">Thing</a>`,
		"links lead to the page of the anchor": `<a href="/docs#titulo-uno">arriba</a>`,
		"HTML in a description is no HTML":     `Uso de <!-- raw HTML omitted -->`,
	} {
		require.Contains(t, string(files["/docs/cosas"].Content), text, what)
	}
	require.Contains(t, string(files["/docs"].Content), `<h2 id="titulo-uno">`, "headings have anchors without marks")
	require.Contains(t, string(files["/docs/objetos"].Content), `<code>uno</code> <code>dos</code>`, "values of an enum are listed")
	require.NotContains(t, string(files["/docs/objetos"].Content), `<code>dos</code> <code>null</code>`, "the word for nullable says it")
}

// What the search finds has an address, and everything on a page can be found.
func TestSearchIndex_leadsToEveryEntry(t *testing.T) {
	t.Parallel()
	var index struct{ Data [][3]string }
	require.NoError(t, json.Unmarshal(rendered(t)["/docs/search.json"].Content, &index))
	found := map[string]string{}
	for _, entry := range index.Data {
		require.NotEmpty(t, entry[0])
		found[entry[1]] = entry[2]
		path, id, within := strings.Cut(entry[1], "#")
		page, known := pages(t)[path]
		require.True(t, known, entry[1])
		if within {
			require.True(t, strings.Contains(page, ` id="`+id+`"`), entry[1])
		}
	}
	for _, target := range []string{"/docs", "/docs#limites", "/docs/pedidos", "/docs/objetos#obj-Order", "/docs/comunes#r-V1TooMany"} {
		require.Contains(t, found, target)
	}
	require.Contains(t, found["/docs/pedidos#op-createOrder"], "POST /v1/orders")
	require.Contains(t, found["/docs/pedidos#op-createOrder"], "amount_to_collect")
}

func TestRender_rejectsInvalidDocuments(t *testing.T) {
	t.Parallel()
	for _, document := range []string{
		"", "[]", "a: [", "text",
		"info: {description: '[a link to nothing](#nothing)'}", "tags: [{name: Objetos}]",
	} {
		_, err := docs.Render([]byte(document), "")
		require.Error(t, err, document)
	}
}
