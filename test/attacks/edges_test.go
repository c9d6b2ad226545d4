package attacks

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// edge sends a request with headers that no client library sends, and reads all of the answer.
func edge(t *testing.T, s *apptest.Service, method, path string, body []byte, header http.Header) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, bytes.NewReader(body))
	require.NoError(t, err)
	request.Header, request.Host = header, header.Get("Host")
	response, err := noRedirects.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(text)
}

// Which of two keys counts would depend on who reads the request: a proxy may have looked at the
// other one. Neither does, and the answer says so.
func TestEdges_twoKeys(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for _, keys := range [][]string{{tenant.Key, tenant.KeyA}, {tenant.Key, tenant.Key}, {tenant.Key, ""}, {"", tenant.Key}} {
			response, text := edge(t, s, http.MethodGet, "/v1/orders", nil, http.Header{"X-Api-Key": keys})
			require.Equal(t, http.StatusUnauthorized, response.StatusCode, text)
			require.Contains(t, text, "X-API-Key una sola vez")
		}
	})
}

// No link leads to where a request says that it was sent: neither by its Host nor by what a proxy
// would write.
func TestEdges_hostIsInNoLink(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		const host = "despacho.malo.example"
		tenant := s.NewTenant(t)
		admin := tenant.SignInAs(t, &models.User{Admin: true})
		ids := storeEverywhere(t, s, tenant, admin, "Texto")
		order, err := json.Marshal(apptest.Order())
		require.NoError(t, err)
		other := models.User{}
		tenant.SignInAs(t, &other)
		answered := 0
		visit := func(method, path string, body []byte) {
			for _, token := range []string{admin, ""} {
				header := http.Header{
					"Host": {host}, "X-Forwarded-Host": {host}, "X-Forwarded-Proto": {"gopher"}, "X-Forwarded-Server": {host}, "X-Forwarded-Prefix": {"//" + host},
					"X-Forwarded-For": {host}, "X-Original-Url": {"https://" + host}, "X-Rewrite-Url": {"https://" + host}, "Forwarded": {"host=" + host},
					"Referer": {"https://" + host + "/panel"}, "X-Api-Key": {tenant.Key}, "Content-Type": {"application/json"},
				}
				if token != "" {
					header.Set("Authorization", "Bearer "+token)
				}
				response, text := edge(t, s, method, path, body, header)
				require.NotContains(t, text, host, path)
				for name, values := range response.Header {
					require.NotContains(t, strings.Join(values, " "), host, "%s: %s", path, name)
					require.NotContains(t, strings.Join(values, " "), "gopher", "%s: %s", path, name)
				}
				if response.StatusCode < 400 {
					answered++
				}
			}
		}
		for _, route := range routes(t) {
			if route.Method != http.MethodGet || route.Path == "/v1/events" {
				continue
			}
			path := route.Path
			for prefix, kind := range map[string]string{
				"/panel/tiendas": "store", "/panel/motorizados": "rider", "/panel/sucursales": "branch", "/panel/zonas-de-riesgo": "risk zone", "/panel/tarifas": "store price", "/panel/webhooks": "webhook",
				"/v1/webhooks": "webhook", "/panel/usuarios": "user",
			} {
				if strings.HasPrefix(path, prefix) {
					path = strings.ReplaceAll(path, ":id", ids[kind])
				}
			}
			path = strings.NewReplacer(":id", ids["order"], ":guide_code", ids["guide code"]).Replace(path)
			visit(http.MethodGet, path, nil)
			visit(http.MethodGet, path+"/", nil)
		}
		visit(http.MethodPost, "/v1/orders", order)
		visit(http.MethodPost, "/panel/api/users/"+other.ID.String()+"/reset", nil)
		visit(http.MethodPost, "/panel/api/riders/"+ids["rider"]+"/link", nil)
		require.Greater(t, answered, 80)
	})
}

