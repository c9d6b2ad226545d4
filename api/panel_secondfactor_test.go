package api_test

import (
	"encoding/base32"
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
	"despacho/test/dbtest"
	"despacho/test/testenv"
)

// authenticator is the application that shows a user's codes.
type authenticator struct {
	secret []byte
	clock  *clock.Manual
}

func newAuthenticator(t *testing.T, secret string, clk *clock.Manual) *authenticator {
	t.Helper()
	decoded, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	require.NoError(t, err)
	return &authenticator{decoded, clk}
}

// code is what the application shows after so many steps.
func (a *authenticator) code(steps int64) string {
	return totp.Code(a.secret, totp.Step(a.clock.Now())+steps)
}

func signInWith(t *testing.T, s *apptest.Service, email, password, code string) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: "POST", Path: "/panel/api/session", Body: fields{"email": email, "password": password, "code": code}})
}

// enrol sets up a second factor and returns the application and the recovery codes.
func enrol(t *testing.T, s *apptest.Service, token string, clk *clock.Manual) (*authenticator, []string) {
	t.Helper()
	d := desk{t, s, token}
	started := d.post("/session/second-factor", fields{"password": apptest.Password})
	require.Equal(t, http.StatusCreated, started.Status, started.Text)
	require.Equal(t, "no-store", started.Header.Get("Cache-Control"))
	require.Contains(t, started.String("uri"), "secret="+started.String("secret"))
	app := newAuthenticator(t, started.String("secret"), clk)
	confirmed := d.post("/session/second-factor/confirm", fields{"code": app.code(0)})
	require.Equal(t, http.StatusOK, confirmed.Status, confirmed.Text)
	require.Equal(t, "no-store", confirmed.Header.Get("Cache-Control"))
	var codes []string
	for _, code := range confirmed.Data["recovery_codes"].([]any) {
		codes = append(codes, code.(string))
	}
	require.Len(t, codes, 10)
	return app, codes
}

// eachWithManualClock runs a test on services of its own whose clock the test moves.
func eachWithManualClock(t *testing.T, run func(t *testing.T, s *apptest.Service, clk *clock.Manual)) {
	t.Helper()
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		clk := clock.NewManual(apptest.FrozenAt)
		run(t, apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Clock: clk}), clk)
	})
}

