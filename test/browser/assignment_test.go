package browser

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// types presses keys so far apart, wherever the focus is, a while after what was typed before. The
// time of a key is part of it: it does not depend on how fast this machine is.
func (p *browserUser) types(text string, apart time.Duration) {
	p.t.Helper()
	at := time.Now().Add(time.Second)
	p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		for _, r := range text {
			at = at.Add(apart)
			keys := kb.Encode(r)
			// The character comes with the key, so that a page that takes the key takes the character.
			down, char, up := keys[0], keys[1], keys[2]
			down.Text, down.UnmodifiedText = char.Text, char.UnmodifiedText
			for _, key := range []*input.DispatchKeyEventParams{down, up} {
				key.Timestamp = input.TimeSinceEpoch(float64(at.UnixMicro()) / 1e6)
				if _, err := cdp.Call(ctx, target, input.DispatchKeyEvent, *key); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// How far the keys of a barcode reader are apart, those of one without a cable, and those of a
// person.
const readersKey, slowReadersKey, personsKey = 8 * time.Millisecond, 42 * time.Millisecond, 90 * time.Millisecond

// received creates an order whose package is received.
func received(t *testing.T, s *apptest.Service, tenant *apptest.Tenant, token string, changes ...map[string]any) (id, code string) {
	t.Helper()
	id = s.CreateOrder(t, tenant.KeyA, changes...)
	moved := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/receive", Token: token})
	require.Equal(t, http.StatusOK, moved.Status, moved.Text)
	return id, moved.String("guide_code")
}

func (p *browserUser) evaluate(expression string) string {
	p.t.Helper()
	return read(p.t, p.tab, chromedp.Evaluate[string]("String("+expression+")"))
}

// Wherever the focus is, a scan ticks its package and does nothing else.
func TestAssignment_aScanWhereverTheFocusIs(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		first, _ := received(t, s, tenant, token)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		for name, focus := range map[string]string{
			"nothing": "document.activeElement.blur()", "riders": "document.getElementById('rider_id').focus()", "a link": "document.querySelector('#assignable td a').focus()",
			"a district": "document.querySelector('#assignable .fold').focus()", "the button": "document.querySelector('.selection button').focus()",
			"a tick box": "document.querySelector('#order-" + first + " input').focus()", "the search": "document.getElementById('q').focus()",
		} {
			id, code := received(t, s, tenant, token)
			p.visit("/panel/asignacion")
			p.waitForText(code)
			p.press("#order-" + first + " input") // the riders are offered for what is ticked
			p.choose("#rider_id", tenant.Riders[1].Name)
			p.evaluate(focus)
			p.types(code+"\r", readersKey)
			p.waitForText("Marcado " + code)
			p.types(code+"\r", slowReadersKey)
			p.waitForText("Ya estaba marcado " + code)
			require.Equal(t, "true", p.evaluate("document.querySelector('#order-"+id+" input').checked"), name)
			require.Equal(t, tenant.Riders[1].ID.String(), p.evaluate("document.getElementById('rider_id').value"), name)
			require.Equal(t, ",", p.evaluate("document.getElementById('q').value + ',' + document.getElementById('codigo').value"), name)
			require.Equal(t, "/panel/asignacion", p.address(), name)
			p.waitForText("2 marcados")
		}
	})
}

// Whoever types in a field is not disturbed, and a rider is chosen by letters.
func TestAssignment_typingByHand(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		id, code := received(t, s, tenant, token)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/asignacion")
		p.waitForText(code)
		p.press("#order-" + id + " input")
		p.evaluate("document.getElementById('rider_id').focus()")
		p.types("mar", personsKey)
		require.Equal(t, tenant.Riders[1].ID.String(), p.evaluate("document.getElementById('rider_id').value"))
		p.do(chromedp.KeyEvent(kb.ArrowUp)) // opens the list
		p.until(func() error { return p.evaluates(`document.activeElement.matches("option")`) })
		p.do(chromedp.KeyEvent(kb.ArrowUp))
		p.types("\r", personsKey)
		p.until(func() error { return p.evaluates(`document.activeElement.id === "rider_id"`) })
		require.Equal(t, tenant.Riders[0].ID.String(), p.evaluate("document.getElementById('rider_id').value"))
		p.choose("#rider_id", tenant.Riders[1].Name)
		require.Equal(t, "/panel/asignacion", p.address())
		p.evaluate("document.getElementById('q').focus()")
		p.types(code, personsKey)
		require.Equal(t, code, p.evaluate("document.getElementById('q').value"))
		p.types("\r", personsKey)
		p.waitForText("Quitar filtros")
		require.Contains(t, p.address(), "q="+code)
		require.Equal(t, tenant.Riders[1].ID.String(), p.evaluate("document.getElementById('rider_id').value"), "the rider stays")

		p.visit("/panel/asignacion")
		p.waitForText(code)
		p.types(code+"\r", personsKey) // by hand, or by a slow reader
		p.waitForText("Marcado " + code)
	})
}

