package panel_test

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// setupPages are those that an operator's people set things up in; usuarios is for administrators
// alone.
var setupPages = []string{
	"/panel/motorizados", "/panel/sucursales", "/panel/tamanos", "/panel/zonas-de-riesgo", "/panel/cobertura", "/panel/cobertura.csv",
	"/panel/cobertura/carga", "/panel/ajustes", "/panel/usuarios",
}

func TestSetup_isForTheOperator(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		admin, clerk, seller := getAs(t, s, tenant, &models.User{Admin: true}), visit(t, s, tenant, nil), visit(t, s, tenant, &tenant.StoreA)
		for _, path := range setupPages {
			require.Equal(t, http.StatusOK, admin.get(path).Status, path)
			require.Equal(t, http.StatusForbidden, seller.get(path).Status, path)
			if path != "/panel/cobertura.csv" {
				require.Equal(t, http.StatusForbidden, seller.post(path, nil).Status, path)
			}
			if path != "/panel/usuarios" {
				require.Equal(t, http.StatusOK, clerk.get(path).Status, path)
			}
		}
		require.Equal(t, http.StatusForbidden, clerk.get("/panel/usuarios").Status)
		require.Equal(t, http.StatusForbidden, clerk.post("/panel/usuarios", url.Values{"name": {"X"}}).Status)
		require.NotContains(t, clerk.read("/panel/ajustes").Text, `href="/panel/usuarios"`)
	})
}

// What is not there, is no id, or is another operator's is not found, whatever the request.
func TestSetup_otherOperatorsAreNotFound(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		other := s.NewTenant(t)
		otherUser := &models.User{}
		other.SignInAs(t, otherUser)
		foreign := map[string]string{
			"/panel/motorizados": other.Riders[0].ID.String(), "/panel/sucursales": other.Main.ID.String(), "/panel/usuarios": otherUser.ID.String(),
			"/panel/tamanos":         owned[models.Size](t, other, func(r models.Size) uuid.UUID { return r.ID }),
			"/panel/zonas-de-riesgo": owned[models.RiskZone](t, other, func(r models.RiskZone) uuid.UUID { return r.ID }),
			"/panel/cobertura":       owned[models.Coverage](t, other, func(r models.Coverage) uuid.UUID { return r.ID }),
		}
		admin := getAs(t, s, s.NewTenant(t), &models.User{Admin: true})
		for path, id := range foreign {
			for _, unknown := range []string{id, uuid.NewString(), "no-es-un-id"} {
				if path != "/panel/cobertura" {
					require.Equal(t, http.StatusNotFound, admin.get(path+"/"+unknown).Status, path)
				}
				require.Equal(t, http.StatusNotFound, admin.post(path+"/"+unknown, url.Values{"name": {"X"}, "price": {"1"}}).Status, path)
			}
		}
		require.Equal(t, http.StatusNotFound, admin.post("/panel/cobertura/"+foreign["/panel/cobertura"]+"/quitar", nil).Status)
		require.Equal(t, http.StatusNotFound, admin.post("/panel/usuarios/"+foreign["/panel/usuarios"]+"/contrasena", nil).Status)
	})
}

// owned is the id of the first row of a kind that a tenant has.
func owned[T any](t *testing.T, tenant *apptest.Tenant, id func(T) uuid.UUID) string {
	t.Helper()
	return id(apptest.RowsOf[T](t, tenant)[0]).String()
}

func TestRiders_inactiveCannotBeAssigned(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v, token := visit(t, s, tenant, nil), tenant.SignIn(t, nil)

		listed := v.submit("/panel/motorizados", url.Values{"name": {"12345"}, "phone": {"987 111 222"}})
		require.Contains(t, listed.words(), "12345 +51987111222 Activo")

		refused := v.post("/panel/motorizados", url.Values{"name": {"Ana Soto"}, "phone": {"12"}})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "No es un número de teléfono válido.")
		require.Contains(t, refused.Text, `value="Ana Soto"`, "what was typed is still there")
		require.Contains(t, refused.Text, `value="12"`)

		rider := tenant.Riders[0]
		require.Contains(t, v.submit("/panel/motorizados/"+rider.ID.String(), url.Values{"name": {rider.Name}, "phone": {rider.Phone}}).words(), "Inactivo")
		order := s.CreateOrder(t, tenant.Key)
		act := func(move string, body map[string]any) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: "POST", Path: "/panel/api/orders/" + order + "/" + move, Token: token, Body: body})
		}
		require.Equal(t, http.StatusOK, act("receive", map[string]any{}).Status)
		require.Equal(t, http.StatusBadRequest, act("assign", map[string]any{"rider_id": rider.ID}).Status)
		require.Equal(t, http.StatusOK, act("assign", map[string]any{"rider_id": tenant.Riders[1].ID}).Status)
	})
}

