package panel_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

func TestAccount_changesThePassword(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		user := models.User{StoreID: &tenant.StoreA.ID}
		elsewhere := getAs(t, s, tenant, &user)
		here := signedOut(t, s)
		signIn := func(password string) int {
			return here.post("/panel/ingreso", url.Values{"email": {user.Email}, "password": {password}}).Status
		}
		require.Equal(t, http.StatusSeeOther, signIn(apptest.Password))

		page := here.read("/panel/cuenta")
		for _, shown := range []string{user.Email, user.Name, "Personal de la tienda", "Operador de prueba", "Tienda A"} {
			require.Contains(t, page.words(), shown)
		}
		const chosen = "otra contraseña larga"
		for name, c := range map[string]struct{ current, chosen, repeated, complaint string }{
			"a wrong one":          {"no es esta", chosen, chosen, "No es su contraseña actual."},
			"not the same twice":   {apptest.Password, chosen, chosen + "!", "No es igual a la contraseña nueva."},
			"one that is too weak": {apptest.Password, "corta", "corta", "Debe tener al menos 8 caracteres."},
			"none":                 {apptest.Password, "", "", "Es obligatorio."},
		} {
			refused := here.post("/panel/cuenta", url.Values{"current": {c.current}, "new": {c.chosen}, "repeat": {c.repeated}})
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status, name)
			require.Contains(t, refused.words(), c.complaint, name)
			require.NotContains(t, refused.Text, chosen, "what was typed is not sent back")
		}
		require.Equal(t, http.StatusOK, elsewhere.get("/panel/cuenta").Status, "nothing has changed yet")

		changed := here.submit("/panel/cuenta", url.Values{"current": {apptest.Password}, "new": {chosen}, "repeat": {chosen}})
		require.Contains(t, changed.words(), "La contraseña cambió. Sus otras sesiones se cerraron.")
		require.Equal(t, http.StatusSeeOther, elsewhere.get("/panel/cuenta").Status, "the other session is over")
		require.Equal(t, http.StatusUnauthorized, signIn(apptest.Password))
		require.Equal(t, http.StatusSeeOther, signIn(chosen))
	})
}

func TestAccount_sharesThePasswordLimitOfTheAPI(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		user := models.User{Admin: true}
		token := tenant.SignInAs(t, &user)
		v := signedOut(t, s)
		require.Equal(t, http.StatusSeeOther, v.post("/panel/ingreso", url.Values{"email": {user.Email}, "password": {apptest.Password}}).Status)
		require.Contains(t, v.read("/panel/cuenta").words(), "Administrador del operador")
		guess := func() *page {
			return v.post("/panel/cuenta", url.Values{"current": {"adivinada"}, "new": {"una nueva larga"}, "repeat": {"una nueva larga"}})
		}
		for range 9 {
			require.Equal(t, http.StatusUnprocessableEntity, guess().Status)
		}
		last := s.Do(t, apptest.Request{
			Method: http.MethodPost, Path: "/panel/api/session/password", Token: token, Body: map[string]any{"current": "adivinada", "new": "una nueva larga"},
		})
		require.Equal(t, http.StatusBadRequest, last.Status, last.Text)
		refused := guess()
		require.Equal(t, http.StatusTooManyRequests, refused.Status)
		require.NotEmpty(t, refused.Header.Get("Retry-After"))
		require.Contains(t, refused.words(), "Espere al siguiente minuto.")
	})
}
