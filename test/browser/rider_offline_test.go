package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// stopsOf are packages for so many doors.
func stopsOf(count int) []*riderOrder {
	stops := make([]*riderOrder, count)
	for i := range stops {
		stops[i] = &riderOrder{
			Name: fmt.Sprintf("Cliente %02d", i+1), Address: fmt.Sprintf("Av. Larco %d", 100+i),
			Phone:    fmt.Sprintf("+519870000%02d", i),
			District: []string{"Miraflores", "Surquillo", "Barranco"}[i%3], Reference: "Frente al parque",
		}
	}
	return stops
}

func idsOf(acts []riderAct) []string {
	ids := make([]string, len(acts))
	for i, act := range acts {
		ids[i] = act.Orders[0]
	}
	return ids
}

// A day without a network: what was done is kept with its photos, survives the end of the page's
// process, and reaches the service once, in order, with its true time, over a network that loses
// answers.
func TestRider_aDayWithoutANetwork(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(20)
	s.add(stops...)
	stops[4].Amount = 120
	p := s.openPhone(t)
	p.standAt(-12.12, -77.03)
	p.activate(s, "R1")
	p.waitForText("Cliente 20")
	p.waitUntil(`navigator.serviceWorker.ready.then(() => true)`)
	photo, _ := writeLargePhoto(t)
	began := time.Now()

	p.net.down.Store(true)
	want := make([]string, 0, len(stops))
	outcome := func(i int) {
		stop := stops[i]
		want = append(want, stop.ID)
		if i%4 == 3 {
			p.failed(stop.Name, "absent")
			return
		}
		p.tap(fmt.Sprintf("[aria-label=%q]", "Entregar a "+stop.Name))
		p.waitForView("deliver")
		p.choosePhoto(photo)
		p.tap(".deed button")
		p.waitForView("list")
	}
	for i := range 10 {
		outcome(i)
	}
	p.waitForText("Por enviar: 10")
	p.waitForText("Sin conexión")
	p.killTab()
	p.standAt(-12.12, -77.03)
	p.visit("/reparto")
	p.waitForText("Por enviar: 10")
	for i := 10; i < 20; i++ {
		outcome(i)
	}
	p.waitForText("Por enviar: 20")
	p.waitForText("incluye S/\u00a0120.00 por enviar")
	require.Empty(t, s.made())

	ended := time.Now()
	p.net.lose.Store(3)
	p.net.down.Store(false)
	p.tap(".sending")
	p.waitForView("outbox")
	p.tap(".main.wide")
	made := p.waitForActs(s, len(stops))
	p.waitForText("Todo está enviado")
	require.Equal(t, want, idsOf(made), "in the order in which it was done")
	repeated := 0
	last := began.Add(-time.Second)
	for i, act := range made {
		at, err := time.Parse(time.RFC3339, act.OccurredAt)
		require.NoError(t, err)
		require.True(t, at.After(last) && at.Before(ended), "the time of act %d is that of the tap: %s", i, act.OccurredAt)
		last = at
		require.NotNil(t, act.Lat, "act %d", i)
		repeated += act.Sent - 1
		if i%4 == 3 {
			require.Equal(t, "attempt_failed", act.Type)
			continue
		}
		require.Equal(t, "delivered", act.Type)
		shown, err := jpeg.DecodeConfig(bytes.NewReader(act.Photo))
		require.NoError(t, err)
		require.Equal(t, image.Pt(1067, 1600), image.Pt(shown.Width, shown.Height), "small and upright")
	}
	require.Equal(t, 3, repeated, "what got no answer was sent again, and made once")
	require.InDelta(t, 120, made[4].Collections[stops[4].ID][0]["amount"], 0)
}

// What the service answers for good is shown in its words until the rider has read it; what it
// finds wrong can be corrected with everything that was typed and photographed.
func TestRider_refusedAndRejected(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(3)
	s.add(stops...)
	p := s.openPhone(t)
	p.activate(s, "R1")
	p.waitForText("Cliente 03")
	s.change(func() { stops[0].Cancelled = true })
	p.deliver(stops[0].Name)
	p.waitForText("La tienda canceló este pedido. Devuelva el paquete en la sucursal.")
	p.tap("[aria-label='No se registró'] button")
	p.waitUntil(`!document.body.innerText.includes("canceló")`)

	photo, _ := writeLargePhoto(t)
	p.tap("[aria-label='No se pudo: Cliente 02']")
	p.waitForView("fail")
	p.choosePhoto(photo)
	p.tap(".reason[value=other]")
	p.waitForText("Falta la nota de «Otro».")
	p.tap("[aria-label='Falta corregir'] .main")
	p.waitForView("fail")
	p.waitVisible(".photo img")
	p.fill("#note", "La calle está cerrada")
	p.tap(".deed button")
	made := p.waitForActs(s, 2)
	require.Equal(t, "La calle está cerrada", made[1].Note)
	require.NotEmpty(t, made[1].Photo)
}