func TestBranches_oneIsAlwaysTheMainOne(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		path := "/panel/sucursales/" + tenant.Main.ID.String()
		refused := v.post(path, url.Values{"name": {"Centro"}, "active": {"true"}})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "Siempre hay una sucursal principal activa")
		require.Contains(t, refused.Text, `value="Centro"`)

		require.Contains(t, v.submit("/panel/sucursales", url.Values{"name": {"<b>Sur</b>"}, "main": {"true"}}).Text, "&lt;b&gt;Sur&lt;/b&gt;")
		require.NotContains(t, v.read("/panel/sucursales").Text, "<b>Sur")
		require.Contains(t, v.submit(path, url.Values{"name": {"Centro"}}).words(), "Centro — Inactiva", "now that another one is")
	})
}

func TestSizes_applyToTheNextOrder(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		cost := func(changes map[string]any) any {
			t.Helper()
			answer := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order(changes)})
			require.Equal(t, http.StatusCreated, answer.Status, answer.Text)
			return answer.Data["shipping_cost"]
		}
		refused := v.post("/panel/tamanos", url.Values{"code": {"XL"}, "name": {""}, "surcharge": {"mucho"}})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "Es obligatorio.")
		require.Contains(t, refused.words(), "Debe ser un número.")
		require.Contains(t, refused.Text, `value="mucho"`)
		require.Contains(t, v.post("/panel/tamanos", url.Values{"code": {"S"}, "name": {"Otra"}}).words(), "Ya hay un tamaño con ese código.")

		listed := v.submit("/panel/tamanos", url.Values{"code": {"40"}, "name": {"40"}, "surcharge": {"3.50"}})
		require.Contains(t, listed.words(), "40 40 S/ 3.50 — Activo", "a code of digits is a code")
		require.EqualValues(t, 12.5, cost(map[string]any{"size": "40"}))
		sizes := apptest.RowsOf[models.Size](t, tenant)
		path := "/panel/tamanos/" + sizes[len(sizes)-1].ID.String()
		v.submit(path, url.Values{"code": {"40"}, "name": {"Cuarenta"}, "surcharge": {"4"}, "default": {"true"}, "active": {"true"}})
		require.EqualValues(t, 13, cost(nil), "it is the default now")
		require.Contains(t, v.post(path, url.Values{"code": {"40"}, "name": {"Cuarenta"}, "active": {"true"}}).words(), "Siempre hay un tamaño predeterminado activo")
	})
}

func TestRiskZones_warnOnOrderCreation(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		require.Contains(t, v.read("/panel/zonas-de-riesgo").words(), "San Juan de Lurigancho, Lima (150132) huascar · paradero 10")

		refused := v.post("/panel/zonas-de-riesgo", url.Values{"name": {"Nada"}, "location_id": {""}, "words": {"\r\n "}})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status, "a zone of everything")
		require.Contains(t, refused.words(), "Indique una ubicación o al menos una palabra")
		refused = v.post("/panel/zonas-de-riesgo", url.Values{"name": {"Narnia"}, "location_id": {"Narnia"}, "words": {"uno\r\ndos"}})
		require.Contains(t, refused.words(), "No hay ninguna ubicación con ese nombre.")
		require.Contains(t, refused.Text, "uno\r\ndos</textarea>")

		v.submit("/panel/zonas-de-riesgo", url.Values{"name": {"Larco"}, "location_id": {"Miraflores, Lima (150122)"}, "words": {"LARCO\r\npardo"}})
		answer := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order()})
		require.Contains(t, answer.Warning, "Larco")
		zones := apptest.RowsOf[models.RiskZone](t, tenant)
		path := "/panel/zonas-de-riesgo/" + zones[1].ID.String()
		require.Contains(t, v.read(path).Text, `value="Miraflores, Lima (150122)"`)
		require.Contains(t, v.submit(path, url.Values{"name": {"Larco"}, "words": {"larco"}}).words(), "Larco — larco Inactiva")
	})
}