// From the first code to the last recovery code: every one is good once, and the limit of sign-in
// counts wrong ones.
func TestPanelSecondFactor_life(t *testing.T) {
	eachWithManualClock(t, func(t *testing.T, s *apptest.Service, clk *clock.Manual) {
		tenant, user := s.NewTenant(t), &models.User{}
		here := desk{t, s, tenant.SignInAs(t, user)}
		elsewhere := signIn(t, s, user.Email, apptest.Password).String("token")

		requireRefused(t, here.post("/session/second-factor/confirm", fields{"code": "123456"}), http.StatusConflict, "no_second_factor")
		requireRefused(t, here.post("/session/second-factor/remove", fields{"password": apptest.Password, "code": "123456"}), http.StatusConflict, "no_second_factor")
		requireWrongFields(t, here.post("/session/second-factor", fields{"password": "adivinada"}), "password")
		unconfirmed := here.post("/session/second-factor", fields{"password": apptest.Password})
		requireWrongFields(t, here.post("/session/second-factor/confirm", fields{"code": "000000"}), "code")
		require.Equal(t, http.StatusOK, signIn(t, s, user.Email, apptest.Password).Status, "it does not count yet")
		clk.Advance(time.Minute)

		app, recovery := enrol(t, s, here.token, clk)
		require.NotEqual(t, unconfirmed.String("secret"), base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(app.secret))
		requireRefused(t, session(t, s, elsewhere), http.StatusUnauthorized, "no_session")
		require.Equal(t, true, session(t, s, here.token).Data["user"].(map[string]any)["second_factor"])
		requireRefused(t, here.post("/session/second-factor", fields{"password": apptest.Password}), http.StatusConflict, "second_factor_active")

		// Nothing in the database shows the secret or a recovery code.
		stored := dbtest.Row[models.User](t, s.App.DB, "id = ?", user.ID)
		require.NotContains(t, string(stored.TOTPSecret), string(app.secret))

		clk.Advance(time.Minute)
		requireRefused(t, signInWith(t, s, user.Email, apptest.Password, ""), http.StatusUnauthorized, "second_factor_needed")
		requireRefused(t, signInWith(t, s, user.Email, "adivinada", app.code(0)), http.StatusUnauthorized, "invalid_credentials")
		for _, wrong := range []string{"000000", "12345", "1234567", app.code(2), app.code(-2), "AAAA-BBBB-CCCC-DDDD"} {
			requireRefused(t, signInWith(t, s, user.Email, apptest.Password, wrong), http.StatusUnauthorized, "invalid_second_factor")
		}
		late := app.code(-1)
		require.Equal(t, http.StatusOK, signInWith(t, s, user.Email, apptest.Password, late[:3]+" "+late[3:]).Status, "a clock may be behind, and people type spaces")
		requireRefused(t, signInWith(t, s, user.Email, apptest.Password, late), http.StatusUnauthorized, "invalid_second_factor")
		requireRefused(t, signInWith(t, s, user.Email, apptest.Password, app.code(0)), http.StatusTooManyRequests, "too_many_requests")
		clk.Advance(time.Minute)
		require.Equal(t, http.StatusOK, signInWith(t, s, user.Email, apptest.Password, app.code(1)).Status)
		requireRefused(t, signInWith(t, s, user.Email, apptest.Password, app.code(0)), http.StatusUnauthorized, "invalid_second_factor")

		clk.Advance(time.Minute)
		require.Equal(t, http.StatusOK, signInWith(t, s, user.Email, apptest.Password, strings.ToLower(recovery[3])).Status)
		requireRefused(t, signInWith(t, s, user.Email, apptest.Password, recovery[3]), http.StatusUnauthorized, "invalid_second_factor")

		requireWrongFields(t, here.post("/session/second-factor/remove", fields{"password": "adivinada", "code": app.code(0)}), "password")
		requireWrongFields(t, here.post("/session/second-factor/remove", fields{"password": apptest.Password, "code": "000000"}), "code")
		removed := here.post("/session/second-factor/remove", fields{"password": apptest.Password, "code": recovery[4]})
		require.Equal(t, http.StatusOK, removed.Status, removed.Text)
		require.Equal(t, http.StatusOK, signInWith(t, s, user.Email, apptest.Password, "").Status)
		again, others := enrol(t, s, here.token, clk)
		clk.Advance(time.Minute)
		requireRefused(t, signInWith(t, s, user.Email, apptest.Password, recovery[5]), http.StatusUnauthorized, "invalid_second_factor")
		requireRefused(t, signInWith(t, s, user.Email, apptest.Password, app.code(0)), http.StatusUnauthorized, "invalid_second_factor")
		require.Equal(t, http.StatusOK, signInWith(t, s, user.Email, apptest.Password, again.code(0)).Status)
		require.Equal(t, http.StatusOK, signInWith(t, s, user.Email, apptest.Password, others[0]).Status)
	})
}

// One code that arrives many times at once opens one session.
func TestPanelSecondFactor_aCodeIsUsedOnce(t *testing.T) {
	eachWithManualClock(t, func(t *testing.T, s *apptest.Service, clk *clock.Manual) {
		tenant, user := s.NewTenant(t), &models.User{}
		app, recovery := enrol(t, s, tenant.SignInAs(t, user), clk)
		for _, code := range []string{app.code(1), recovery[0]} {
			clk.Advance(30 * time.Second) // into the next minute, where the attempts count anew; the code is of this step
			statuses := inParallel(t, 8, func(int) apptest.Request {
				return apptest.Request{Method: "POST", Path: "/panel/api/session", Body: fields{"email": user.Email, "password": apptest.Password, "code": code}}
			}, s)
			require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusUnauthorized: 7}, statuses)
			clk.Advance(30 * time.Second)
		}
	})
}

