package panel_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// shownPassword is the password on the page that shows it once.
var shownPassword = regexp.MustCompile(`id="new-password"[^>]*>([^<]+)<`)

func (p *page) password(t *testing.T) string {
	t.Helper()
	found := shownPassword.FindStringSubmatch(p.Text)
	require.Len(t, found, 2, p.words())
	require.Equal(t, "no-store", p.Header.Get("Cache-Control"))
	for _, cookie := range p.Header.Values("Set-Cookie") {
		require.NotContains(t, cookie, found[1])
	}
	return found[1]
}

// signsIn reports where a sign-in with the password leads.
func signsIn(t *testing.T, s *apptest.Service, email, password string) int {
	t.Helper()
	return signedOut(t, s).post("/panel/ingreso", url.Values{"email": {email}, "password": {password}}).Status
}

func someEmail() string { return uuid.NewString() + "@prueba.example" }

// A user is added with a link to choose a password, which nobody else gets to know.
func TestUsers_chooseTheirPassword(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		admin := getAs(t, s, tenant, &models.User{Admin: true})
		for _, answers := range []url.Values{
			{"name": {"Luz"}, "email": {someEmail()}, "role": {"operator"}, "store_id": {""}},
			{"name": {"<i>Ana</i>"}, "email": {someEmail()}, "role": {"store"}, "store_id": {tenant.StoreA.ID.String()}},
		} {
			created := admin.submit("/panel/usuarios", answers)
			require.Equal(t, "no-store", created.Header.Get("Cache-Control"))
			token := found(t, shownLink, created)
			require.NotContains(t, admin.read("/panel/usuarios").Text, token)
			require.Equal(t, http.StatusUnauthorized, signsIn(t, s, answers.Get("email"), "zorro-azul-17"), "there is no password yet")
			chosen := signedOut(t, s).post("/panel/restablecer", url.Values{"token": {token}, "new": {"zorro-azul-17"}, "repeat": {"zorro-azul-17"}})
			require.Equal(t, http.StatusSeeOther, chosen.Status, chosen.words())
			require.Equal(t, http.StatusSeeOther, signsIn(t, s, answers.Get("email"), "zorro-azul-17"))
		}
		require.Contains(t, admin.read("/panel/usuarios").Text, "&lt;i&gt;Ana&lt;/i&gt;")
		require.Contains(t, admin.read("/panel/usuarios").words(), "Tienda Tienda A Activo")
	})
}

var tickedGrant = regexp.MustCompile(`name="grants" value="(\w+)" checked`)

// The form ticks the least for a new user. A store's has none, whatever is ticked.
func TestUsers_grants(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		admin := getAs(t, s, tenant, &models.User{Admin: true})
		ticked := func(path string) (grants []string) {
			for _, box := range tickedGrant.FindAllStringSubmatch(admin.read(path).Text, -1) {
				grants = append(grants, box[1])
			}
			return grants
		}
		add := func(role, store string, grants ...string) string {
			admin.submit("/panel/usuarios", url.Values{
				"name": {"Ana"}, "email": {someEmail()}, "role": {role}, "store_id": {store}, "grants": grants,
			})
			return admin.read("/panel/usuarios").words()
		}
		require.Equal(t, []string{"counter"}, ticked("/panel/usuarios"))
		require.Contains(t, add("operator", "", "dispatch", "cash"), "Operador Despacho, Caja Activo")
		require.Contains(t, add("operator", ""), "Operador Solo consulta Activo")
		require.Contains(t, add("store", tenant.StoreA.ID.String(), "counter"), "Tienda Tienda A Activo")

		clerk := &models.User{Name: "Zoe"}
		tenant.SignInAs(t, clerk)
		path := "/panel/usuarios/" + clerk.ID.String()
		require.Equal(t, []string{"counter", "dispatch", "cash", "settings"}, ticked(path))
		admin.submit(path, url.Values{
			"seen": {admin.read(path).fieldsOf(t, path).Get("seen")}, "name": {"Zoe"}, "email": {clerk.Email}, "role": {"operator"},
			"store_id": {""}, "active": {"true"},
		})
		require.Empty(t, ticked(path), "without a tick none is left")
	})
}

