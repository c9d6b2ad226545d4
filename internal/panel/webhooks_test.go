package panel_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// flakyReceiver is a webhook receiver with a configurable response.
type flakyReceiver struct {
	*apptest.Receiver
	status atomic.Int32
}

func newFlakyReceiver(t *testing.T, status int) *flakyReceiver {
	r := &flakyReceiver{}
	r.status.Store(int32(status))
	r.Receiver = apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(r.status.Load()))
		fmt.Fprintf(w, "estado %d %s", r.status.Load(), hostile)
	})
	return r
}

// registerAt registers a webhook in the panel and returns its path and its secret.
func (v *visitor) registerAt(t *testing.T, address string, more url.Values) (path, secret string) {
	t.Helper()
	fields := url.Values{"url": {address}, "events": {"order.created"}}
	for name, values := range more {
		fields[name] = values
	}
	created := v.submit("/panel/webhooks", fields)
	require.Equal(t, "no-store", created.Header.Get("Cache-Control"))
	require.Contains(t, created.words(), "no se volverá a mostrar")
	for _, action := range created.actions(t) {
		if of, isTest := strings.CutSuffix(action, "/probar"); isTest {
			path = of
		}
	}
	require.NotEmpty(t, path)
	return path, created.textOf(t, "secret")
}

// settledAt waits until so many of a webhook's deliveries have come to a status.
func settledAt(t *testing.T, s *apptest.Service, tenant *apptest.Tenant, path string, status models.WebhookDeliveryStatus, count int) []models.WebhookDelivery {
	t.Helper()
	id := uuid.MustParse(strings.TrimPrefix(path, "/panel/webhooks/"))
	var deliveries []models.WebhookDelivery
	poll.Until(t, func() (err error) {
		err = s.App.DB.Query(t.Context()).Where("webhook_id = ? AND status = ?", id, status).Order("created_at DESC, id DESC").Find(&deliveries).Error
		if err == nil && len(deliveries) != count {
			err = errors.New("not yet")
		}
		return err
	})
	return deliveries
}

func TestWebhooks_testRotateAndDeactivate(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		receiver := newFlakyReceiver(t, http.StatusOK)
		path, secret := v.registerAt(t, receiver.URL+"/hook?"+hostile, url.Values{"retry": {"true"}, "store_id": {tenant.StoreA.ID.String()}})
		require.True(t, strings.HasPrefix(secret, "whsec_"), secret)

		listed := v.read("/panel/webhooks")
		for _, shown := range []string{receiver.URL, "Pedido creado order.created", "Tienda A · con reintentos", "Activo"} {
			require.Contains(t, listed.words(), shown)
		}
		require.NotContains(t, listed.Text, secret)
		require.NotContains(t, listed.Text, "<script>alert")

		tried := v.submit(path+"/probar", nil)
		require.Equal(t, "webhook.test", receiver.WaitFor(t, 1)[0].Event)
		require.Contains(t, tried.words(), "El evento de prueba llegó bien.")
		require.Contains(t, tried.words(), "Resultado de la prueba")
		require.Regexp(t, `200 \d\d/\d\d/\d{4} \d\d:\d\d:\d\d · \d+ ms · Prueba Respuesta del receptor estado 200`, tried.words())
		require.NotContains(t, tried.Text, "<script>alert")
		require.NotContains(t, tried.Text, secret)

		receiver.status.Store(http.StatusTeapot)
		failed := v.submit(path+"/probar", nil)
		require.Contains(t, failed.words(), "El evento de prueba no se entregó.")
		require.Contains(t, failed.words(), "El receptor respondió con el código 418.")
		require.Contains(t, v.read("/panel/webhooks").words(), "Fallando No hace más que fallar desde el")

		rotated := v.submit(path+"/rotar", nil)
		newSecret := rotated.textOf(t, "secret")
		require.True(t, strings.HasPrefix(newSecret, "whsec_"), newSecret)
		require.NotEqual(t, secret, newSecret)
		require.Contains(t, rotated.words(), "Durante 24 horas los envíos llevan también la firma del secreto anterior")
		opened := v.read(path)
		require.NotContains(t, opened.Text, newSecret)
		require.Contains(t, opened.words(), "Secreto anterior Vale hasta")
		revoked := v.submit(path+"/rotar", url.Values{"revoke": {"true"}})
		require.Contains(t, revoked.words(), "Los secretos anteriores ya no firman")
		require.NotContains(t, v.read(path).words(), "Secreto anterior")

		require.Contains(t, v.submit(path+"/desactivar", nil).words(), "El webhook quedó desactivado")
		over := v.read(path)
		require.Contains(t, over.words(), "Desactivado por su dueño.")
		require.NotContains(t, over.Text, path+"/probar", "nothing can be done with it")
		require.Contains(t, over.words(), "Evento de prueba", "its log stays")
		day := url.Values{"from": {"2026-01-01T00:00"}, "to": {"2026-01-02T00:00"}}
		for _, action := range []string{"/probar", "/rotar", "/desactivar", "/reenviar"} {
			require.Equal(t, http.StatusNotFound, v.post(path+action, day).Status, action)
		}
	})
}

