package panel_test

import (
	"encoding/base32"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/totp"
	"despacho/models"
	"despacho/test/apptest"
)

var (
	shownSecret = regexp.MustCompile(`id="totp-secret"[^>]*>([A-Z2-7]{32})<`)
	shownCode   = regexp.MustCompile(`\b([A-Z2-7]{4}(?:-[A-Z2-7]{4}){3})\b`)
	hiddenStep  = regexp.MustCompile(`name="step" value="([^"]+)"`)
	shownLink   = regexp.MustCompile(`id="reset-link"[^>]*>[^<]*/panel/restablecer\?codigo=([^<]+)<`)
)

func found(t *testing.T, in *regexp.Regexp, p *page) string {
	t.Helper()
	match := in.FindStringSubmatch(p.Text)
	require.Len(t, match, 2, p.words())
	return match[1]
}

// codeAt is the code of a secret, so many steps from now.
func codeAt(t *testing.T, secret string, steps int64) string {
	t.Helper()
	decoded, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	require.NoError(t, err)
	return totp.Code(decoded, totp.Step(time.Now())+steps)
}

// An administrator of an operator that requires a second factor is led to set it up, is asked for
// it when signing in, and removes it; everything without scripts.
func TestSecondFactor_pages(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		const path = "/panel/cuenta/segundo-factor"
		tenant, user := s.NewTenant(t), &models.User{Admin: true}
		v := getAs(t, s, tenant, user)
		require.Contains(t, v.read("/panel/cuenta").words(), "Sin activar")
		require.Equal(t, http.StatusSeeOther, v.post("/panel/ajustes", url.Values{"name": {tenant.OwnName("Rayo")}, "require_second_factor": {"true"}}).Status)
		for _, page := range []string{"/panel/ajustes", "/panel/pedidos", "/panel/usuarios"} {
			led := v.get(page)
			require.Equal(t, []any{http.StatusSeeOther, path}, []any{led.Status, led.Location}, page)
		}
		require.Equal(t, path, v.post("/panel/tiendas", url.Values{"name": {"Nueva"}}).Location)
		require.Contains(t, v.read(path).words(), "El operador pide un segundo factor")

		wrong := v.post(path, url.Values{"password": {"adivinada"}})
		require.Equal(t, http.StatusUnprocessableEntity, wrong.Status)
		require.Contains(t, wrong.words(), "No es su contraseña actual.")
		started := v.submit(path, url.Values{"password": {apptest.Password}})
		require.Equal(t, "no-store", started.Header.Get("Cache-Control"))
		require.Contains(t, started.Text, `<svg class="enrol-code"`)
		secret := found(t, shownSecret, started)
		require.Contains(t, started.links()["Abrir en la aplicación de este teléfono"], "otpauth://totp/")
		wrong = v.post(path+"/confirmar", url.Values{"code": {"000000"}})
		require.Equal(t, http.StatusUnprocessableEntity, wrong.Status)
		require.Contains(t, wrong.words(), "No es correcto, o ya se usó.")
		require.NotContains(t, wrong.Text, secret, "it is shown once")

		confirmed := v.submit(path+"/confirmar", url.Values{"code": {codeAt(t, secret, 0)}})
		require.Equal(t, "no-store", confirmed.Header.Get("Cache-Control"))
		codes := shownCode.FindAllStringSubmatch(confirmed.Text, -1)
		require.Len(t, codes, 10)
		require.Equal(t, http.StatusOK, v.get("/panel/usuarios").Status)
		require.Contains(t, v.read("/panel/usuarios").words(), "Activo Con segundo factor")
		require.Contains(t, v.read(path).words(), "Le quedan 10 códigos de recuperación.")

		// Signing in takes two steps now, and keeps where to go.
		other := signedOut(t, s)
		asked := other.post("/panel/ingreso", url.Values{"email": {user.Email}, "password": {apptest.Password}, "siguiente": {"/panel/tiendas"}})
		require.Equal(t, http.StatusOK, asked.Status)
		require.Equal(t, http.StatusSeeOther, other.get("/panel/pedidos").Status, "a password alone opens nothing")
		require.Contains(t, asked.Text, `name="siguiente" value="/panel/tiendas"`)
		require.NotContains(t, asked.Text, apptest.Password)
		step := found(t, hiddenStep, asked)
		require.Contains(t, asked.Text, `inputmode="numeric"`)
		recovery := other.post("/panel/ingreso/codigo", url.Values{"step": {step}, "recuperacion": {"elegir"}, "siguiente": {"/panel/tiendas"}})
		require.Equal(t, http.StatusOK, recovery.Status)
		require.Contains(t, recovery.words(), "Código de recuperación")
		require.NotContains(t, recovery.Text, `inputmode="numeric"`, "a recovery code has letters")
		require.Equal(t, step, found(t, hiddenStep, recovery))
		refused := other.post("/panel/ingreso/codigo", url.Values{"step": {step}, "code": {"000000"}, "siguiente": {"/panel/tiendas"}})
		require.Equal(t, http.StatusUnauthorized, refused.Status)
		require.Contains(t, refused.words(), "El código no es correcto, o ya se usó.")
		for _, forged := range []string{"", "inventado", step[:len(step)-2] + "AA"} {
			again := other.post("/panel/ingreso/codigo", url.Values{"step": {forged}, "code": {codes[0][1]}})
			require.Contains(t, []int{http.StatusUnauthorized, http.StatusBadRequest}, again.Status)
			require.Contains(t, again.Text, `name="password"`, "from the start")
		}
		signed := other.post("/panel/ingreso/codigo", url.Values{"step": {found(t, hiddenStep, refused)}, "code": {codes[0][1]}, "siguiente": {"/panel/tiendas"}})
		require.Equal(t, []any{http.StatusSeeOther, "/panel/tiendas"}, []any{signed.Status, signed.Location})
		require.Equal(t, http.StatusOK, other.get("/panel/tiendas").Status)

		require.Contains(t, v.read(path).Text, `inputmode="numeric"`)
		removal := v.read(v.read(path).links()["Usar un código de recuperación"])
		require.NotContains(t, removal.Text, `inputmode="numeric"`)
		wrong = v.post(path+"/quitar?recuperacion=1", url.Values{"password": {apptest.Password}, "code": {codes[0][1]}})
		require.Equal(t, http.StatusUnprocessableEntity, wrong.Status, "a recovery code is used once")
		require.Contains(t, wrong.words(), "Código de recuperación")
		require.Contains(t, v.submit(path+"/quitar", url.Values{"password": {apptest.Password}, "code": {codes[1][1]}}).words(), "El segundo factor quedó quitado.")
	})
}

