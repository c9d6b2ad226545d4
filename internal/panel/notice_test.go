package panel_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

var liveKey = regexp.MustCompile(`dsp_live_[0-9A-Za-z]{32}`)

// A new key is shown to the session that made it, once, and reloading the page makes no second one.
// The form of one that is refused comes back in place, with what was typed.
func TestNotice_aSecretIsShownOnce(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v, colleague := visit(t, s, tenant, nil), visit(t, s, tenant, nil)
		create := func() (notice *http.Cookie) {
			sent := v.post("/panel/claves", url.Values{"name": {"Sistema"}, "scopes": {"read:orders"}})
			require.Equal(t, []any{http.StatusSeeOther, "/panel/claves"}, []any{sent.Status, sent.Location})
			cookies, err := http.ParseSetCookie(sent.Header.Get("Set-Cookie"))
			require.NoError(t, err)
			require.True(t, cookies.HttpOnly)
			require.LessOrEqual(t, cookies.MaxAge, 300)
			return cookies
		}
		panel, err := url.Parse(s.BaseURL + "/panel")
		require.NoError(t, err)
		colleague.client.Jar.SetCookies(panel, []*http.Cookie{create()})
		require.Empty(t, liveKey.FindString(colleague.read("/panel/claves").Text), "another session does not get it")
		require.NotEmpty(t, liveKey.FindString(v.read("/panel/claves").Text))
		list := v.read("/panel/claves")
		require.Empty(t, liveKey.FindString(list.Text), "it is shown once")
		require.Equal(t, 1, strings.Count(list.words(), "Revocar Sistema"), "reloading makes no second key")

		wrong := v.post("/panel/claves", url.Values{"name": {"Otra"}})
		require.Equal(t, http.StatusUnprocessableEntity, wrong.Status)
		require.Contains(t, wrong.Text, `value="Otra"`)
	})
}

// A notice shows only what the service itself said to this session, once.
func TestNotice_isOfThisSession(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v, colleague := getAs(t, s, tenant, &models.User{}), getAs(t, s, tenant, &models.User{})
		panel, err := url.Parse(s.BaseURL + "/panel")
		require.NoError(t, err)
		plant := func(in *visitor, value string) {
			in.client.Jar.SetCookies(panel, []*http.Cookie{{Name: "despacho_notice", Value: value, Path: "/panel"}})
		}
		const lie = "Su cuenta fue bloqueada: llame al 555"
		plant(v, base64.RawURLEncoding.EncodeToString([]byte(`{"text":"`+lie+`"}`)))
		require.NotContains(t, v.read("/panel/pedidos").words(), lie)

		made := v.post("/panel/tiendas", url.Values{"name": {"Nueva"}})
		require.Equal(t, http.StatusSeeOther, made.Status)
		var sealed string
		for _, cookie := range v.client.Jar.Cookies(panel) {
			if cookie.Name == "despacho_notice" {
				sealed = cookie.Value
			}
		}
		require.NotEmpty(t, sealed)
		plant(colleague, sealed)
		require.NotContains(t, colleague.read("/panel/pedidos").words(), "Tienda agregada.", "it is for one session")
		require.Contains(t, v.read("/panel/tiendas").words(), "Tienda agregada.")
		require.NotContains(t, v.read("/panel/tiendas").words(), "Tienda agregada.")
	})
}