func TestWebhooks_logShowsFailuresAndRedelivers(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		receiver := newFlakyReceiver(t, http.StatusInternalServerError)
		path, _ := v.registerAt(t, receiver.URL+"/hook", nil)
		orderID := s.CreateOrder(t, tenant.Key)
		failed := settledAt(t, s, tenant, path, models.WebhookDeliveryFailed, 1)[0]

		log := v.read(path)
		for _, shown := range []string{"Fallido Pedido creado order.created", "· Automático El receptor respondió con el código 500.", "estado 500"} {
			require.Contains(t, log.words(), shown)
		}
		require.Contains(t, log.Text, `href="/panel/pedidos/`+orderID+`"`)
		require.NotContains(t, log.Text, "<script>alert")
		require.Contains(t, log.actions(t), "/panel/envios/"+failed.ID.String()+"/reenviar")

		narrowed := path + "?estado=failed&evento=order.created"
		require.Contains(t, v.read(narrowed).Text, `name="volver" value="`+path+`?estado=failed&amp;evento=order.created"`)
		for _, none := range []string{"?estado=delivered", "?estado=pending", "?evento=webhook.test"} {
			require.Contains(t, v.read(path+none).words(), "Ninguna entrega cumple con el filtro.", none)
		}

		zone := tenant.Operator.TimeZone()
		typed := func(after time.Duration) []string {
			return []string{time.Now().Add(after).In(zone).Format("2006-01-02T15:04")}
		}
		backwards := v.post(path+"/reenviar", url.Values{"from": typed(time.Hour), "to": typed(-time.Hour)})
		require.Equal(t, http.StatusUnprocessableEntity, backwards.Status)
		require.Contains(t, backwards.words(), "No puede ser posterior al final del rango.")
		earlier := v.submit(path+"/reenviar", url.Values{"from": typed(-2 * time.Hour), "to": typed(-time.Hour)})
		require.Contains(t, earlier.words(), "No hay entregas que reenviar en ese rango.")

		receiver.status.Store(http.StatusOK)
		again := v.submit(path+"/reenviar", url.Values{"from": typed(-time.Hour), "to": typed(time.Minute)})
		require.Contains(t, again.words(), "Se reenvía 1 entrega.")
		settledAt(t, s, tenant, path, models.WebhookDeliveryDelivered, 1)
		require.Contains(t, v.read(path).words(), "Enviado Pedido creado")
		require.Contains(t, v.read(path).words(), "· Reenvío")
		arrived := receiver.WaitFor(t, 2)
		require.Equal(t, arrived[0].Header.Get("Webhook-Id"), arrived[1].Header.Get("Webhook-Id"))
	})
}

func TestWebhooks_logIsPaginated(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		path, _ := v.registerAt(t, "https://receptor.example/hook", nil)
		id := uuid.MustParse(strings.TrimPrefix(path, "/panel/webhooks/"))
		var deliveries []models.WebhookDelivery
		for i := range 30 {
			deliveries = append(deliveries, models.WebhookDelivery{
				ID: uuid.New(), WebhookID: id, OperatorID: tenant.Operator.ID, Event: models.EventTest, Data: "{}", Status: models.WebhookDeliveryFailed,
				CreatedAt: apptest.FrozenAt.Add(time.Duration(i) * time.Minute), FinishedAt: &apptest.FrozenAt,
			})
		}
		require.NoError(t, s.App.DB.InsertDeliveries(t.Context(), deliveries))
		first := v.read(path + "?estado=failed")
		require.Contains(t, first.words(), "1–25 de 30")
		require.Contains(t, first.Text, deliveries[29].ID.String(), "the newest comes first")
		require.Contains(t, first.Text, path+"?estado=failed&amp;pagina=2")
		last := v.read(path + "?estado=failed&pagina=2")
		require.Contains(t, last.words(), "26–30 de 30")
		require.Contains(t, last.Text, deliveries[0].ID.String())
	})
}