// The operator's name is what its customers read.
func TestSettings_showOnTheTrackingPage(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		order := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order()})
		opened := v.read("/panel/ajustes")
		for _, shown := range []string{"business", "Perú", "America/Lima", "PEN"} {
			require.Contains(t, opened.words(), shown)
		}
		refused := v.post("/panel/ajustes", url.Values{"name": {"Raudo"}, "logo_url": {"http://logo.example/l.png"}, "base_price": {"-1"}})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "Debe ser una dirección pública que empiece con https://.")
		require.Contains(t, refused.words(), "Debe ser un monto entre 0 y 999999.99")
		require.Contains(t, refused.Text, `value="http://logo.example/l.png"`)

		saved := v.submit("/panel/ajustes", url.Values{
			"name": {tenant.OwnName(`Rauda <script>"&`)}, "logo_url": {"https://logo.example/l.png"}, "base_price": {"15"}, "share_proof_location": {"true"},
		})
		require.Contains(t, saved.words(), "Ajustes guardados.")
		require.Contains(t, saved.Text, `<img src="https://logo.example/l.png"`)
		require.NotContains(t, saved.Text, "<script>\"")
		tracked := signedOut(t, s).read("/track/" + order.String("guide_code"))
		require.Contains(t, tracked.Text, "Rauda &lt;script&gt;")
		require.Contains(t, tracked.Text, "https://logo.example/l.png")
		answer := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order(map[string]any{"location_id": apptest.Surco})})
		require.EqualValues(t, 15, answer.Data["shipping_cost"])

		v.submit("/panel/ajustes", url.Values{"name": {tenant.OwnName("Rauda")}, "logo_url": {""}, "base_price": {""}})
		require.False(t, strings.Contains(v.read("/panel/ajustes").Text, "logo.example"), "a blank takes it away")
	})
}

// A suspended operator reads on; nothing is written.
func TestSetup_whileSuspended(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t, func(o *models.Operator) { at := o.CreatedAt; o.SuspendedAt = &at })
		admin := getAs(t, s, tenant, &models.User{Admin: true})
		order := "/panel/pedidos/" + suspendedOrder(t, tenant)
		for _, path := range append(slices.Clone(setupPages), "/panel/recepcion", "/panel/asignacion", order) {
			require.Equal(t, http.StatusOK, admin.get(path).Status, path)
		}
		require.NotContains(t, admin.read("/panel/recepcion").Text, `id="codigo"`)
		require.NotContains(t, admin.read("/panel/asignacion").Text, `name="rider_id"`)
		require.NotContains(t, admin.read(order).Text, order+"/", "no forms")
		key := "/panel/claves/" + tenant.KeyIDs(t)[0].String() + "/revocar"
		require.Contains(t, admin.read("/panel/claves").Text, key, "what protects accounts and keys goes on")
		require.Contains(t, admin.submit(key, nil).words(), "La clave quedó revocada")
		form := url.Values{"current": {apptest.Password}, "new": {"otra contraseña larga"}, "repeat": {"otra contraseña larga"}}
		require.Contains(t, admin.read("/panel/cuenta").Text, `name="current"`)
		require.Contains(t, admin.submit("/panel/cuenta", form).words(), "La contraseña cambió.")
	})
}

func suspendedOrder(t *testing.T, tenant *apptest.Tenant) string {
	t.Helper()
	row := tenant.Row(time.Now())
	tenant.InsertRows(t, []models.Order{row})
	return row.ID.String()
}

var shownLogo = regexp.MustCompile(`<img class="logo" src="(/logos/[0-9a-f]{32}\.png)"`)

// A logo is chosen and removed on the page of settings, and is on every page and label.
func TestLogo_onThePageOfSettings(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		const settings = "/panel/ajustes"
		for content, problem := range map[string]string{"": "El logo debe ser una imagen JPEG, PNG o WebP.", "<svg/>": "El logo debe ser una imagen JPEG, PNG o WebP."} {
			refused := v.upload(settings+"/logo", nil, "logo", "logo.svg", []byte(content))
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
			require.Contains(t, refused.words(), problem)
		}
		require.Contains(t, v.upload(settings+"/logo", nil, "otro", "logo.png", nil).words(), "Elija el archivo del logo.")
		require.NotContains(t, v.read(settings).Text, "/logos/")

		var picture bytes.Buffer
		require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 20, 10))))
		sent := v.upload(settings+"/logo", nil, "logo", "logo.png", picture.Bytes())
		require.Equal(t, settings, sent.Location, sent.words())
		page := v.read(settings)
		require.Contains(t, page.words(), "Logo guardado.")
		logo := shownLogo.FindStringSubmatch(page.Text)
		require.NotNil(t, logo, page.Text)
		require.Equal(t, "image/png", v.get(logo[1]).Header.Get("Content-Type"))
		require.Contains(t, v.read(labels("a6", s.CreateOrder(t, tenant.KeyA))).Text, `<img src="`+logo[1]+`"`)
		require.Equal(t, settings, v.post(settings, page.fieldsOf(t, settings)).Location, "the other settings are saved")
		require.Contains(t, v.read(settings).Text, logo[1], "and the logo stays")

		require.Equal(t, settings, v.post(settings+"/logo/quitar", nil).Location)
		require.NotContains(t, v.read(settings).Text, "/logos/")
		require.Equal(t, http.StatusForbidden, visit(t, s, tenant, &tenant.StoreA).upload(settings+"/logo", nil, "logo", "logo.png", picture.Bytes()).Status)
	})
}