// The service may fail in every way: nothing is lost, and nothing waits for one act for ever.
func TestRider_aServiceInTrouble(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(4)
	s.add(stops...)
	p := s.openPhone(t)
	p.activate(s, "R1")
	p.waitForText("Cliente 04")
	s.change(func() {
		s.answers = []func(http.ResponseWriter){
			func(w http.ResponseWriter) {
				fail(w, http.StatusServiceUnavailable, "overloaded", "Hay demasiadas solicitudes.")
			},
			func(w http.ResponseWriter) {
				w.WriteHeader(http.StatusOK)
				_, _ = w.Write([]byte("<html>Acepte las condiciones</html>"))
			},
			func(w http.ResponseWriter) { reply(w, http.StatusOK, map[string]any{"data": map[string]any{}}) },
			func(w http.ResponseWriter) { fail(w, http.StatusInternalServerError, "internal", "Algo falló.") },
		}
	})
	p.deliver(stops[0].Name)
	p.deliver(stops[1].Name)
	p.until(func() error {
		_ = p.evaluates(`window.dispatchEvent(new Event("online"))`)
		if left := len(s.made()); left < 2 {
			return fmt.Errorf("%d acts; the page says %s", left, p.text())
		}
		return nil
	})
	require.Equal(t, []string{stops[0].ID, stops[1].ID}, idsOf(s.made()))
	for _, act := range s.made() {
		require.Equal(t, 1, act.Sent)
	}
}

// Two tabs of a phone send everything once.
func TestRider_twoTabs(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(6)
	s.add(stops...)
	p := s.openPhone(t)
	p.activate(s, "R1")
	p.waitForText("Cliente 06")
	p.net.down.Store(true)
	for _, stop := range stops[:4] {
		p.deliver(stop.Name)
	}
	first := p.browserUser
	p.waitUntil(`navigator.serviceWorker.ready.then(() => true)`)
	p.openTab()
	p.visit("/reparto")
	p.waitForText("Por enviar: 4")
	p.deliver(stops[4].Name)
	first.waitForText("Por enviar: 5")
	p.net.down.Store(false)
	for _, tab := range []*browserUser{first, p.browserUser} {
		require.NoError(t, tab.evaluates(`window.dispatchEvent(new Event("online"))`))
	}
	made := p.waitForActs(s, 5)
	p.waitUntil(`!document.body.innerText.includes("Por enviar")`)
	first.until(func() error { return first.evaluates(`!document.body.innerText.includes("Por enviar")`) })
	for _, act := range made {
		require.Equal(t, 1, act.Sent)
	}
}

// What was done offline can be undone for as long as it was not sent, and a mistake costs nothing.
func TestRider_undo(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(2)
	s.add(stops...)
	p := s.openPhone(t)
	p.activate(s, "R1")
	p.waitForText("Cliente 02")
	p.failed(stops[0].Name, "absent")
	p.tap(".toast button")
	p.waitForView("fail")
	p.waitForText("¿Por qué no se pudo?")
	p.tap(".reason[value=refused]")
	made := p.waitForActs(s, 1)
	require.Equal(t, "refused", made[0].Reason)
}

// stored is what the page keeps in its own database.
func (p *riderUser) stored(store string) []map[string]any {
	p.t.Helper()
	text := read(p.t, p.tab, chromedp.Evaluate[string](fmt.Sprintf(`new Promise((resolve, reject) => {
		const request = indexedDB.open("reparto");
		request.onsuccess = () => {
			const all = request.result.transaction(%q).objectStore(%q).getAll();
			all.onsuccess = () => { request.result.close(); resolve(JSON.stringify(all.result)); };
			all.onerror = reject;
		};
		request.onerror = reject;
	})`, store, store), chromedp.EvalAwaitPromise))
	var rows []map[string]any
	require.NoError(p.t, json.Unmarshal([]byte(text), &rows))
	return slices.DeleteFunc(rows, func(row map[string]any) bool { return row == nil })
}
