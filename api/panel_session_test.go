package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

func TestPanelSession_signInReadSignOut(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant, user := s.NewTenant(t), &models.User{}
		first := tenant.SignInAs(t, user)
		signed := signIn(t, s, strings.ToUpper(user.Email), apptest.Password)
		require.Equal(t, http.StatusOK, signed.Status, signed.Text)
		want := map[string]any{
			"id": user.ID.String(), "email": user.Email, "name": user.Name, "role": "operator",
			"operator_id": tenant.Operator.ID.String(), "store_id": nil, "admin": false, "second_factor": false,
			"grants": []any{"counter", "dispatch", "cash", "settings"},
		}
		require.Equal(t, want, signed.Data["user"])
		require.Equal(t, map[string]any{"user": want}, session(t, s, signed.String("token")).Data)

		require.NotEmpty(t, desk{t, s, first}.delete("/session").Message)
		requireRefused(t, session(t, s, first), http.StatusUnauthorized, "no_session")
		require.Equal(t, http.StatusOK, session(t, s, signed.String("token")).Status, "the other session goes on")
		requireRefused(t, session(t, s, ""), http.StatusUnauthorized, "no_session")
		requireRefused(t, session(t, s, "inventado"), http.StatusUnauthorized, "no_session")
	})
}

// Whoever is signed in may choose another password, of either role; the user's other sessions end.
func TestPanelSession_password(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for _, user := range []*models.User{{}, {StoreID: &tenant.StoreA.ID}} {
			here := desk{t, s, tenant.SignInAs(t, user)}
			elsewhere := signIn(t, s, user.Email, apptest.Password).String("token")
			for _, wrong := range []struct {
				body   fields
				fields []string
			}{
				{fields{}, []string{"current", "new"}},
				{fields{"current": "no es esta", "new": "otra contraseña"}, []string{"current"}},
				{fields{"current": apptest.Password, "new": "corta"}, []string{"new"}},
				{fields{"current": apptest.Password, "new": strings.Repeat("ñ", 37)}, []string{"new"}},
			} {
				requireWrongFields(t, here.post("/session/password", wrong.body), wrong.fields...)
			}
			require.Equal(t, http.StatusOK, session(t, s, elsewhere).Status)

			changed := here.post("/session/password", fields{"current": apptest.Password, "new": "otra contraseña"})
			require.Equal(t, http.StatusOK, changed.Status, changed.Text)
			require.Equal(t, http.StatusOK, session(t, s, here.token).Status, "this session goes on")
			requireRefused(t, session(t, s, elsewhere), http.StatusUnauthorized, "no_session")
			requireRefused(t, signIn(t, s, user.Email, apptest.Password), http.StatusUnauthorized, "invalid_credentials")
			require.Equal(t, http.StatusOK, signIn(t, s, user.Email, "otra contraseña").Status)
		}
	})
}

// Ten sign-ins a minute for each e-mail, right or wrong, from whatever address; others are not held
// up. What one address may try is in test/attacks.
func TestPanelSession_signInLimit(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant, user := s.NewTenant(t), &models.User{}
		token, here := tenant.SignInAs(t, user), ownAddress()
		attempt := func(email, password string, address map[string]string) *apptest.Answer {
			return s.Do(t, apptest.Request{
				Method: "POST", Path: "/panel/api/session", Header: address, Body: fields{"email": email, "password": password},
			})
		}
		for range 9 { // the tenth was the sign-in above
			requireRefused(t, attempt(user.Email, "adivinada", here), http.StatusUnauthorized, "invalid_credentials")
		}
		limited := attempt(user.Email, apptest.Password, here)
		requireRefused(t, limited, http.StatusTooManyRequests, "too_many_requests")
		require.Equal(t, "30", limited.Header.Get("Retry-After"))
		requireRefused(t, attempt(strings.ToUpper(user.Email), apptest.Password, here), http.StatusTooManyRequests, "too_many_requests")
		requireRefused(t, attempt(user.Email, apptest.Password, ownAddress()), http.StatusTooManyRequests, "too_many_requests")
		requireRefused(t, attempt(uniqueEmail(), apptest.Password, here), http.StatusUnauthorized, "invalid_credentials")

		for range 10 {
			answer := s.Do(t, apptest.Request{Method: "POST", Path: "/panel/api/session/password", Token: token, Header: here, Body: fields{"current": "adivinada", "new": "otra contraseña"}})
			requireWrongFields(t, answer, "current")
		}
		answer := s.Do(t, apptest.Request{Method: "POST", Path: "/panel/api/session/password", Token: token, Header: here, Body: fields{"current": apptest.Password, "new": "otra contraseña"}})
		requireRefused(t, answer, http.StatusTooManyRequests, "too_many_requests")
	})
}

// A cookie is good for our own pages alone: another site's writes are refused. A Bearer token no
// browser sends by itself.
func TestPanelSession_otherSites(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant, user := s.NewTenant(t), &models.User{}
		token := tenant.SignInAs(t, user)
		cookie := signIn(t, s, user.Email, apptest.Password).Header.Get("Set-Cookie")
		for _, attribute := range []string{"HttpOnly", "SameSite=Lax", "Path=/panel"} {
			require.Contains(t, cookie, attribute)
		}
		cookie, _, _ = strings.Cut(cookie, ";")
		write := func(header map[string]string, bearer string) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: "POST", Path: "/panel/api/stores", Token: bearer, Header: header, Body: fields{"name": "Nueva " + uuid.NewString()}})
		}
		for _, foreign := range []map[string]string{
			{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://otro.example"}, {"Origin": "null"},
		} {
			require.Equal(t, http.StatusCreated, write(foreign, token).Status, "%v", foreign)
			signed := s.Do(t, apptest.Request{Method: "POST", Path: "/panel/api/session", Header: foreign, Body: fields{"email": user.Email, "password": apptest.Password}})
			requireRefused(t, signed, http.StatusForbidden, "cross_site_request")
			foreign["Cookie"] = cookie
			requireRefused(t, write(foreign, ""), http.StatusForbidden, "cross_site_request")
		}
		for _, own := range []map[string]string{{"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Origin": s.BaseURL}, {}} {
			own["Cookie"] = cookie
			require.Equal(t, http.StatusCreated, write(own, "").Status, "%v", own)
		}
		read := s.Do(t, apptest.Request{Method: "GET", Path: "/panel/api/session", Header: map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "cross-site"}})
		require.Equal(t, http.StatusOK, read.Status, "following a link to the panel is no attack")
	})
}
