package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// seedDay makes a day as riders have it: money, notes, long texts, attempts and what is done.
func seedDay(s *street) []*riderOrder {
	lat, lng := -12.1211, -77.0297
	stops := []*riderOrder{
		{Name: "José Quispe", Phone: "+51987654321", Address: "Av. José Larco 345, dpto. 201", District: "Miraflores",
			Reference: "Frente al parque Kennedy", Notes: "Tocar el intercomunicador dos veces", Amount: 1250.5, Lat: &lat, Lng: &lng},
		{Name: "Ana Lucía Paredes", Phone: "+51912345678", Address: "Av. José Larco 345, dpto. 201", District: "Miraflores",
			Amount: 89.9},
		{Name: "María Fernanda Huamán de la Torre Ugarte", Phone: "+51955555555", District: "Santiago de Surco", PIN: "123456",
			Address:   "Urbanización Los Precursores, manzana C, lote 14, segundo piso, puerta verde",
			Reference: "Pasando el grifo, a la altura del mercado"},
		{Name: "Pedro Salazar", Phone: "+51911111111", Address: "Jr. Unión 200", District: "Barranco", Amount: 45},
		{Name: "Lucía Rojas", Phone: "+51922222222", Address: "Calle Lima 12", District: "Barranco", Amount: 60},
		{Name: "Carmen Flores", Phone: "+51933333333", Address: "Calle Berlín 7", District: "Miraflores", Returning: true},
	}
	s.add(stops...)
	return stops
}

// Every screen, in every window: axe-core finds nothing wrong, nothing is wider than the window,
// and words stay whole.
func TestRider_everyScreen(t *testing.T) {
	axe := axeCore(t)
	for _, w := range windows() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := newStreet(t)
			stops := seedDay(s)
			s.rule("needs_photo", "absent", true)
			s.rule("needs_reference", "yape", true)
			p := s.openPhone(t)
			p.do(w.emulate())
			v := &visitor{browserUser: p.browserUser, window: w, axe: axe}
			look := func(name string) {
				t.Helper()
				p.requireNoOverflow()
				// What stays in sight while a page is scrolled covers a part of it.
				read(t, p.tab, chromedp.Evaluate[bool](`(() => {
					for (const bar of document.querySelectorAll(".deed, .top, .state")) bar.style.position = "static";
					return true; })()`))
				v.look("rider", "/"+name)
			}
			p.visit("/reparto")
			p.waitForView("none")
			look("enlace")
			p.visit("/reparto#" + s.link("R1"))
			p.waitForView("activate")
			look("activar")
			p.activate(s, "R1")
			p.waitForText("José Quispe")
			p.deliver(stops[4].Name)
			p.failed(stops[3].Name, "no_answer")
			p.waitForActs(s, 2)
			p.waitForText("Intento 1")
			p.waitUntil(`!document.querySelector(".toast") && !document.querySelector(".sending")`)
			p.tap(".folded summary")
			p.tap("[aria-label='Mapa de José Quispe']")
			look("lista")
			p.tap(".menu summary")
			look("menu")
			p.pressNamed("button", "Ordenar mis paradas")
			look("ordenar")
			p.pressNamed("button", "Listo")

			p.tap("[aria-label='Entregar a José Quispe']")
			p.waitForView("deliver")
			p.pressNamed("button", "Elegir otros paquetes")
			p.waitVisible(".picker")
			look("elegir")
			p.tap(fmt.Sprintf(".picker input[value=%q]", stops[2].ID))
			p.pressNamed(".picker button", "Listo")
			p.pressNamed("button", "Otra forma de pago")
			photo, _ := writeLargePhoto(t)
			p.choosePhoto(photo)
			p.tap(".deed button")
			p.waitForText("Escriba el PIN de 6 números")
			look("entregar")
			p.tap("[aria-label='Volver a la lista']")
			p.waitForView("list")
			look("a-medias")
			p.tap("[aria-label='No se pudo: Ana Lucía Paredes']")
			p.waitForView("fail")
			p.tap(".reason[value=absent]")
			p.waitForText("se necesita una foto")
			look("no-se-pudo")
			p.tap("[aria-label='Volver a la lista']")
			p.waitForView("list")

			p.tap(".menu summary")
			p.pressNamed("button", "Tomar la carga")
			p.waitForView("load")
			p.fill("#code", stops[0].Guide+"\r")
			p.waitForText("Leídos")
			p.fill("#code", "ZZZZZ-ZZZZZ9\r")
			p.waitForText("No están en su lista")
			look("carga")
			p.pressNamed(".deed button", "Confirmar")
			p.waitVisible("dialog")
			look("pregunta")
			p.pressNamed("dialog button", "Confirmar")
			p.waitForText("Carga confirmada")
			look("diferencias")
			p.net.down.Store(true)
			p.deliver(stops[2+1].Name)
			p.waitForText("Sin conexión")
			look("sin-conexion")
			p.tap(".sending")
			p.waitForView("outbox")
			look("por-enviar")
			p.tap("[aria-label='Volver a la lista']")
			p.waitForView("list")
			p.tap(".menu summary")
			p.pressNamed("button", "Bloquear con mi PIN")
			p.waitForView("locked")
			look("pin")
			require.NoError(t, p.evaluates(`document.querySelectorAll("input").length === 1`))
		})
	}
}