// A package that was received since the page was loaded, or that a filter leaves out, is ticked all
// the same; of another one the page says why it cannot be.
func TestAssignment_aScanOfWhatIsNotListed(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		received(t, s, tenant, token)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/asignacion?distrito=" + apptest.Miraflores.String())
		p.waitForText("Quitar filtros")
		_, elsewhere := received(t, s, tenant, token, map[string]any{"location_id": apptest.Surco, "amount_to_collect": 40})
		p.types(elsewhere+"\r", readersKey)
		p.waitForText("Marcado " + elsewhere)
		p.waitForText("1 marcado · S/\u00a040.00")
		waiting := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.KeyA, Body: apptest.Order()})
		p.types(waiting.String("guide_code")+"\r", readersKey)
		p.waitForText("Está registrado: recíbalo primero.")
		p.waitForText("1 marcado")

		p.pressNamed("a", "Quitar filtros")
		p.waitForText("1 marcado · S/\u00a040.00")
		require.Contains(t, p.text(), elsewhere)
		p.visit("/panel/pedidos")
		p.waitVisible("#board")
		p.do(chromedp.NavigateBack())
		p.waitForText("1 marcado · S/\u00a040.00")
	})
}

// Three districts go to one rider: a click for each of them, the rider, and a click.
func TestAssignment_threeDistrictsAtOnce(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		places := []uuid.UUID{apptest.Miraflores, apptest.Surco, apptest.SanJuan}
		for _, place := range places {
			for range 2 {
				received(t, s, tenant, token, map[string]any{"location_id": place, "amount_to_collect": 10})
			}
		}
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/asignacion")
		p.waitVisible("#assignable tbody:nth-of-type(4)")
		for i := range places {
			p.do(chromedp.Click(chromedp.CSS(fmt.Sprintf("#assignable tbody:nth-of-type(%d) [data-tick-group]", i+2)))) // the first are the ticked ones
		}
		p.waitForText("6 marcados · S/\u00a060.00")
		p.choose("#rider_id", tenant.Riders[0].Name)
		p.pressNamed("button", "Asignar")
		p.waitForText("Asignado: 6")
	})
}

// By keyboard alone: down to a district, close it, tick it, open and tick another one but for an
// order, choose the rider and send.
func TestAssignment_districtsByKeyboard(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		for _, place := range []uuid.UUID{apptest.Miraflores, apptest.Surco} {
			for range 2 {
				received(t, s, tenant, token, map[string]any{"location_id": place, "amount_to_collect": 10})
			}
		}
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/asignacion")
		p.waitVisible("#place-" + apptest.Surco.String())
		press := func(keys ...string) {
			for _, key := range keys {
				p.do(chromedp.KeyEvent(key))
			}
		}
		shown := `[...document.querySelectorAll("#assignable tr[data-guide]")].filter((row) => row.getClientRects().length).length`
		press(kb.ArrowDown, kb.Enter)
		p.until(func() error { return p.evaluates(shown + ` === 2`) })
		p.types("x", personsKey)
		p.waitForText("2 marcados · S/\u00a020.00 por cobrar")
		press(kb.ArrowDown)
		p.types("x", personsKey)
		p.waitForText("4 marcados")
		press(kb.ArrowDown, kb.ArrowDown)
		left := p.evaluate(`[...document.querySelectorAll("#assignable tr[data-guide]")].at(-1).id.replace("order-", "")`)
		p.waitForRow(left)
		p.types("x", personsKey)
		p.waitForText("3 marcados · S/\u00a030.00 por cobrar")
		p.choose("#rider_id", tenant.Riders[0].Name)
		p.evaluate(`document.querySelector(".selection button[type=submit]").focus()`)
		press(kb.Enter)
		p.waitForText("Asignado: 3")
		order := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/panel/api/orders/" + left, Token: token})
		require.Equal(t, "received", order.String("status"))
	})
}

