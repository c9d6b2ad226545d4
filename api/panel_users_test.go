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

// adminDesk signs the only administrator of a new tenant in.
func adminDesk(t *testing.T, s *apptest.Service) (desk, *apptest.Tenant, *models.User) {
	t.Helper()
	tenant, user := s.NewTenant(t), &models.User{Admin: true}
	return desk{t, s, tenant.SignInAs(t, user)}, tenant, user
}

func signIn(t *testing.T, s *apptest.Service, email, password string) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: "POST", Path: "/panel/api/session", Body: fields{"email": email, "password": password}})
}

// session asks who is signed in with a token.
func session(t *testing.T, s *apptest.Service, token string) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: "GET", Path: "/panel/api/session", Token: token})
}

func uniqueEmail() string { return uuid.NewString() + "@prueba.example" }

func TestPanelUsers_bothRoles(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		admin, tenant, _ := adminDesk(t, s)
		email := uniqueEmail()
		seller := admin.post("/users", fields{"email": " " + strings.ToUpper(email) + " ", "name": "Luz Ramos", "role": "store", "store_id": tenant.StoreA.ID})
		require.Equal(t, http.StatusCreated, seller.Status, seller.Text)
		require.Equal(t, "no-store", seller.Header.Get("Cache-Control"))
		require.Equal(t, []any{email, "store", tenant.StoreA.ID.String(), false, true},
			[]any{seller.Data["email"], seller.Data["role"], seller.Data["store_id"], seller.Data["admin"], seller.Data["active"]})
		require.GreaterOrEqual(t, len(seller.String("password")), 20, "a generated password cannot be guessed")

		signed := signIn(t, s, email, seller.String("password"))
		require.Equal(t, http.StatusOK, signed.Status, signed.Text)
		user := session(t, s, signed.String("token")).Data["user"].(map[string]any)
		require.Equal(t, []any{seller.Data["id"], "store", tenant.Operator.ID.String()}, []any{user["id"], user["role"], user["operator_id"]})

		given := admin.post("/users", fields{"email": uniqueEmail(), "name": "Ana", "role": "operator", "admin": true, "password": "  dos espacios  "})
		require.NotContains(t, given.Data, "password", "whoever gave it knows it")
		require.Equal(t, http.StatusOK, signIn(t, s, given.String("email"), "  dos espacios  ").Status)
		require.Equal(t, http.StatusUnauthorized, signIn(t, s, given.String("email"), "dos espacios").Status, "spaces are part of a password")

		listed := admin.list("/users")
		require.Equal(t, []any{"Ana", "Luz Ramos", "Persona de prueba"}, column(listed, "name"))
		for _, user := range listed {
			require.NotContains(t, user, "password")
			require.NotContains(t, user, "password_hash")
		}
	})
}

func TestPanelUsers_refuses(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		admin, tenant, self := adminDesk(t, s)
		stranger, other, _ := adminDesk(t, s)
		closed := admin.make("/stores", fields{"name": "Cerrada", "active": false})
		before := admin.list("/users")
		for name, c := range map[string]struct {
			change fields
			wrong  []string
		}{
			"no role":             {fields{"role": nil}, []string{"role"}},
			"unknown role":        {fields{"role": "root"}, []string{"role"}},
			"no e-mail":           {fields{"email": "ana"}, []string{"email"}},
			"blank e-mail":        {fields{"email": " "}, []string{"email"}},
			"no name":             {fields{"name": ""}, []string{"name"}},
			"short password":      {fields{"password": "corta"}, []string{"password"}},
			"long password":       {fields{"password": strings.Repeat("x", 73)}, []string{"password"}},
			"number as password":  {fields{"password": 12345678}, []string{"password"}},
			"operator's of store": {fields{"store_id": tenant.StoreA.ID}, []string{"store_id"}},
			"store's of nothing":  {fields{"role": "store"}, []string{"store_id"}},
			"of a closed store":   {fields{"role": "store", "store_id": closed}, []string{"store_id"}},
			"of another's store":  {fields{"role": "store", "store_id": other.StoreA.ID}, []string{"store_id"}},
			"store's admin":       {fields{"role": "store", "store_id": tenant.StoreA.ID, "admin": true}, []string{"admin"}},
			"all at once":         {fields{"email": 1, "name": 1, "role": 1, "admin": 1, "password": "x"}, []string{"email", "name", "role", "admin", "password"}},
		} {
			t.Run(name, func(t *testing.T) {
				body := fields{"email": uniqueEmail(), "name": "Ana", "role": "operator"}
				for field, value := range c.change {
					body[field] = value
				}
				requireWrongFields(t, admin.post("/users", body), c.wrong...)
			})
		}
		taken := stranger.post("/users", fields{"email": uniqueEmail(), "name": "Ajeno", "role": "operator"})
		for email, code := range map[string]string{self.Email: "email_taken", strings.ToUpper(taken.String("email")): "email_unavailable"} {
			requireRefused(t, admin.post("/users", fields{"email": email, "name": "Ana", "role": "operator"}), http.StatusConflict, code)
		}
		requireRefused(t, admin.patch("/users/"+self.ID.String(), fields{"email": taken.String("email")}), http.StatusConflict, "email_unavailable")
		require.Equal(t, before, admin.list("/users"))
		admin.requireUnknown(http.MethodPatch, "/users", taken.String("id"), "user_not_found")
		for _, id := range []string{taken.String("id"), uuid.NewString(), "x"} {
			requireRefused(t, admin.post("/users/"+id+"/password", nil), http.StatusNotFound, "user_not_found")
		}
		require.Equal(t, http.StatusOK, signIn(t, s, taken.String("email"), taken.String("password")).Status)
	})
}