// Where the operator requires it, an administrator without a second factor reaches nothing but the
// own account. Only administrators decide that.
func TestPanelSecondFactor_required(t *testing.T) {
	eachWithManualClock(t, func(t *testing.T, s *apptest.Service, clk *clock.Manual) {
		admin, tenant, _ := adminDesk(t, s)
		staff, seller := desk{t, s, tenant.SignIn(t, nil)}, desk{t, s, tenant.SignIn(t, &tenant.StoreA)}
		requireRefused(t, staff.patch("/settings", fields{"require_second_factor": false}), http.StatusForbidden, "role_not_allowed")
		require.Equal(t, true, admin.change("/settings", fields{"require_second_factor": true})["require_second_factor"])
		for _, route := range panelRoutes(t) {
			if strings.Contains(route, " /session") {
				continue
			}
			requireRefused(t, callPanel(t, s, admin.token, route), http.StatusForbidden, "second_factor_required")
		}
		require.Equal(t, http.StatusOK, session(t, s, admin.token).Status)
		require.Len(t, staff.list("/stores"), 2, "it is required of administrators")
		require.Equal(t, http.StatusOK, seller.send(http.MethodGet, "/orders", nil).Status)
		enrol(t, s, admin.token, clk)
		require.NotEmpty(t, admin.list("/users"))
	})
}

// A stolen session of an administrator is not enough to take the account over: the own password and
// second factor are changed with the password.
func TestPanelSecondFactor_notOfOneself(t *testing.T) {
	eachWithManualClock(t, func(t *testing.T, s *apptest.Service, clk *clock.Manual) {
		admin, _, self := adminDesk(t, s)
		enrol(t, s, admin.token, clk)
		path := "/users/" + self.ID.String()
		requireRefused(t, admin.delete(path+"/second-factor"), http.StatusForbidden, "own_account")
		requireRefused(t, admin.post(path+"/password", fields{"password": "otra contraseña"}), http.StatusForbidden, "own_account")
		requireRefused(t, admin.post(path+"/reset", nil), http.StatusForbidden, "own_account")
		requireRefused(t, signInWith(t, s, self.Email, apptest.Password, ""), http.StatusUnauthorized, "second_factor_needed")
	})
}

// An administrator removes the second factor of a colleague who lost it; those of other operators
// are not there.
func TestPanelSecondFactor_reset(t *testing.T) {
	eachWithManualClock(t, func(t *testing.T, s *apptest.Service, clk *clock.Manual) {
		admin, tenant, _ := adminDesk(t, s)
		stranger, _, _ := adminDesk(t, s)
		user := &models.User{}
		token := tenant.SignInAs(t, user)
		enrol(t, s, token, clk)
		path := "/users/" + user.ID.String()
		require.Equal(t, true, admin.find("/users", user.ID.String())["second_factor"])
		for _, id := range []string{user.ID.String(), uuid.NewString(), "x"} {
			requireRefused(t, stranger.delete("/users/"+id+"/second-factor"), http.StatusNotFound, "user_not_found")
		}
		requireRefused(t, signInWith(t, s, user.Email, apptest.Password, ""), http.StatusUnauthorized, "second_factor_needed")
		require.Equal(t, http.StatusOK, admin.delete(path+"/second-factor").Status)
		requireRefused(t, session(t, s, token), http.StatusUnauthorized, "no_session")
		require.Equal(t, http.StatusOK, signInWith(t, s, user.Email, apptest.Password, "").Status)
	})
}

// A second factor stays good while SECRET_KEY is replaced: with both keys, after the re-encryption,
// and with the new key alone.
func TestPanelSecondFactor_secretKeyIsReplaced(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		const newKey = "otra-clave-otra-clave-otra-clave-"
		clk, oldKey := clock.NewManual(apptest.FrozenAt), ""
		boot := func(configure func(*config.Config)) *apptest.Service {
			return apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Clock: clk, Configure: configure})
		}
		first := boot(func(c *config.Config) { oldKey = c.SecretKey })
		user := &models.User{}
		app, _ := enrol(t, first, first.NewTenant(t).SignInAs(t, user), clk)
		requireSignedIn := func(s *apptest.Service) {
			t.Helper()
			clk.Advance(time.Minute)
			answer := signInWith(t, s, user.Email, apptest.Password, app.code(0))
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		}
		both := boot(func(c *config.Config) { c.SecretKey, c.SecretKeyOld = newKey, []string{oldKey} })
		requireSignedIn(both)
		changed, err := both.App.ReencryptSecrets(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, changed)
		changed, err = both.App.ReencryptSecrets(t.Context())
		require.NoError(t, err)
		require.Zero(t, changed, "it is done")
		requireSignedIn(boot(func(c *config.Config) { c.SecretKey = newKey }))
	})
}
