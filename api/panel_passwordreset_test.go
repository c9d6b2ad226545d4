package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/models"
	"despacho/test/apptest"
)

// An administrator starts a reset: the old password and the sessions end, and whoever has the link
// chooses a password, once, within a day.
func TestPanelPasswordReset(t *testing.T) {
	eachWithManualClock(t, func(t *testing.T, s *apptest.Service, clk *clock.Manual) {
		admin, tenant, self := adminDesk(t, s)
		stranger, _, _ := adminDesk(t, s)
		user := &models.User{StoreID: &tenant.StoreA.ID}
		token := tenant.SignInAs(t, user)
		path := "/users/" + user.ID.String() + "/reset"
		start := func() *apptest.Answer {
			t.Helper()
			reset := admin.post(path, nil)
			require.Equal(t, http.StatusCreated, reset.Status, reset.Text)
			require.Equal(t, "no-store", reset.Header.Get("Cache-Control"))
			require.Equal(t, s.BaseURL+"/panel/restablecer?codigo="+reset.String("token"), reset.String("url"))
			return reset
		}
		finish := func(token, password string) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: "POST", Path: "/panel/api/session/reset", Body: fields{"token": token, "new": password}})
		}
		for _, id := range []string{user.ID.String(), uuid.NewString(), "x"} {
			requireRefused(t, stranger.post("/users/"+id+"/reset", nil), http.StatusNotFound, "user_not_found")
		}
		require.Equal(t, http.StatusOK, session(t, s, token).Status)

		replaced := start().String("token")
		requireRefused(t, session(t, s, token), http.StatusUnauthorized, "no_session")
		requireRefused(t, signIn(t, s, user.Email, apptest.Password), http.StatusUnauthorized, "invalid_credentials")
		requireRefused(t, signIn(t, s, user.Email, ""), http.StatusBadRequest, "invalid_fields", "password")
		reset := start().String("token")
		for _, wrong := range []string{replaced, "inventado", reset + "x"} {
			requireRefused(t, finish(wrong, "otra contraseña"), http.StatusNotFound, "reset_not_found")
		}
		requireWrongFields(t, finish("", ""), "token", "new")
		requireWrongFields(t, finish(reset, "corta"), "new")
		requireWrongFields(t, finish(reset, "12345678"), "new")
		require.Equal(t, http.StatusOK, finish(reset, "otra contraseña").Status, "mistakes do not use it up")
		requireRefused(t, finish(reset, "una tercera contraseña"), http.StatusNotFound, "reset_not_found")
		require.Equal(t, http.StatusOK, signIn(t, s, user.Email, "otra contraseña").Status)

		late := start().String("token")
		clk.Advance(24 * time.Hour)
		requireRefused(t, finish(late, "una tercera contraseña"), http.StatusNotFound, "reset_not_found")
		again := desk{t, s, signIn(t, s, self.Email, apptest.Password).String("token")}
		overtaken := again.post(path, nil).String("token")
		require.Equal(t, http.StatusOK, again.post("/users/"+user.ID.String()+"/password", fields{"password": "una tercera contraseña"}).Status)
		requireRefused(t, finish(overtaken, "una cuarta contraseña"), http.StatusNotFound, "reset_not_found")
		inactive := again.post(path, nil).String("token")
		again.change("/users/"+user.ID.String(), fields{"active": false})
		requireRefused(t, finish(inactive, "una cuarta contraseña"), http.StatusNotFound, "reset_not_found")
	})
}

// A link that is used many times at once sets one password.
func TestPanelPasswordReset_isUsedOnce(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		admin, tenant, _ := adminDesk(t, s)
		user := &models.User{}
		tenant.SignInAs(t, user)
		reset := admin.post("/users/"+user.ID.String()+"/reset", nil).String("token")
		statuses := inParallel(t, 8, func(i int) apptest.Request {
			return apptest.Request{Method: "POST", Path: "/panel/api/session/reset", Body: fields{"token": reset, "new": "contraseña número " + uuid.NewString()}}
		}, s)
		require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusNotFound: 7}, statuses)
	})
}
