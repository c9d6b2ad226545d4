package panel_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/dbtest"
)

// A second active rider of one name and phone is refused at the phone, on the page and by the API.
func TestRiders_noSecondOneOfANameAndPhone(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		const path = "/panel/motorizados"
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		v.submit(path, url.Values{"name": {"Ana Soto"}, "phone": {"987 111 222"}})
		refused := v.post(path, url.Values{"name": {"ana  SOTO"}, "phone": {"+51987111222"}})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "Es el de otro motorizado activo con el mismo nombre.")

		token := tenant.SignInAs(t, &models.User{})
		send := func(body map[string]any) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/riders", Token: token, Body: body})
		}
		second := send(map[string]any{"name": "Ana Soto", "phone": "987111222"})
		require.Equal(t, http.StatusBadRequest, second.Status, second.Text)
		require.Contains(t, second.Text, `"field":"phone"`)
		require.Equal(t, http.StatusCreated, send(map[string]any{"name": "Ana Soto", "phone": "987111223"}).Status)
	})
}

// Whoever deactivates a rider who carries packages is asked first, with a link to them.
func TestRiders_deactivatingACarrierAsksFirst(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v, rider := visit(t, s, tenant, nil), tenant.Riders[0]
		order := assignedOrder(t, s, tenant, v, nil)
		path := "/panel/motorizados/" + rider.ID.String()
		form := v.read(path).fieldsOf(t, path)
		form.Del("active")
		asked := v.post(path, form)
		require.Equal(t, http.StatusUnprocessableEntity, asked.Status)
		require.Contains(t, asked.words(), "Lleva 1 pedido en reparto, y seguirá siendo suyo: ¿desactivarlo?")
		require.Contains(t, v.read(asked.links()["Ver cuáles son"]).Text, order)
		active := func() bool { return dbtest.Row[models.Rider](t, s.App.DB, "id = ?", rider.ID).Active }
		require.True(t, active())
		require.NotContains(t, asked.Text, " checked", "the answer is still there")
		confirmed := asked.fieldsOf(t, path)
		confirmed.Del("active")
		require.Contains(t, v.submit(path, confirmed).words(), "Motorizado guardado.")
		require.False(t, active())
	})
}
