package panel_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"despacho/models"
	"despacho/test/apptest"
)

// visitor is an HTTP client like a browser without scripts: it keeps cookies and does not follow
// redirects.
type visitor struct {
	t      testing.TB
	base   string
	client *http.Client
}

// page is what came back.
type page struct {
	Status   int
	Header   http.Header
	Location string
	Text     string
}

// visit signs a new user of the tenant in; with a store it is the store's.
func visit(t testing.TB, s *apptest.Service, tenant *apptest.Tenant, store *models.Store) *visitor {
	t.Helper()
	user := models.User{}
	if store != nil {
		user.StoreID = &store.ID
	}
	return getAs(t, s, tenant, &user)
}

// getAs is visit for a user with traits of its own.
func getAs(t testing.TB, s *apptest.Service, tenant *apptest.Tenant, user *models.User) *visitor {
	t.Helper()
	return signedInWith(t, s, tenant.SignInAs(t, user))
}

// signedInWith is a client with the token of a session.
func signedInWith(t testing.TB, s *apptest.Service, token string) *visitor {
	t.Helper()
	v := signedOut(t, s)
	address, err := url.Parse(s.BaseURL + "/panel")
	require.NoError(t, err)
	v.client.Jar.SetCookies(address, []*http.Cookie{{Name: "despacho_session", Value: token, Path: "/panel"}})
	return v
}

// signedOut is a client that is not signed in.
func signedOut(t testing.TB, s *apptest.Service) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &visitor{t: t, base: s.BaseURL, client: &http.Client{
		Transport: apptest.Client.Transport, Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (v *visitor) get(path string) *page {
	v.t.Helper()
	return v.send(http.MethodGet, path, "", nil)
}

// read is get for a page that must be there.
func (v *visitor) read(path string) *page {
	v.t.Helper()
	p := v.get(path)
	require.Equal(v.t, http.StatusOK, p.Status, p.Text)
	return p
}

func (v *visitor) post(path string, fields url.Values) *page {
	v.t.Helper()
	return v.send(http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(fields.Encode()))
}

// submit is post for a form that must be accepted; it returns the page of the redirect.
func (v *visitor) submit(path string, fields url.Values) *page {
	v.t.Helper()
	p := v.post(path, fields)
	require.Equal(v.t, http.StatusSeeOther, p.Status, p.Text)
	return v.read(p.Location)
}

// upload posts a form with one file.
func (v *visitor) upload(path string, fields url.Values, name, fileName string, content []byte) *page {
	v.t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	for field, values := range fields {
		for _, value := range values {
			require.NoError(v.t, form.WriteField(field, value))
		}
	}
	part, err := form.CreateFormFile(name, fileName)
	require.NoError(v.t, err)
	_, err = part.Write(content)
	require.NoError(v.t, err)
	require.NoError(v.t, form.Close())
	return v.send(http.MethodPost, path, form.FormDataContentType(), &out)
}

func (v *visitor) send(method, path, contentType string, content io.Reader) *page {
	v.t.Helper()
	request, err := http.NewRequest(method, v.base+path, content)
	require.NoError(v.t, err)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
		request.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return v.do(request)
}

// getWith is get with a header.
func (v *visitor) getWith(path, header, value string) *page {
	v.t.Helper()
	request, err := http.NewRequest(http.MethodGet, v.base+path, nil)
	require.NoError(v.t, err)
	request.Header.Set(header, value)
	return v.do(request)
}

func (v *visitor) do(request *http.Request) *page {
	v.t.Helper()
	response, err := v.client.Do(request)
	require.NoError(v.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(v.t, err)
	return &page{Status: response.StatusCode, Header: response.Header, Location: response.Header.Get("Location"), Text: string(text)}
}

// words are the texts of the page as a reader sees them, without tags and with single spaces.
func (p *page) words() string {
	var words []string
	tokens := html.NewTokenizer(strings.NewReader(p.Text))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return strings.Join(words, " ")
		case html.TextToken:
			words = append(words, strings.Fields(string(tokens.Text()))...)
		}
	}
}

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
