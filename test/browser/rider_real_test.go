package browser

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// The page and the service agree: a day of a rider on the whole service, over a network that is
// gone and then loses answers.
func TestRider_onTheService(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		send := func(method, path string, body map[string]any) *apptest.Answer {
			answer := s.Do(t, apptest.Request{Method: method, Path: "/panel/api/orders/" + path, Token: token, Body: body})
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
			return answer
		}
		var ids, guides []string
		for i, amount := range []float64{120, 0, 0, 45} {
			id := s.CreateOrder(t, tenant.KeyA, map[string]any{"recipient_name": fmt.Sprintf("Cliente %02d", i+1), "amount_to_collect": amount})
			send(http.MethodPost, id+"/receive", map[string]any{})
			assigned := send(http.MethodPost, id+"/assign", map[string]any{"rider_id": tenant.Riders[0].ID})
			ids, guides = append(ids, id), append(guides, assigned.String("guide_code"))
		}
		address, err := url.Parse(s.BaseURL)
		require.NoError(t, err)
		root, err := browser()
		tab := open(t, phoneWidth)
		require.NoError(t, err)
		p := newRider(t, root, tab, newNetwork(t, httputil.NewSingleHostReverseProxy(address)))
		complaints := collectConsoleErrors(p.tab)
		p.standAt(-12.12, -77.03)
		p.activateWith(tenant.RiderLink(t, tenant.Riders[0].ID))
		p.waitForText("Cliente 04")

		p.pressNamed("button", "Tomar la carga")
		p.waitForView("load")
		for _, guide := range guides[:3] {
			p.fill("#code", guide+"\r")
		}
		p.waitForText("Confirmar carga (3 de 4)")
		p.pressNamed(".deed button", "Confirmar")
		p.pressNamed("dialog button", "Confirmar")
		p.waitForText("Falta 1: Cliente 04")
		p.pressNamed("button", "Entendido")

		p.waitUntil(`navigator.serviceWorker.ready.then(() => true)`)
		p.net.down.Store(true)
		photo, _ := writeLargePhoto(t)
		p.tap("[aria-label='Entregar a Cliente 01']")
		p.waitForView("deliver")
		p.choosePhoto(photo)
		p.tap(".deed button")
		p.waitForView("list")
		p.failed("Cliente 02", "absent")
		p.deliver("Cliente 03")
		p.waitForText("Por enviar: 3")
		send(http.MethodPost, ids[2]+"/assign", map[string]any{"rider_id": tenant.Riders[1].ID})
		p.net.lose.Store(2)
		p.net.down.Store(false)
		require.NoError(t, p.evaluates(`window.dispatchEvent(new Event("online"))`))
		p.waitForText("el pedido pasó a otro motorizado")
		p.waitUntil(`!document.body.innerText.includes("Por enviar")`)

		delivered := send(http.MethodGet, ids[0], nil)
		require.Equal(t, "delivered", delivered.String("status"))
		require.InDelta(t, 120, delivered.Data["actual_amount_collected"], 0)
		require.Len(t, delivered.Data["collections"], 1)
		require.NotNil(t, delivered.Data["delivery_proof"])
		failed := send(http.MethodGet, ids[1], nil)
		require.Equal(t, "assigned", failed.String("status"))
		require.Len(t, failed.Data["attempts"], 1)
		require.Equal(t, "assigned", send(http.MethodGet, ids[2], nil).String("status"))

		// Nothing was collected, and that is said.
		p.tap("[aria-label='Entregar a Cliente 04']")
		p.waitForView("deliver")
		p.fill("#pay-"+ids[3]+"-0", "0")
		p.tap(".deed button")
		p.until(func() error {
			if status := send(http.MethodGet, ids[3], nil).String("status"); status != "delivered" {
				return fmt.Errorf("the order is %s; the page says %s", status, p.text())
			}
			return nil
		})
		tenant.RevokePhone(t, tenant.Riders[0].ID)
		p.visit("/reparto")
		p.waitForView("revoked")
		for _, complaint := range complaints() {
			require.Contains(t, complaint, "Failed to load resource")
		}
	})
}