func TestSecondFactor_oneRecoveryCodeLeft(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		const path = "/panel/cuenta/segundo-factor"
		user := &models.User{}
		v := getAs(t, s, s.NewTenant(t), user)
		secret := found(t, shownSecret, v.submit(path, url.Values{"password": {apptest.Password}}))
		v.post(path+"/confirmar", url.Values{"code": {codeAt(t, secret, 0)}})
		own := "FROM recovery_codes WHERE user_id = '" + user.ID.String() + "'"
		_, err := s.App.DB.SQL().Exec("DELETE " + own + " AND hash <> (SELECT hash " + own + " LIMIT 1)")
		require.NoError(t, err)
		require.Contains(t, v.read(path).words(), "Le queda 1 código de recuperación.")
	})
}

// Whoever starts again at the second step still comes to where they were going.
func TestSecondFactor_startingAgainKeepsWhereToGo(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		const path = "/panel/cuenta/segundo-factor"
		tenant, user := s.NewTenant(t), &models.User{}
		v := getAs(t, s, tenant, user)
		secret := found(t, shownSecret, v.submit(path, url.Values{"password": {apptest.Password}}))
		v.submit(path+"/confirmar", url.Values{"code": {codeAt(t, secret, 0)}})
		endSessions(t, s, tenant)

		ended := v.post("/panel/tiendas", url.Values{"name": {"Zapatería Sol"}}).fieldsOf(t, "/panel/ingreso")
		signIn := url.Values{"email": {user.Email}, "password": {apptest.Password}, "siguiente": ended["siguiente"]}
		asked := v.post("/panel/ingreso", signIn)
		const again = "/panel/ingreso?siguiente=%2fpanel%2ftiendas"
		require.Contains(t, asked.Text, `href="`+again+`"`)
		fields := v.read(again).fieldsOf(t, "/panel/ingreso")
		require.Contains(t, fields, "password", "the first step")
		require.Equal(t, "/panel/tiendas", fields.Get("siguiente"))
	})
}