// A deactivated user cannot sign in, its sessions end at once, and they stay ended when it comes
// back.
func TestPanelUsers_deactivation(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		admin, tenant, _ := adminDesk(t, s)
		user := &models.User{StoreID: &tenant.StoreA.ID}
		token, path := tenant.SignInAs(t, user), "/users/"+user.ID.String()
		require.Equal(t, http.StatusOK, session(t, s, token).Status)

		require.Equal(t, false, admin.change(path, fields{"active": false})["active"])
		requireRefused(t, session(t, s, token), http.StatusUnauthorized, "no_session")
		requireRefused(t, signIn(t, s, user.Email, apptest.Password), http.StatusUnauthorized, "invalid_credentials")
		admin.change(path, fields{"active": true})
		requireRefused(t, session(t, s, token), http.StatusUnauthorized, "no_session")
		require.Equal(t, http.StatusOK, signIn(t, s, user.Email, apptest.Password).Status)
	})
}

func TestPanelUsers_change(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		admin, tenant, _ := adminDesk(t, s)
		user := &models.User{StoreID: &tenant.StoreA.ID}
		token, path, email := tenant.SignInAs(t, user), "/users/"+user.ID.String(), uniqueEmail()
		changed := admin.change(path, fields{"name": "Luz", "email": email, "store_id": tenant.StoreB.ID})
		require.Equal(t, []any{"Luz", email, tenant.StoreB.ID.String(), "store"}, []any{changed["name"], changed["email"], changed["store_id"], changed["role"]})
		require.Equal(t, tenant.StoreB.ID.String(), session(t, s, token).Data["user"].(map[string]any)["store_id"], "it counts at once")
		requireWrongFields(t, admin.patch(path, fields{"store_id": nil}), "store_id")

		changed = admin.change(path, fields{"role": "operator"})
		require.Equal(t, []any{"operator", nil}, []any{changed["role"], changed["store_id"]})
		requireWrongFields(t, admin.patch(path, fields{"role": "store"}), "store_id")
		require.Equal(t, http.StatusOK, desk{t, s, token}.send(http.MethodGet, "/stores", nil).Status)
		admin.change("/stores/"+tenant.StoreB.ID.String(), fields{"active": false})
		requireWrongFields(t, admin.patch(path, fields{"role": "store", "store_id": tenant.StoreB.ID}), "store_id")
	})
}

// An operator cannot lock itself out of its users, not even when two administrators dismiss each
// other at the same moment.
func TestPanelUsers_lastAdmin(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		admin, tenant, self := adminDesk(t, s)
		path := "/users/" + self.ID.String()
		for _, refused := range []fields{{"admin": false}, {"active": false}, {"role": "store", "store_id": tenant.StoreA.ID, "admin": false}} {
			requireRefused(t, admin.patch(path, refused), http.StatusConflict, "last_admin")
		}
		second := &models.User{Admin: true}
		tokens, ids := []string{admin.token, tenant.SignInAs(t, second)}, []string{second.ID.String(), self.ID.String()}
		statuses := inParallel(t, 2, func(i int) apptest.Request {
			return apptest.Request{Method: "PATCH", Path: "/panel/api/users/" + ids[i], Token: tokens[i], Body: fields{"admin": false}}
		}, s)
		require.Equal(t, 1, statuses[http.StatusOK], "%v", statuses)
		var admins int
		users := apptest.RowsOf[models.User](t, tenant)
		for _, user := range users {
			if user.Administers() {
				admins++
			}
		}
		require.Equal(t, 1, admins)
	})
}

// A reset ends the user's sessions and returns the generated password, this once.
func TestPanelUsers_resetPassword(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		admin, tenant, _ := adminDesk(t, s)
		user := &models.User{}
		token, path := tenant.SignInAs(t, user), "/users/"+user.ID.String()+"/password"
		reset := admin.post(path, nil)
		require.Equal(t, http.StatusOK, reset.Status, reset.Text)
		require.Equal(t, "no-store", reset.Header.Get("Cache-Control"))
		requireRefused(t, session(t, s, token), http.StatusUnauthorized, "no_session")
		requireRefused(t, signIn(t, s, user.Email, apptest.Password), http.StatusUnauthorized, "invalid_credentials")
		require.Equal(t, http.StatusOK, signIn(t, s, user.Email, reset.String("password")).Status)

		given := admin.post(path, fields{"password": "otra contraseña"})
		require.Nil(t, given.Data)
		require.NotEmpty(t, given.Message)
		require.Equal(t, http.StatusOK, signIn(t, s, user.Email, "otra contraseña").Status)
		requireWrongFields(t, admin.post(path, fields{"password": "corta"}), "password")
	})
}

// Administrators who change a user do not bring an old password back.
func TestPanelUsers_changeWithoutPassword(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		admin, tenant, _ := adminDesk(t, s)
		user := &models.User{}
		token, path := tenant.SignInAs(t, user), "/panel/api/users/"+user.ID.String()
		statuses := inParallel(t, 20, func(i int) apptest.Request {
			if i == 10 {
				return apptest.Request{
					Method: "POST", Path: "/panel/api/session/password", Token: token,
					Body: fields{"current": apptest.Password, "new": "otra contraseña"},
				}
			}
			return apptest.Request{Method: "PATCH", Path: path, Token: admin.token, Body: fields{"name": "Nombre " + uuid.NewString()}}
		}, s)
		require.Equal(t, map[int]int{http.StatusOK: 20}, statuses)
		require.Equal(t, http.StatusOK, signIn(t, s, user.Email, "otra contraseña").Status)
	})
}
