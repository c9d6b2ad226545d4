package browser

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// What is collected is prefilled; it may come in more than one way, with a number where the
// operator asks for one, and what the rules require is asked for before anything is kept.
func TestRider_payments(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(2)
	s.add(stops...)
	stops[0].Amount, stops[1].PIN = 120, "654321"
	s.rule("needs_reference", "yape", true)
	s.rule("needs_received_by", "", true)
	p := s.openPhone(t)
	p.standAt(-12.12, -77.03)
	p.activate(s, "R1")
	p.waitForText("COBRAR S/\u00a0120.00")
	p.tap("[aria-label='Entregar a Cliente 01']")
	p.waitForView("deliver")
	p.waitForText("Ubicación lista (± 12 m)")
	amount := "#pay-" + stops[0].ID + "-"
	require.NoError(t, p.evaluates(`document.querySelector("`+amount+`0").value === "120.00"`))
	p.fill(amount+"0", "50")
	p.waitForText("Faltan S/\u00a070.00")
	p.pressNamed("button", "Otra forma de pago")
	require.NoError(t, p.evaluates(`document.querySelector("`+amount+`1").value === "70.00"`))
	p.tap(".deed button")
	p.waitForText("Escriba el número de operación de Yape.")
	p.waitForText("Escriba quién recibió.")
	p.fill(amount+"1-ref", "00812345")
	p.pressNamed("button", "El destinatario")
	p.tap(".deed button")
	first := p.waitForActs(s, 1)[0]
	require.Equal(t, []map[string]any{{"method": "cash", "amount": 50.0}, {"method": "yape", "amount": 70.0, "reference": "00812345"}},
		first.Collections[stops[0].ID])
	require.Equal(t, "Cliente 01", first.ReceivedBy)
	require.InDelta(t, -12.12, *first.Lat, 1e-9)
	require.InDelta(t, -77.03, *first.Lng, 1e-9)
	p.waitForView("list")
	p.waitForText("Efectivo S/\u00a050.00 · Yape S/\u00a070.00")

	p.tap("[aria-label='Entregar a Cliente 02']")
	p.waitForView("deliver")
	p.pressNamed("button", "El destinatario")
	p.tap(".deed button")
	p.waitForText("Escriba el PIN de 6 números")
	p.fill("#pin", "654321")
	p.tap(".deed button")
	require.Equal(t, "654321", p.waitForActs(s, 2)[1].PIN)
}

// Packages for one door are handed over in one act, with the money of each and one PIN.
func TestRider_severalAtOneDoor(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(5)
	for i, stop := range stops[:3] {
		stop.Name, stop.Address, stop.District, stop.Amount = "Edificio Sol", "Jr. Unión 200", "Lima", float64(10*(i+1))
	}
	stops[3].PIN, stops[4].PIN = "111111", "222222"
	s.add(stops...)
	p := s.openPhone(t)
	p.activate(s, "R1")
	p.waitForText("Edificio Sol")
	p.tap("[aria-label='Entregar a Edificio Sol']")
	p.waitForView("deliver")
	p.pressNamed("button", "Agregar 2 paquetes más para esta puerta")
	p.waitForText("Cobrado en total S/\u00a060.00")
	p.tap(".chip input[value=yape]")
	p.waitUntil(`document.querySelectorAll(".chip input[value=yape]:checked").length === 3`)
	p.tap(".deed button")
	made := p.waitForActs(s, 1)
	require.Len(t, made[0].Orders, 3)
	for _, stop := range stops[:3] {
		require.Equal(t, []map[string]any{{"method": "yape", "amount": stop.Amount}}, made[0].Collections[stop.ID])
	}

	p.waitForView("list")
	p.tap("[aria-label='Entregar a Cliente 04']")
	p.waitForView("deliver")
	p.pressNamed("button", "Elegir otros paquetes")
	p.tap(".picker input[value='" + stops[4].ID + "']")
	p.pressNamed(".picker button", "Listo")
	p.fill("#pin", "222222")
	p.tap(".deed button")
	made = p.waitForActs(s, 2)
	require.Equal(t, "222222", made[1].PIN, "whoever opens has one of the PINs")
	require.Len(t, made[1].Orders, 2)
}

// What the operator requires of a failed attempt is asked for after the reason was tapped.
func TestRider_whatAReasonNeeds(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(1)
	s.add(stops...)
	s.rule("needs_photo", "absent", true)
	p := s.openPhone(t)
	p.activate(s, "R1")
	p.tap("[aria-label='No se pudo: Cliente 01']")
	p.waitForView("fail")
	p.tap(".reason[value=absent]")
	p.waitForText("Para «Ausente» se necesita una foto.")
	photo, _ := writeLargePhoto(t)
	p.choosePhoto(photo)
	p.tap(".deed button")
	made := p.waitForActs(s, 1)
	shown, err := jpeg.DecodeConfig(bytes.NewReader(made[0].Photo))
	require.NoError(t, err)
	require.Equal(t, 1600, shown.Height)
}