// A right password that changes before the code is typed is worth nothing.
func TestSecondFactor_stepEndsWithThePassword(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		const path = "/panel/cuenta/segundo-factor"
		tenant, user := s.NewTenant(t), &models.User{}
		v, admin := getAs(t, s, tenant, user), getAs(t, s, tenant, &models.User{Admin: true})
		secret := found(t, shownSecret, v.submit(path, url.Values{"password": {apptest.Password}}))
		codes := shownCode.FindAllStringSubmatch(v.submit(path+"/confirmar", url.Values{"code": {codeAt(t, secret, 0)}}).Text, -1)
		require.Len(t, codes, 10)
		other := signedOut(t, s)
		step := found(t, hiddenStep, other.post("/panel/ingreso", url.Values{"email": {user.Email}, "password": {apptest.Password}}))
		admin.submit("/panel/usuarios/"+user.ID.String()+"/contrasena", url.Values{"password": {"otra contraseña larga"}})
		refused := other.post("/panel/ingreso/codigo", url.Values{"step": {step}, "code": {codes[0][1]}})
		require.Equal(t, http.StatusUnauthorized, refused.Status)
		require.Contains(t, refused.words(), "ingrese de nuevo")

		removed := admin.submit("/panel/usuarios/"+user.ID.String()+"/segundo-factor", nil)
		require.Contains(t, removed.words(), "ya no tiene segundo factor")
		require.Equal(t, http.StatusSeeOther, signsIn(t, s, user.Email, "otra contraseña larga"))
	})
}

// An administrator hands a link over; whoever has it chooses the password, once.
func TestPasswordReset_pages(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant, user := s.NewTenant(t), &models.User{}
		v, admin := getAs(t, s, tenant, user), getAs(t, s, tenant, &models.User{Admin: true})
		shown := admin.submit("/panel/usuarios/"+user.ID.String()+"/enlace", nil)
		require.Equal(t, "no-store", shown.Header.Get("Cache-Control"))
		token := found(t, shownLink, shown)
		require.Equal(t, http.StatusSeeOther, v.get("/panel/pedidos").Status, "its sessions ended")
		require.Equal(t, http.StatusUnauthorized, signsIn(t, s, user.Email, apptest.Password))

		other, path := signedOut(t, s), "/panel/restablecer?codigo="+token
		page := other.read(path)
		require.Equal(t, "no-store", page.Header.Get("Cache-Control"))
		require.NotContains(t, page.Text, user.Email, "a link that got into wrong hands says nothing about whose it is")
		for complaint, form := range map[string]url.Values{
			"No es igual a la contraseña nueva.":          {"new": {"otra contraseña larga"}, "repeat": {"otra"}},
			"Debe tener al menos 8 caracteres.":           {"new": {"corta"}, "repeat": {"corta"}},
			"Es demasiado fácil de adivinar: elija otra.": {"new": {"Contraseña1"}, "repeat": {"Contraseña1"}},
		} {
			form.Set("token", token)
			refused := other.post("/panel/restablecer", form)
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status, complaint)
			require.Contains(t, refused.words(), complaint)
			require.NotContains(t, refused.Text, form.Get("new"))
		}
		done := other.submit("/panel/restablecer", url.Values{"token": {token}, "new": {"otra contraseña larga"}, "repeat": {"otra contraseña larga"}})
		require.Contains(t, done.words(), "La contraseña quedó guardada: ya puede ingresar.")
		require.Equal(t, http.StatusSeeOther, signsIn(t, s, user.Email, "otra contraseña larga"))
		require.Equal(t, http.StatusNotFound, other.get(path).Status, "it was used")
		require.Equal(t, http.StatusNotFound, other.post("/panel/restablecer", url.Values{"token": {token}, "new": {"una tercera larga"}, "repeat": {"una tercera larga"}}).Status)
	})
}
