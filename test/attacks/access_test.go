package attacks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// attacker is a caller with valid credentials of its own.
type attacker struct {
	key, token string
	// phone is the cookie of a rider's phone.
	phone string
	// from is the client's address, for a service behind a proxy.
	from string
	own  *apptest.Tenant
	// reach is what it tries to get at.
	reach map[string]string
}

// Every route that takes an id, with every id of the victim, by every attacker: nothing is read and
// nothing changes.
func TestAccess_toWhatIsAnothers(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		v := newVictim(t, s)
		other := s.NewTenant(t)
		intruders := map[string]attacker{
			"another operator":              {key: other.Key, token: other.SignInAs(t, &models.User{Admin: true}), own: other, reach: v.ids},
			"a store of another operator":   {key: other.KeyA, token: other.SignIn(t, &other.StoreA), own: other, reach: v.ids},
			"another store of the operator": {key: v.KeyB, token: v.SignIn(t, &v.StoreB), own: v.Tenant, reach: v.ofStoreA},
		}
		before := v.state(t)
		tried := 0
		for _, route := range routes(t) {
			if !strings.Contains(route.Path, ":id") {
				continue
			}
			for name, who := range intruders {
				for kind, id := range who.reach {
					what := fmt.Sprintf("%s: %s %s with the id of a %s", name, route.Method, route.Path, kind)
					status, text := who.call(t, s, route.Method, strings.ReplaceAll(route.Path, ":id", id), bodyNaming(who.own))
					require.Contains(t, []int{http.StatusForbidden, http.StatusNotFound}, status, "%s: %s", what, text)
					if who.own == v.Tenant { // the name is on every page of the operator's stores
						text = strings.ReplaceAll(text, v.Operator.Name, "")
					}
					v.requireHidden(t, what, text)
					tried++
				}
			}
		}
		require.Greater(t, tried, 300)
		require.Equal(t, before, v.state(t))
	})
}

// Every route without an id, with the victim's ids in the body and the query: nothing of the
// victim's is shown, used or changed.
func TestAccess_byNamingWhatIsAnothers(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		v := newVictim(t, s)
		before := v.state(t)
		for _, route := range routes(t) {
			if strings.Contains(route.Path, ":") || strings.HasSuffix(route.Path, "/session") || strings.HasSuffix(route.Path, "/salir") || strings.HasSuffix(route.Path, "/password") || strings.HasSuffix(route.Path, "/ingreso") {
				continue
			}
			for name, who := range map[string]func(*apptest.Tenant) attacker{
				"another operator": func(o *apptest.Tenant) attacker {
					return attacker{key: o.Key, token: o.SignInAs(t, &models.User{Admin: true})}
				},
				"a store": func(o *apptest.Tenant) attacker { return attacker{key: o.KeyA, token: o.SignIn(t, &o.StoreA)} },
			} {
				other := s.NewTenant(t)
				what := name + ": " + route.Method + " " + route.Path
				query := url.Values{"tienda": {v.ids["store"]}, "motorizado": {v.ids["rider"]}, "id": {v.ids["order"]}, "store_id": {v.ids["store"]}, "webhook_id": {v.ids["webhook"]}, "order_id": {v.ids["order"]}}
				status, text := who(other).call(t, s, route.Method, route.Path+"?"+query.Encode(), bodyNaming(v.Tenant))
				require.Less(t, status, 500, "%s: %s", what, text)
				v.requireHidden(t, what, text)
				v.requireUnused(t, what, other)
			}
		}
		require.Equal(t, before, v.state(t))
	})
}

// call makes a request as an API client or, for a page, as a browser does.
func (who attacker) call(t *testing.T, s *apptest.Service, method, path string, members map[string]any) (status int, text string) {
	t.Helper()
	var content []byte
	contentType := "application/json"
	if method != http.MethodGet {
		var err error
		content, err = json.Marshal(members)
		require.NoError(t, err)
		if isPage(path) {
			contentType, content = asForm(t, path, members)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, bytes.NewReader(content))
	require.NoError(t, err)
	if len(content) > 0 {
		request.Header.Set("Content-Type", contentType)
	}
	if who.from != "" {
		request.Header.Set("X-Forwarded-For", who.from)
	}
	if who.phone != "" {
		request.AddCookie(&http.Cookie{Name: riderCookie, Value: who.phone})
	}
	if who.key != "" {
		request.Header.Set("X-API-Key", who.key)
	}
	if who.token != "" {
		request.Header.Set("Authorization", "Bearer "+who.token)
	}
	response, err := noRedirects.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(answer)
}

var noRedirects = &http.Client{
	Transport: apptest.Client.Transport, Timeout: poll.Deadline,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// asForm is what the page's own form would send; those that take a file send parts.
func asForm(t *testing.T, path string, members map[string]any) (contentType string, content []byte) {
	t.Helper()
	fields := url.Values{}
	for name, value := range members {
		if list, ok := value.([]string); ok {
			fields[name] = list
			continue
		}
		fields.Set(name, fmt.Sprint(value))
	}
	if !strings.HasSuffix(path, "/entregar") && !strings.HasSuffix(path, "/corregir-entrega") && !strings.HasSuffix(path, "/logo") && !strings.Contains(path, "/carga") {
		return "application/x-www-form-urlencoded", []byte(fields.Encode())
	}
	var out bytes.Buffer
	parts := multipart.NewWriter(&out)
	for name := range fields {
		require.NoError(t, parts.WriteField(name, fields.Get(name)))
	}
	require.NoError(t, parts.Close())
	return parts.FormDataContentType(), out.Bytes()
}

func textOf(value any) string {
	if raw, ok := value.([]byte); ok {
		return fmt.Sprintf("%x", raw)
	}
	return fmt.Sprint(value)
}

func (v *victim) requireHidden(t *testing.T, what, text string) {
	t.Helper()
	for _, mark := range v.markers {
		if !strings.Contains(what, mark) { // the address that was asked for may come back
			require.NotContains(t, text, mark, what)
		}
	}
}

// requireUnused makes sure that nothing of the other's refers to what is the victim's.
func (v *victim) requireUnused(t *testing.T, what string, other *apptest.Tenant) {
	t.Helper()
	for _, reference := range []string{"orders.store_id", "orders.branch_id", "orders.rider_id", "users.store_id", "api_keys.store_id", "webhooks.store_id", "deliveries.webhook_id"} {
		table, column, _ := strings.Cut(reference, ".")
		var count int
		ids := "'" + strings.Join([]string{v.ids["store"], v.ids["branch"], v.ids["rider"], v.ids["webhook"]}, "','") + "'"
		require.NoError(t, v.s.App.DB.SQL().QueryRowContext(t.Context(),
			"SELECT COUNT(*) FROM "+table+" WHERE operator_id = '"+other.Operator.ID.String()+"' AND "+column+" IN ("+ids+")").Scan(&count))
		require.Zero(t, count, "%s: %s refers to another operator's", what, reference)
	}
}
