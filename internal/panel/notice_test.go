package panel_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// A notice shows only what the service itself said to this session, once.
func TestNotice_isSigned(t *testing.T) {
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
		var signed string
		for _, cookie := range v.client.Jar.Cookies(panel) {
			if cookie.Name == "despacho_notice" {
				signed = cookie.Value
			}
		}
		require.NotEmpty(t, signed)
		plant(colleague, signed)
		require.NotContains(t, colleague.read("/panel/pedidos").words(), "Tienda agregada.", "it is for one session")
		require.Contains(t, v.read("/panel/tiendas").words(), "Tienda agregada.")
		require.NotContains(t, v.read("/panel/tiendas").words(), "Tienda agregada.")
	})
}