// What was typed and photographed is there again when the page's process was ended.
func TestRider_aDraftOutlivesTheTab(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(2)
	stops[0].Amount = 80
	s.add(stops...)
	p := s.openPhone(t)
	p.activate(s, "R1")
	p.waitForText("Cliente 02")
	p.waitUntil(`navigator.serviceWorker.ready.then(() => true)`)
	p.tap("[aria-label='Entregar a Cliente 01']")
	p.waitForView("deliver")
	photo, _ := writeLargePhoto(t)
	p.choosePhoto(photo)
	p.fill("#received", "El portero")
	p.tap(".chip input[value=card]")
	p.until(func() error {
		kept := p.stored("drafts")
		for _, draft := range kept {
			if draft["receivedBy"] == "El portero" {
				return nil
			}
		}
		return p.evaluates("false")
	})
	p.net.down.Store(true)
	p.killTab()
	p.visit("/reparto")
	p.waitForText("Quedó a medias: entrega a Cliente 01")
	p.pressNamed("button", "Seguir")
	p.waitVisible(".photo img")
	require.NoError(t, p.evaluates(`document.querySelector("#received").value === "El portero"`))
	require.NoError(t, p.evaluates(`document.querySelector(".chip input[value=card]").checked`))
	p.net.down.Store(false)
	p.tap(".deed button")
	made := p.waitForActs(s, 1)
	require.NotEmpty(t, made[0].Photo)
	require.Equal(t, "card", made[0].Collections[stops[0].ID][0]["method"])
	p.waitForView("list")
	require.NotContains(t, p.text(), "Quedó a medias")
}

// The list is by district until the rider arranges it, and stays as it was arranged on this phone.
func TestRider_arrangement(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	s.add(stopsOf(4)...)
	p := s.openPhone(t)
	p.activate(s, "R1")
	p.waitForText("Cliente 04")
	shown := func() []string {
		return read(t, p.tab, chromedp.Evaluate[[]string](
			`[...document.querySelectorAll(".stop h3, .moving strong")].map((e) => e.textContent)`))
	}
	require.Equal(t, []string{"Cliente 03", "Cliente 01", "Cliente 04", "Cliente 02"}, shown(), "Barranco, Miraflores, Surquillo")
	p.tap(".menu summary")
	p.pressNamed("button", "Ordenar mis paradas")
	p.tap("[aria-label='Subir: Cliente 02']")
	p.until(func() error { return p.evaluates(`document.activeElement.ariaLabel === "Subir: Cliente 02"`) })
	p.waitUntil(`document.querySelector(".moving:nth-of-type(3) strong").textContent === "Cliente 02"`)
	p.tap("[aria-label='1.º: poner primero a Cliente 04']")
	want := []string{"Cliente 04", "Cliente 03", "Cliente 01", "Cliente 02"}
	p.waitUntil(`document.querySelector(".moving strong").textContent === "Cliente 04"`)
	require.Equal(t, want, shown())
	p.pressNamed("button", "Listo")
	p.visit("/reparto")
	p.waitForText("Cliente 04")
	require.Equal(t, want, shown())
	s.add(&riderOrder{Name: "Cliente 05", District: "Barranco", Address: "Av. Larco 1"})
	p.visit("/reparto")
	p.waitForText("Cliente 05")
	require.Equal(t, []string{"Cliente 04", "Cliente 03", "Cliente 05", "Cliente 01", "Cliente 02"}, shown(), "after those of its district")
}

// A stop can be called, written to and driven to.
func TestRider_waysToACustomer(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(2)
	lat, lng := -12.1211, -77.0297
	stops[0].Lat, stops[0].Lng, stops[0].Amount = &lat, &lng, 45.5
	s.add(stops...)
	p := s.openPhone(t)
	p.activate(s, "R1")
	p.waitForText("Cliente 02")
	links := func(name string) []string {
		p.tap("[aria-label='Mapa de " + name + "']")
		return read(t, p.tab, chromedp.Evaluate[[]string](fmt.Sprintf(
			`[...document.querySelector("[aria-label='Mapa de %s']").closest(".stop").querySelectorAll("a")].map((a) => a.href)`, name)))
	}
	require.Equal(t, []string{
		"tel:+51987000000",
		"https://wa.me/51987000000?text=Hola%20Cliente%2001%2C%20llego%20con%20su%20pedido%20" + stops[0].Guide +
			".%20Monto%3A%20S%2F%C2%A045.50.%20Rayo%20Env%C3%ADos",
		"https://www.google.com/maps/dir/?api=1&destination=-12.1211,-77.0297",
		"https://waze.com/ul?ll=-12.1211,-77.0297&navigate=yes", "geo:-12.1211,-77.0297?q=-12.1211,-77.0297",
	}, links("Cliente 01"))
	require.Contains(t, links("Cliente 02"), "https://www.google.com/maps/search/?api=1&query=Av.%20Larco%20101%2C%20Surquillo")
}