// What comes packed is not read, by whichever route: nothing is created or changed by it.
func TestEdges_packedBodies(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		admin := tenant.SignInAs(t, &models.User{Admin: true})
		logged, tried := auditEntries(t, s, tenant), 0
		for _, route := range routes(t) {
			if route.Method == http.MethodGet || isSignInOrOut(route.Path) {
				continue
			}
			contentType := "application/json"
			content, err := json.Marshal(bodyNaming(tenant))
			require.NoError(t, err)
			if isPage(route.Path) {
				contentType, content = asForm(t, route.Path, bodyNaming(tenant))
			}
			var packed bytes.Buffer
			packer := gzip.NewWriter(&packed)
			_, err = packer.Write(content)
			require.NoError(t, err)
			require.NoError(t, packer.Close())
			response, text := edge(t, s, route.Method, strings.ReplaceAll(route.Path, ":id", uuid.NewString()), packed.Bytes(), http.Header{
				"Content-Encoding": {"gzip"}, "Content-Type": {contentType}, "X-Api-Key": {tenant.Key}, "Authorization": {"Bearer " + admin},
			})
			require.Less(t, response.StatusCode, 500, text)
			require.NotEqual(t, http.StatusCreated, response.StatusCode, "%s %s", route.Method, route.Path)
			require.Equal(t, logged, auditEntries(t, s, tenant), "%s %s", route.Method, route.Path)
			tried++
		}
		require.Greater(t, tried, 100)
		orders := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders", Key: tenant.Key})
		require.Zero(t, orders.Data["total"])
	})
}

// Every file for spreadsheet programs, with a formula in whatever a person can name: none of its
// cells begins one.
func TestEdges_filesHaveNoFormula(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		const formula = `=HYPERLINK("https://malo.example","Rosa")`
		tenant := s.NewTenant(t)
		admin := tenant.SignInAs(t, &models.User{Admin: true, Name: formula})
		ids := storeEverywhere(t, s, tenant, admin, formula)
		riderID := uuid.MustParse(ids["rider"])
		tenant.InsertRows(t, []models.Order{tenant.Row(time.Now(), apptest.ReceivedAfter(0), func(o *models.Order) {
			o.RecipientName, o.RiderID, o.Status, o.AssignedAt = formula, &riderID, models.StatusAssigned, o.ReceivedAt
		})})
		settlement := settleWithStoreA(t, s, tenant, tenant.Row(time.Now(), apptest.ReceivedAfter(0), apptest.DeliveredAfter(tenant.Riders[0], 0),
			func(o *models.Order) { name := formula; o.ExternalID = &name }))
		uploaded, err := json.Marshal([]map[string]any{{"n": 2, "c": map[string]string{"destinatario": formula, "producto": formula}}})
		require.NoError(t, err)
		form := url.Values{"visto": {time.Now().Format(time.RFC3339)}, "separador": {";"}, "filas": {""}, "resto": {string(uploaded)}}
		marked := map[string]int{}
		for _, route := range routes(t) {
			if !strings.HasSuffix(route.Path, ".csv") {
				continue
			}
			response, text := edge(t, s, route.Method, strings.Replace(route.Path, ":id", settlement, 1)+"?estado=assigned", []byte(form.Encode()), http.Header{
				"Content-Type": {"application/x-www-form-urlencoded"}, "Authorization": {"Bearer " + admin},
			})
			require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", route.Path, text)
			reader := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
			reader.Comma, reader.FieldsPerRecord = ';', -1
			rows, err := reader.ReadAll()
			require.NoError(t, err)
			marked[route.Path] = 0
			for _, row := range rows {
				for _, cell := range row {
					require.False(t, strings.HasPrefix(cell, "="), "%s: %s", route.Path, cell)
					marked[route.Path] += strings.Count(cell, "'=HYPERLINK")
				}
			}
		}
		for path, count := range marked {
			require.Equal(t, path != "/panel/cobertura.csv", count > 0, "%s: only the coverage has names of the catalog alone", path)
		}
		require.Len(t, marked, 8)
	})
}

// Whoever signs in stays on the panel's pages, whatever the form of the page was made to say.
func TestEdges_redirectAfterSigningIn(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		user := models.User{}
		s.NewTenant(t).SignInAs(t, &user)
		for _, next := range []string{ // fewer than the attempts that an account has in a minute
			"https://malo.example/panel/", "//malo.example/panel/", `/\malo.example/panel/`, "/panel/../files/x", "/panel//malo.example", "javascript:/panel/x", "/panel/api/orders",
		} {
			form := url.Values{"email": {user.Email}, "password": {apptest.Password}, "siguiente": {next}}
			response, text := edge(t, s, http.MethodPost, "/panel/ingreso", []byte(form.Encode()), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
			require.Equal(t, http.StatusSeeOther, response.StatusCode, text)
			require.Equal(t, "/panel/hoy", response.Header.Get("Location"), next)
		}
	})
}