// Where the orders are more than a page a district is opened without leaving it, a scan of an order
// of a closed one moves it among the ticked ones, and nothing is counted twice.
func TestAssignment_closedDistricts(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		rows := make([]models.Order, 203)
		for i := range rows {
			rows[i] = tenant.Row(time.Now().Add(-time.Duration(i+1)*time.Minute), apptest.ReceivedAfter(time.Second), func(o *models.Order) { o.AmountToCollect = 100 })
		}
		for i := range 3 {
			rows[i].LocationID = apptest.Surco
		}
		tenant.InsertRows(t, rows)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/asignacion")
		surco := "#place-" + apptest.Surco.String()
		p.waitVisible(surco)
		p.types(rows[0].GuideCode+"\r", readersKey)
		p.waitForText("Marcado " + rows[0].GuideCode)
		p.waitForText("1 marcado · S/\u00a01.00")
		p.do(chromedp.Click(chromedp.CSS(surco + " [data-tick-group]")))
		p.waitForText("3 marcados · S/\u00a03.00")
		p.types(rows[1].GuideCode+"\r", readersKey)
		p.waitForText("Ya estaba marcado " + rows[1].GuideCode + ", con su distrito")
		p.waitForText("3 marcados")
		p.do(chromedp.Click(chromedp.CSS(surco + " .fold")))
		p.waitVisible("#order-" + rows[1].ID.String())
		p.press("#order-" + rows[1].ID.String() + " input")
		p.waitForText("2 marcados · S/\u00a02.00")
		p.press("#place-" + apptest.Miraflores.String() + " [data-tick-group]")
		p.waitForText("202 marcados")
		p.press("[data-untick]")
		p.press(".all input")
		p.waitForText("Todos los 203")
	})
}

// A scan says what has become of a package since the page was loaded, and takes its tick away; one
// that is with a rider is ticked for another one by who wants that.
func TestAssignment_aScanOfWhatHasGone(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		move := func(id, name string, body map[string]any) {
			moved := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/" + name, Token: token, Body: body})
			require.Equal(t, http.StatusOK, moved.Status, moved.Text)
		}
		assigned, code := received(t, s, tenant, token)
		cancelled, gone := received(t, s, tenant, token)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/asignacion")
		p.waitForText(code)
		p.press("#order-" + assigned + " input")
		p.press("#order-" + cancelled + " input")
		p.waitForText("2 marcados")
		move(assigned, "assign", map[string]any{"rider_id": tenant.Riders[1].ID})
		move(cancelled, "cancel", map[string]any{"reason": "Cliente desistió"})
		p.types(gone+"\r", readersKey)
		p.waitForText("Lo canceló el operador")
		p.waitForText("1 marcado")
		p.types(code+"\r", readersKey)
		p.waitForText("Está en reparto con " + tenant.Riders[1].Name + " desde el")
		p.until(func() error { return p.evaluates(`document.querySelector("[data-ticked]").textContent === ""`) })
		p.pressNamed("button", "Marcarlo para reasignar")
		p.waitForText("Marcado " + code)
		p.types(code+"\r", readersKey)
		p.waitForText("Ya estaba marcado " + code)
		p.choose("#rider_id", tenant.Riders[0].Name)
		p.pressNamed("button", "Asignar")
		p.waitForText("Asignado: 1")
		order := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/panel/api/orders/" + assigned, Token: token})
		require.Equal(t, tenant.Riders[0].Name, order.Data["rider"].(map[string]any)["name"])
	})
}