func TestWebhooks_storeUserSeesOnlyItsOwn(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		operator, storeA, storeB := visit(t, s, tenant, nil), visit(t, s, tenant, &tenant.StoreA), visit(t, s, tenant, &tenant.StoreB)
		whole, _ := operator.registerAt(t, "https://operador.example/hook", nil)
		ofA, _ := storeA.registerAt(t, "https://tienda-a.example/hook", url.Values{"store_id": {tenant.StoreB.ID.String()}})

		require.NotContains(t, storeA.read("/panel/webhooks").Text, "operador.example")
		require.NotContains(t, storeA.read("/panel/webhooks").Text, `name="store_id"`, "a store has no choice")
		require.Contains(t, storeA.read(ofA).words(), "tienda-a.example")
		require.NotContains(t, storeB.read("/panel/webhooks").Text, "tienda-a.example")
		require.Contains(t, operator.read("/panel/webhooks").words(), "Tienda A · un solo intento")
		signedOut := visit(t, s, s.NewTenant(t), nil)
		for _, c := range []struct {
			who  *visitor
			path string
		}{{storeA, whole}, {storeB, ofA}, {signedOut, ofA}, {signedOut, whole}, {operator, "/panel/webhooks/x"}} {
			require.Equal(t, http.StatusNotFound, c.who.get(c.path).Status)
			for _, action := range []string{"/probar", "/rotar", "/desactivar", "/reenviar"} {
				require.Equal(t, http.StatusNotFound, c.who.post(c.path+action, nil).Status, c.path+action)
			}
		}

		for address, complaint := range map[string]string{
			"":                       "Es obligatorio.",
			"http://tienda.example":  "La URL debe empezar con https://.",
			"https://127.0.0.1/hook": "La URL apunta a una dirección que no es pública",
		} {
			refused := storeA.post("/panel/webhooks", url.Values{"url": {address}, "events": {"order.created"}})
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status, address)
			require.Contains(t, refused.words(), complaint, address)
		}
		require.Contains(t, storeA.post("/panel/webhooks", url.Values{"url": {"https://tienda.example"}}).words(), "Debe nombrar al menos un evento")
	})
}

// While webhooks are paused the pages say so, and the buttons that would call a receiver answer why
// not.
func TestWebhooks_paused(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.WebhooksPaused = true }})
	tenant := s.NewTenant(t)
	v := visit(t, s, tenant, nil)
	path, _ := v.registerAt(t, apptest.NewReceiver(t, nil).URL, nil)
	order := s.CreateOrder(t, tenant.Key)
	for _, shown := range []string{"/panel/webhooks", path} {
		require.Contains(t, v.read(shown).words(), "El envío de webhooks está en pausa", shown)
	}
	require.Contains(t, v.read("/panel/pedidos/"+order).words(), "En pausa: se enviará")
	tried := v.post(path+"/probar", nil)
	require.Equal(t, http.StatusSeeOther, tried.Status)
	require.Contains(t, v.read(tried.Location).words(), "El envío de webhooks está en pausa. Los eventos se guardan")
}

// A webhook is changed, paused and resumed on its page; the form that was refused is shown again.
func TestWebhooks_changePauseAndResume(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		receiver := newFlakyReceiver(t, http.StatusOK)
		path, _ := v.registerAt(t, receiver.URL+"/hook", nil)

		changed := v.submit(path+"/cambiar", url.Values{"url": {receiver.URL + "/otro"}, "events": {"order.created", "order.delivered"}, "retry": {"true"}})
		for _, shown := range []string{receiver.URL + "/otro", "Su secreto es el mismo.", "Pedido entregado order.delivered", "con reintentos"} {
			require.Contains(t, changed.words(), shown)
		}
		refused := v.post(path+"/cambiar", url.Values{"url": {"http://tienda.example/"}, "events": {"order.created"}})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "La URL debe empezar con https://")

		require.Contains(t, v.submit(path+"/pausar", nil).words(), "En pausa desde el")
		require.Contains(t, v.read("/panel/webhooks").words(), "En pausa")
		create(t, s, tenant.Key, nil)
		settledAt(t, s, tenant, path, models.WebhookDeliveryPending, 1)
		require.Contains(t, v.submit(path+"/reanudar", nil).words(), "El webhook se reanudó")
		settledAt(t, s, tenant, path, models.WebhookDeliveryDelivered, 1)
		shown := v.read(path).words()
		require.Contains(t, shown, `Cuerpo enviado {"event":"order.created"`)
		require.Contains(t, shown, time.Now().In(tenant.Operator.TimeZone()).Format("02/01/2006")+" 1 0 0", "delivered, failed, pending")
	})
}
