package attacks

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// Another site cannot make a signed-in user's browser do anything: neither by a form nor by a
// script.
func TestForgery_fromAnotherSite(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		cookie := "despacho_session=" + tenant.SignInAs(t, &models.User{Admin: true}) + "; " + riderCookie + "=" + tenant.ActivatePhone(t, tenant.Riders[0].ID)
		tried := 0
		for _, route := range routes(t) {
			if route.Method == http.MethodGet || !strings.HasPrefix(route.Path, "/panel") && !isOfRiders(route.Path) {
				continue
			}
			for name, headers := range map[string]map[string]string{
				"a browser of today":     {"Sec-Fetch-Site": "cross-site", "Origin": "https://malo.example"},
				"a neighbouring domain":  {"Sec-Fetch-Site": "same-site", "Origin": "https://otra.despacho.example"},
				"an older browser":       {"Origin": "https://malo.example"},
				"a frame without origin": {"Origin": "null"},
				"a form of plain text":   {"Origin": "https://malo.example", "Content-Type": "text/plain"},
			} {
				request, err := http.NewRequestWithContext(t.Context(), route.Method, s.BaseURL+strings.ReplaceAll(route.Path, ":id", uuid.NewString()), strings.NewReader("name=x"))
				require.NoError(t, err)
				request.Header.Set("Cookie", cookie)
				request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				for header, value := range headers {
					request.Header.Set(header, value)
				}
				response, err := noRedirects.Do(request)
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				require.Equal(t, http.StatusForbidden, response.StatusCode, "%s: %s %s", name, route.Method, route.Path)
				require.Empty(t, response.Header.Get("Set-Cookie"), "%s: %s %s", name, route.Method, route.Path)
				tried++
			}
		}
		require.Greater(t, tried, 150)
	})
}

// A session token is never one that the client presented, and ends with the sign-out.
func TestSession_isNeverChosenByTheVisitor(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		user := models.User{}
		tenant.SignInAs(t, &user)
		planted := strings.Repeat("A", 43)
		signIn := func() *apptest.Answer {
			return s.Do(t, apptest.Request{
				Method: http.MethodPost, Path: "/panel/api/session", Body: map[string]any{"email": user.Email, "password": apptest.Password},
				Header: map[string]string{"Cookie": "despacho_session=" + planted},
			})
		}
		first, second := signIn(), signIn()
		for _, answer := range []*apptest.Answer{first, second} {
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
			require.NotEqual(t, planted, answer.String("token"))
			cookie := answer.Header.Get("Set-Cookie")
			require.Contains(t, cookie, "HttpOnly")
			require.Contains(t, cookie, "SameSite=Lax")
			require.Contains(t, cookie, "Path=/panel")
		}
		require.NotEqual(t, first.String("token"), second.String("token"))
		current := func(token string) int {
			return s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/panel/api/session", Token: token}).Status
		}
		require.Equal(t, http.StatusUnauthorized, current(planted), "the planted one opens nothing afterwards")
		require.Equal(t, http.StatusOK, s.Do(t, apptest.Request{Method: http.MethodDelete, Path: "/panel/api/session", Token: first.String("token")}).Status)
		require.Equal(t, http.StatusUnauthorized, current(first.String("token")))
		require.Equal(t, http.StatusOK, current(second.String("token")))
	})
}
