package attacks

import (
	"encoding/base32"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/totp"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// eachWithSignInLimits runs a test with the limits of the running service, on a clock that stands
// still, behind a trusted proxy.
func eachWithSignInLimits(t *testing.T, run func(t *testing.T, s *apptest.Service)) {
	t.Helper()
	apptest.EachOwn(t, apptest.Options{NoWorker: true, Clock: clock.NewManual(apptest.FrozenAt), Configure: func(c *config.Config) {
		c.Limits, c.TrustedProxies = config.DefaultLimits(), []string{"127.0.0.1"}
	}}, run)
}

func guess(t *testing.T, s *apptest.Service, email, password string, header map[string]string) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{
		Method: http.MethodPost, Path: "/panel/api/session", Body: map[string]any{"email": email, "password": password}, Header: header,
	})
}

// One address tries many e-mails, by whatever name it calls itself: 30 a minute are tried.
func TestGuessing_manyAccountsFromOneAddress(t *testing.T) {
	eachWithSignInLimits(t, func(t *testing.T, s *apptest.Service) {
		for name, header := range map[string]func(i int) map[string]string{
			"an IPv4 address": func(int) map[string]string { return map[string]string{"X-Forwarded-For": "198.51.100.7"} },
			"an IPv4 address written as IPv6": func(int) map[string]string {
				return map[string]string{"X-Forwarded-For": "::ffff:198.51.100.8"}
			},
			"an IPv6 network": func(i int) map[string]string {
				return map[string]string{"X-Forwarded-For": fmt.Sprintf("2001:db8:1:2:%x::%x", i, i+1)}
			},
			"headers that a client may send": func(i int) map[string]string {
				return map[string]string{"X-Forwarded-For": "no es una dirección", "X-Real-IP": fmt.Sprintf("198.51.100.%d", i), "Forwarded": fmt.Sprintf("for=198.51.100.%d", i)}
			},
			"addresses in front of the proxy's": func(i int) map[string]string {
				return map[string]string{"X-Forwarded-For": fmt.Sprintf("198.51.100.%d, 203.0.113.9", i)}
			},
		} {
			statuses := map[int]int{}
			for i := range 150 {
				statuses[guess(t, s, uuid.NewString()+"@prueba.example", "una contraseña cualquiera", header(i)).Status]++
			}
			require.Equal(t, map[int]int{http.StatusUnauthorized: 30, http.StatusTooManyRequests: 120}, statuses, name)
		}
	})
}

// One site has many IPv6 networks: together they try as much as ten of them may. Another site's
// people sign in meanwhile.
func TestGuessing_manyNetworksOfOneSite(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true, Clock: clock.NewManual(apptest.FrozenAt), Configure: func(c *config.Config) {
		c.Limits, c.TrustedProxies = config.DefaultLimits(), []string{"127.0.0.1"}
		c.Limits.SignInsPerAddress = 2
	}}, func(t *testing.T, s *apptest.Service) {
		statuses := map[int]int{}
		for i := range 60 {
			header := map[string]string{"X-Forwarded-For": fmt.Sprintf("2001:db8:1:%x::1", i)}
			statuses[guess(t, s, uuid.NewString()+"@prueba.example", "una contraseña cualquiera", header).Status]++
		}
		require.Equal(t, map[int]int{http.StatusUnauthorized: 20, http.StatusTooManyRequests: 40}, statuses)
		user := &models.User{}
		s.NewTenant(t).SignInAs(t, user)
		other := guess(t, s, user.Email, apptest.Password, map[string]string{"X-Forwarded-For": "2001:db8:2::1"})
		require.Equal(t, http.StatusOK, other.Status, other.Text)
	})
}

// Whoever knows the password tries 50 codes of the second factor in a day. Its user gets in with a
// recovery code meanwhile.
func TestGuessing_codesOfASecondFactor(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		clk := clock.NewManual(apptest.FrozenAt)
		s := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Clock: clk})
		user := &models.User{}
		token := s.NewTenant(t).SignInAs(t, user)
		send := func(path string, body map[string]any) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/session" + path, Token: token, Body: body})
		}
		secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(
			send("/second-factor", map[string]any{"password": apptest.Password}).String("secret"))
		require.NoError(t, err)
		right := func() string { return totp.Code(secret, totp.Step(clk.Now())) }
		confirmed := send("/second-factor/confirm", map[string]any{"code": right()})
		require.Equal(t, http.StatusOK, confirmed.Status, confirmed.Text)
		signIn := func(password, code string) *apptest.Answer {
			return send("", map[string]any{"email": user.Email, "password": password, "code": code})
		}
		wrong := func() string { // of none of the three steps
			for code := 0; ; code++ {
				if _, matches := totp.Match(secret, fmt.Sprintf("%06d", code), clk.Now()); !matches {
					return fmt.Sprintf("%06d", code)
				}
			}
		}
		require.Equal(t, "invalid_credentials", signIn("adivinada", wrong()).Code, "it does not count")
		clk.Advance(time.Minute)
		for i := range 50 {
			require.Equal(t, "invalid_second_factor", signIn(apptest.Password, wrong()).Code, i)
			if i%10 == 9 {
				clk.Advance(time.Minute)
			}
		}
		refused := signIn(apptest.Password, right())
		require.Equal(t, http.StatusTooManyRequests, refused.Status, refused.Text)
		require.Contains(t, refused.Error, "código de recuperación")
		recovery := confirmed.Data["recovery_codes"].([]any)[0].(string)
		require.Equal(t, http.StatusOK, signIn(apptest.Password, recovery).Status)
		clk.Advance(24 * time.Hour)
		require.Equal(t, http.StatusOK, signIn(apptest.Password, right()).Status)
	})
}

