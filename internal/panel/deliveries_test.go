package panel_test

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
	"despacho/test/poll"
)

var resendPath = regexp.MustCompile(`/panel/envios/[0-9a-f-]{36}/reenviar`)

func TestDeliveries_shownAndResentFromTheOrder(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		var healthy atomic.Bool
		receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			if !healthy.Load() {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = w.Write([]byte("<script>roto</script>"))
			}
		})
		hook, _ := s.Register(t, tenant.Key, receiver)
		id := s.CreateOrder(t, tenant.KeyA)
		path := "/panel/pedidos/" + id
		v := visit(t, s, tenant, nil)
		var shown *page
		poll.Until(t, func() error {
			if shown = v.read(path); !strings.Contains(shown.words(), "Fallido") {
				return errors.New("not sent yet")
			}
			return nil
		})
		host := strings.TrimPrefix(receiver.URL, "https://")
		require.Contains(t, shown.words(), "Fallido Pedido creado order.created "+host)
		require.Regexp(t, `500 \d\d/\d\d/\d{4} \d\d:\d\d:\d\d · \d+ ms · Automático`, shown.words())
		require.NotContains(t, shown.Text, "<script>roto", "what a receiver says is text")
		require.Equal(t, "/panel/webhooks/"+hook, shown.links()[host])

		resend := resendPath.FindString(shown.Text)
		require.NotEmpty(t, resend)
		back := url.Values{"volver": {path}}
		require.Contains(t, v.submit(resend, back).words(), "Evento reenviado, pero el receptor respondió 500.")
		healthy.Store(true)
		again := v.post(resend, back)
		require.Equal(t, path, again.Location)
		after := v.read(again.Location).words()
		require.Contains(t, after, "Evento reenviado: el receptor respondió 200.")
		require.Contains(t, after, "· Reenvío")
		require.Len(t, receiver.Events(), 3)
		require.Equal(t, "/panel/hoy", v.post(resend, url.Values{"volver": {"https://otro.example/panel/"}}).Location, "no way out of the panel")

		store := visit(t, s, tenant, &tenant.StoreA)
		require.NotContains(t, store.read(path).words(), host, "the operator's webhook is none of a store's business")
		require.Equal(t, http.StatusNotFound, store.post(resend, back).Status)
		require.Equal(t, http.StatusNotFound, v.post("/panel/envios/x/reenviar", back).Status)
		require.Contains(t, v.post("/panel/envios/"+uuid.NewString()+"/reenviar", back).words(), "La entrega no existe.")

		s.Do(t, apptest.Request{Method: http.MethodDelete, Path: "/v1/webhooks/" + hook, Key: tenant.Key})
		require.NotContains(t, v.read(path).Text, resend, "nobody listens there any more")
	})
}
