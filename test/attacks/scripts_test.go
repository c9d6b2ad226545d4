package attacks

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"despacho/models"
	"despacho/test/apptest"
)

// xssPayload runs in a browser where it is written into a page unescaped: as text, in an attribute
// or in a URL.
const xssPayload = `x"'><script>alert(1)</script><img src=x onerror=alert(1)><a href="javascript:alert(1)">`

// Whatever people write into the panel and the API is shown as text: no page runs, loads or links
// to any of it.
func TestScripts_storedInEveryField(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		admin, seller := tenant.SignInAs(t, &models.User{Admin: true}), tenant.SignIn(t, &tenant.StoreA)
		ids := storeEverywhere(t, s, tenant, admin, xssPayload)
		guideCode := ids["guide code"]
		shown := map[string]bool{}
		for _, route := range routes(t) {
			if route.Method != http.MethodGet || !isPage(route.Path) || strings.HasPrefix(route.Path, "/docs") {
				continue
			}
			for _, id := range ids {
				path := strings.NewReplacer(":id", id, ":guide_code", guideCode).Replace(route.Path)
				if !strings.Contains(route.Path, ":id") {
					path += "?q=" + "Rosa" + "&id=" + ids["order"]
				}
				for _, token := range []string{admin, seller} {
					if requireInert(t, s, path, token) {
						shown[route.Path] = true
					}
				}
				if !strings.Contains(route.Path, ":id") {
					break
				}
			}
		}
		for _, must := range []string{"/panel/pedidos", "/panel/tiendas", "/panel/tiendas/:id", "/track/:guide_code"} {
			require.Contains(t, shown, must)
		}
		for _, query := range []string{"?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "?estado=%22%3E%3Cscript%3E", "?desde=%22onfocus=alert(1)"} {
			require.True(t, requireInert(t, s, "/panel/pedidos"+query, admin))
		}
		require.True(t, requireInert(t, s, "/panel/ingreso?siguiente=javascript:alert(1)", ""))
	})
}

// storeEverywhere writes a payload into every text field and returns the ids of the rows.
func storeEverywhere(t *testing.T, s *apptest.Service, tenant *apptest.Tenant, admin, payload string) map[string]string {
	t.Helper()
	send := func(method, path string, body map[string]any) *apptest.Answer {
		answer := s.Do(t, apptest.Request{Method: method, Path: "/panel/api" + path, Token: admin, Body: body})
		require.Contains(t, []int{http.StatusOK, http.StatusCreated}, answer.Status, "%s: %s", path, answer.Text)
		return answer
	}
	ids := map[string]string{}
	for kind, made := range map[string]*apptest.Answer{
		"store":     send(http.MethodPost, "/stores", map[string]any{"name": payload}),
		"rider":     send(http.MethodPost, "/riders", map[string]any{"name": payload, "phone": "987654321"}),
		"branch":    send(http.MethodPost, "/branches", map[string]any{"name": payload}),
		"risk zone": send(http.MethodPost, "/risk-zones", map[string]any{"name": payload, "words": []string{"script"}}),
		"key":       send(http.MethodPost, "/keys", map[string]any{"name": payload, "scopes": []string{"read:orders"}}),
		"user":      send(http.MethodPost, "/users", map[string]any{"name": payload, "email": strings.ToLower(tenant.StoreA.ID.String()) + "@prueba.example", "role": "operator"}),
		"webhook": send(http.MethodPost, "/webhooks", map[string]any{
			"url": "https://receptor.example/%22%3E<script>alert(1)</script>", "events": []string{"order.created"},
		}),
		"order": send(http.MethodPost, "/orders", apptest.Order(map[string]any{
			"recipient_name": "Rosa " + payload, "delivery_address": payload, "delivery_reference": payload, "product": payload, "notes": payload, "external_id": payload,
			"store_id": tenant.StoreA.ID.String(), "recipient_doc_type": "other", "recipient_doc_number": `<script>alert(1)</script>`[:20],
		})),
	} {
		ids[kind] = made.String("id")
		if code := made.String("guide_code"); code != "" {
			ids["guide code"] = code
		}
	}
	ids["store price"] = send(http.MethodPost, "/store-prices", map[string]any{
		"store_id": ids["store"], "price": 1, "from_day": "2026-01-01"}).String("id")
	send(http.MethodPatch, "/settings", map[string]any{"name": tenant.OwnName(payload)})
	send(http.MethodPost, "/orders/"+ids["order"]+"/cancel", map[string]any{"reason": payload, "note": payload})
	return ids
}

// requireInert reads a page and makes sure that nothing in it runs. It is false where the visitor
// is shown no page.
func requireInert(t *testing.T, s *apptest.Service, path, token string) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+path, nil)
	require.NoError(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := noRedirects.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Less(t, response.StatusCode, 500, path)
	if response.StatusCode != http.StatusOK {
		return false
	}
	kind := response.Header.Get("Content-Type")
	require.NotEmpty(t, kind, path)
	if !strings.HasPrefix(kind, "text/html") {
		require.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"), "%s is not guessed to be a page", path)
		return true
	}
	policy := response.Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'", path)
	require.NotContains(t, policy, "unsafe", path)
	tokens := html.NewTokenizer(strings.NewReader(string(text)))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			require.ErrorIs(t, tokens.Err(), io.EOF)
			return true
		case html.StartTagToken, html.SelfClosingTagToken:
			requireInertTag(t, path, tokens.Token())
		}
	}
}

func requireInertTag(t *testing.T, path string, tag html.Token) {
	t.Helper()
	source := ""
	for _, attribute := range tag.Attr {
		require.False(t, strings.HasPrefix(attribute.Key, "on"), "%s: %s", path, tag)
		require.NotEqual(t, "style", attribute.Key, "%s: %s", path, tag)
		value := strings.ToLower(strings.TrimSpace(attribute.Val))
		if attribute.Key == "href" || attribute.Key == "src" || attribute.Key == "action" || attribute.Key == "formaction" {
			require.False(t, strings.HasPrefix(value, "javascript:") || strings.HasPrefix(value, "data:text"), "%s: %s", path, tag)
		}
		if attribute.Key == "src" {
			source = value
		}
	}
	if tag.Data == "script" {
		isOwn := strings.HasPrefix(source, "/panel/assets/") || strings.HasPrefix(source, "/reparto/assets/")
		require.True(t, isOwn, "%s: %s", path, tag)
	}
	if tag.Data == "img" {
		require.NotEqual(t, "x", source, "%s: %s", path, tag)
	}
}