// Many addresses try one account: 10 a minute are tried. Its user is not kept out in a browser that
// signed in before.
func TestGuessing_oneAccountFromManyAddresses(t *testing.T) {
	eachWithSignInLimits(t, func(t *testing.T, s *apptest.Service) {
		tenant, user := s.NewTenant(t), &models.User{}
		tenant.SignInAs(t, user)
		address := 0
		elsewhere := func() map[string]string {
			address++
			return map[string]string{"X-Forwarded-For": fmt.Sprintf("203.0.%d.%d", address/250, address%250+1)}
		}
		known := guess(t, s, user.Email, apptest.Password, elsewhere())
		require.Equal(t, http.StatusOK, known.Status, known.Text)
		var device string
		for _, cookie := range known.Header.Values("Set-Cookie") {
			if strings.HasPrefix(cookie, "despacho_device=") {
				require.Contains(t, cookie, "HttpOnly")
				device, _, _ = strings.Cut(cookie, ";")
			}
		}
		require.NotEmpty(t, device)

		statuses := map[int]int{}
		for range 60 {
			statuses[guess(t, s, strings.ToUpper(user.Email), "adivinada", elsewhere()).Status]++
		}
		require.Equal(t, map[int]int{http.StatusUnauthorized: 8, http.StatusTooManyRequests: 52}, statuses, "two of the ten were the user's own")
		limited := guess(t, s, user.Email, apptest.Password, elsewhere())
		require.Equal(t, http.StatusTooManyRequests, limited.Status)
		require.Equal(t, "30", limited.Header.Get("Retry-After"))

		withDevice := elsewhere()
		withDevice["Cookie"] = device
		require.Equal(t, http.StatusOK, guess(t, s, user.Email, apptest.Password, withDevice).Status, "the user's own browser")
		for range 9 {
			require.Equal(t, http.StatusUnauthorized, guess(t, s, user.Email, "adivinada", withDevice).Status)
		}
		require.Equal(t, http.StatusTooManyRequests, guess(t, s, user.Email, "adivinada", withDevice).Status, "which has a limit of its own")

		other := &models.User{}
		otherAddress := elsewhere()
		tenant.SignInAs(t, other)
		for range 9 {
			guess(t, s, other.Email, "adivinada", otherAddress)
		}
		otherAddress["Cookie"] = device
		require.Equal(t, http.StatusTooManyRequests, guess(t, s, other.Email, apptest.Password, otherAddress).Status, "a device is one user's")
	})
}

// Nobody can choose a password that is guessed first, wherever passwords are chosen.
func TestGuessing_commonPasswords(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t, func(o *models.Operator) { o.Name = "Rayo Envíos" })
		colleague := &models.User{}
		tenant.SignInAs(t, colleague)
		token := tenant.SignInAs(t, &models.User{Admin: true})
		send := func(path string, body map[string]any) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api" + path, Token: token, Body: body})
		}
		for _, weak := range []string{"12345678", "Contraseña1", "P@ssw0rd2026", "rayo envios", "RayoEnvios26"} {
			for name, answer := range map[string]*apptest.Answer{
				"own":         send("/session/password", map[string]any{"current": apptest.Password, "new": weak}),
				"new":         send("/users", map[string]any{"name": "Ana", "email": uuid.NewString() + "@prueba.example", "role": "operator", "password": weak}),
				"colleague's": send("/users/"+colleague.ID.String()+"/password", map[string]any{"password": weak}),
			} {
				require.Equal(t, http.StatusBadRequest, answer.Status, "%s: %s", name, weak)
				require.Contains(t, answer.Error, "fácil de adivinar", "%s: %s", name, weak)
			}
		}
		own := uuid.NewString()
		refused := send("/users", map[string]any{"name": "Ana", "email": own + "@prueba.example", "role": "operator", "password": strings.ToUpper(own)})
		require.Equal(t, []string{"password"}, refused.Fields, refused.Text)
	})
}

// The signed-in people of one operator have 60 passwords hashed in a minute, whatever for; another
// operator's people sign in meanwhile.
func TestPasswords_ofOneOperator(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true, Clock: clock.NewManual(apptest.FrozenAt)}, func(t *testing.T, s *apptest.Service) {
		tenant, other := s.NewTenant(t), &models.User{}
		token := tenant.SignInAs(t, &models.User{Admin: true})
		taken := &models.User{}
		tenant.SignInAs(t, taken)
		statuses := map[int]int{}
		for range 70 {
			statuses[s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/users", Token: token, Body: map[string]any{
				"email": taken.Email, "name": "Otra persona", "role": "operator",
			}}).Status]++
		}
		require.Equal(t, map[int]int{http.StatusConflict: 60, http.StatusTooManyRequests: 10}, statuses)
		s.NewTenant(t).SignInAs(t, other)
		require.Equal(t, http.StatusOK, guess(t, s, other.Email, apptest.Password, nil).Status)
	})
}
