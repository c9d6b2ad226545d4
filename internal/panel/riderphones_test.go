package panel_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// shownRiderLink is the token of the link on the page that shows it once.
var shownRiderLink = regexp.MustCompile(`id="rider-link"[^>]*>[^<#]+/reparto#([^<]+)<`)

var shownWhatsApp = regexp.MustCompile(`href="(https://wa\.me/[^"]+)"`)

// The operator's people give a rider a link, which is shown once: to be copied, read from the
// screen, or sent to the rider's number. The page says what the rider has, and takes it away.
func TestRiderPhones_linkAndEnd(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v, rider := visit(t, s, tenant, nil), tenant.Riders[0]
		path := "/panel/motorizados/" + rider.ID.String()
		require.Contains(t, v.read("/panel/motorizados").words(), rider.Name+" "+rider.Phone+" Activo Sin celular")
		require.NotContains(t, v.read(path).Text, "Quitar el acceso", "there is none")

		shown := v.submit(path+"/enlace", nil)
		require.Equal(t, "no-store", shown.Header.Get("Cache-Control"))
		token := found(t, shownRiderLink, shown)
		require.Contains(t, shown.Text, `role="img" aria-label="Código QR`)
		whatsApp, err := url.Parse(html.UnescapeString(found(t, shownWhatsApp, shown)))
		require.NoError(t, err)
		require.Equal(t, "wa.me/"+strings.TrimPrefix(rider.Phone, "+"), whatsApp.Host+whatsApp.Path)
		require.Contains(t, whatsApp.Query().Get("text"), s.BaseURL+"/reparto#"+token)
		require.NotContains(t, shown.Text, "Abrir en la aplicación", "it is not for the phone of whoever gives it")
		require.NotContains(t, v.read(path).Text, token, "it is shown once")
		require.Contains(t, v.read("/panel/motorizados").words(), "Activo Enlace por usar Vence: ")

		activated := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/rider/api/activate", Body: map[string]any{"token": token, "pin": apptest.PIN}})
		require.Equal(t, http.StatusOK, activated.Status, activated.Text)
		phone := apptest.PhoneOf(t, activated)
		uses := func() int {
			return s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/rider/api/session", Phone: phone}).Status
		}
		require.Contains(t, v.read("/panel/motorizados").words(), "Activo Enlazado Visto: ")
		require.Contains(t, v.read(path).words(), "El celular de ahora tiene acceso hasta que se use el enlace en otro.")
		v.submit(path+"/enlace", nil)
		require.Contains(t, v.read("/panel/motorizados").words(), ". Hay un enlace para otro")
		require.Equal(t, http.StatusOK, uses())
		require.Contains(t, v.submit(path+"/quitar-acceso", nil).words(), "El celular ya no tiene acceso.")
		require.Equal(t, http.StatusUnauthorized, uses())
		require.Contains(t, v.read("/panel/motorizados").words(), "Activo Sin celular")
	})
}

// An inactive rider gets no link, and a suspended operator gives none; access is taken away all the
// same.
func TestRiderPhones_whoGetsNone(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		inactive := models.Rider{ID: tenant.StoreA.ID, OperatorID: tenant.Operator.ID, Name: "Eva Luna", Phone: "+51912345678", CreatedAt: tenant.Operator.CreatedAt}
		require.NoError(t, s.App.DB.Insert(t.Context(), &inactive))
		path := "/panel/motorizados/" + inactive.ID.String()
		require.NotContains(t, v.read(path).Text, "/enlace")
		require.Contains(t, v.submit(path+"/enlace", nil).words(), "actívelo antes de darle un enlace")

		path = "/panel/motorizados/" + tenant.Riders[0].ID.String()
		tenant.ActivatePhone(t, tenant.Riders[0].ID)
		tenant.Suspend(t)
		shown := v.read(path)
		require.NotContains(t, shown.Text, "/enlace")
		require.Contains(t, shown.Text, path+"/quitar-acceso")
		require.Equal(t, http.StatusForbidden, v.post(path+"/enlace", nil).Status)
		require.Contains(t, v.submit(path+"/quitar-acceso", nil).words(), "El celular ya no tiene acceso.")
	})
}