func TestUsers_rejectedFormKeepsItsValues(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant, self := s.NewTenant(t), &models.User{Admin: true}
		admin := getAs(t, s, tenant, self)
		for complaint, answers := range map[string]url.Values{
			"Es obligatorio para un usuario de tienda.":  {"name": {"Luz"}, "email": {"luz@prueba.example"}, "role": {"store"}, "store_id": {""}},
			"Solo la lleva un usuario de tienda.":        {"name": {"Luz"}, "email": {"luz@prueba.example"}, "role": {"operator"}, "store_id": {tenant.StoreA.ID.String()}},
			"No es un correo electrónico.":               {"name": {"Luz"}, "email": {"luz"}, "role": {"operator"}},
			"Ya hay un usuario con ese correo.":          {"name": {"Luz"}, "email": {self.Email}, "role": {"operator"}},
			"Solo un usuario del operador puede ser adm": {"name": {"Luz"}, "email": {"luz@prueba.example"}, "role": {"store"}, "store_id": {tenant.StoreA.ID.String()}, "admin": {"true"}},
		} {
			refused := admin.post("/panel/usuarios", answers)
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status, complaint)
			require.Contains(t, refused.words(), complaint)
			require.Contains(t, refused.Text, `value="Luz"`)
		}
	})
}

func TestUsers_changeKeepsTheLastAdministrator(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant, self, user := s.NewTenant(t), &models.User{Admin: true}, &models.User{}
		user.StoreID = &tenant.StoreA.ID
		admin, seller := getAs(t, s, tenant, self), getAs(t, s, tenant, user)
		own, path := "/panel/usuarios/"+self.ID.String(), "/panel/usuarios/"+user.ID.String()

		for _, answers := range []url.Values{
			{"name": {"Yo"}, "email": {self.Email}, "role": {"operator"}, "active": {"true"}},
			{"name": {"Yo"}, "email": {self.Email}, "role": {"operator"}, "admin": {"true"}},
		} {
			refused := admin.post(own, answers)
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
			require.Contains(t, refused.words(), "Es el último administrador activo")
		}

		reset := admin.submit(path+"/contrasena", url.Values{"password": {""}})
		require.Equal(t, http.StatusSeeOther, seller.get("/panel/pedidos").Status, "its sessions ended")
		require.Equal(t, http.StatusSeeOther, signsIn(t, s, user.Email, reset.password(t)))
		refused := admin.post(path+"/contrasena", url.Values{"password": {"corta"}})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "Debe tener al menos 8 caracteres.")
		require.Contains(t, admin.submit(path+"/contrasena", url.Values{"password": {"47382916"}}).words(), "Contraseña cambiada.")
		require.Equal(t, http.StatusSeeOther, signsIn(t, s, user.Email, "47382916"))

		// Also where its store was closed before.
		admin.submit("/panel/tiendas/"+tenant.StoreA.ID.String(), url.Values{"name": {"Tienda A"}})
		listed := admin.submit(path, url.Values{"name": {"Luz"}, "email": {user.Email}, "role": {"store"}, "store_id": {tenant.StoreA.ID.String()}})
		require.Contains(t, listed.words(), "Tienda Tienda A Inactivo")
		require.Equal(t, http.StatusUnauthorized, signsIn(t, s, user.Email, "47382916"))
	})
}

// Whoever has tried too many addresses that cannot be used is told nothing about another one until
// the next day. Colleagues keep theirs, and can be deactivated meanwhile.
func TestUsers_aColleagueIsDeactivatedWhateverWasTried(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant, others := s.NewTenant(t), s.NewTenant(t)
		admin := getAs(t, s, tenant, &models.User{Admin: true})
		colleague, stranger := &models.User{Name: "Ana"}, &models.User{}
		tenant.SignInAs(t, colleague)
		others.SignInAs(t, stranger)
		path := "/panel/usuarios/" + colleague.ID.String()
		form := url.Values{"name": {"Ana"}, "email": {stranger.Email}, "role": {"operator"}}
		for range 20 {
			require.Contains(t, admin.post(path, form).words(), "Ese correo no se puede usar: escriba otro.")
		}
		require.Contains(t, admin.post(path, form).words(), "Demasiados correos que no se pueden usar")
		form.Set("email", colleague.Email)
		require.Contains(t, admin.submit(path, form).words(), "Usuario guardado.")
		require.Equal(t, http.StatusUnauthorized, signsIn(t, s, colleague.Email, apptest.Password))
	})
}
