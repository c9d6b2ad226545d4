package browser

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

var errNotLocked = errors.New("the phone is not locked")

// A link is used once, on one phone, with a PIN that is typed twice; its token is gone from the
// address at once.
func TestRider_activation(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	s.add(&riderOrder{Name: "José Quispe", Address: "Av. Larco 345", District: "Miraflores"})
	p := s.openPhone(t)
	complaints := collectConsoleErrors(p.tab)
	p.visit("/reparto")
	p.waitForText("Abra aquí el enlace")
	token := s.link("R1")
	p.visit("/reparto?#" + token)
	p.waitForText("Active este celular")
	require.NoError(t, p.evaluates(`location.hash === "" && !document.documentElement.outerHTML.includes("`+token+`")`))
	p.fill("#pin", "12")
	p.pressNamed("button", "Activar")
	p.waitForText("de 4 a 8 números")
	p.fill("#pin", riderPIN)
	p.fill("#again", "4822")
	p.pressNamed("button", "Activar")
	p.waitForText("no son iguales")
	p.fill("#again", riderPIN)
	p.pressNamed("button", "Activar")
	p.waitForText("José Quispe")
	p.waitForText("Luis Mamani · Rayo Envíos")

	p.openTab()
	p.visit("/reparto")
	p.waitForText("José Quispe")
	other := s.openPhone(t)
	other.visit("/reparto#" + token)
	other.fill("#pin", riderPIN)
	other.fill("#again", riderPIN)
	other.pressNamed("button", "Activar")
	other.waitForText("El enlace ya se usó o venció")
	for _, complaint := range complaints() {
		require.Contains(t, complaint, "Failed to load resource", "the policy and the scripts agree")
	}
}

// The PIN is asked for when the rider locks the page and when the service asks for it; what waits
// to be sent waits on.
func TestRider_pin(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(2)
	s.add(stops...)
	p := s.openPhone(t)
	p.activate(s, "R1")
	p.waitForText("Cliente 02")
	s.change(func() {
		for _, phone := range s.phones {
			phone.locked = true
		}
	})
	p.deliver(stops[0].Name)
	p.waitForView("locked")
	p.waitForText("1 registro espera en este celular: no se pierde.")
	p.fill("#pin", "0000")
	p.pressNamed("button", "Entrar")
	p.waitForText("Le quedan 4 intentos")
	p.fill("#pin", riderPIN)
	p.pressNamed("button", "Entrar")
	p.waitForView("list")
	p.waitForActs(s, 1)

	p.net.down.Store(true)
	p.tap(".menu summary")
	p.pressNamed("button", "Bloquear con mi PIN")
	p.waitForView("locked")
	p.net.down.Store(false)
	p.visit("/reparto")
	p.waitForView("locked")
	require.NotContains(t, p.text(), "Cliente")
	p.until(func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, phone := range s.phones {
			if !phone.locked {
				return errNotLocked
			}
		}
		return nil
	})
}

// A phone whose access was taken away shows nothing of the day, and keeps what was not sent until
// its rider is back.
func TestRider_revoked(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(2)
	s.add(stops...)
	p := s.openPhone(t)
	p.activate(s, "R1")
	p.waitForText("Cliente 02")
	s.change(func() {
		for _, phone := range s.phones {
			phone.revoked = true
		}
	})
	p.deliver(stops[0].Name)
	p.waitForView("revoked")
	p.waitForText("Su operador retiró el acceso de este celular.")
	p.waitForText("1 registro espera")
	require.NotContains(t, p.text(), "Larco")
	require.Len(t, p.stored("acts"), 1)
	for _, kept := range p.stored("state") {
		require.NotContains(t, kept, "orders", "the addresses are gone")
	}
	p.activate(s, "R1")
	p.waitForActs(s, 1)
}

// What one rider did is never sent in the name of another who uses the same phone later.
func TestRider_anotherRiderOnThePhone(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(3)
	stops[2].Rider = "R2"
	s.add(stops...)
	p := s.openPhone(t)
	p.activate(s, "R1")
	p.waitForText("Cliente 02")
	busy := func(w http.ResponseWriter) {
		fail(w, http.StatusServiceUnavailable, "overloaded", "Hay demasiadas solicitudes.")
	}
	s.change(func() { s.answers = slices.Repeat([]func(http.ResponseWriter){busy}, 100) })
	p.deliver(stops[0].Name)
	p.waitForText("Por enviar: 1")
	p.net.loseActivation.Store(true)
	p.visit("/reparto#" + s.link("R2"))
	p.fill("#pin", riderPIN)
	p.fill("#again", riderPIN)
	p.pressNamed("button", "Activar")
	// The browser itself may have sent it again.
	p.until(func() error {
		_ = p.evaluates(`(document.querySelector("main form button")?.click(), true)`)
		return p.evaluates(`document.body.innerText.includes("El enlace ya se usó o venció")`)
	})
	p.waitForText("Cliente 02")
	p.activate(s, "R2")
	s.change(func() { s.answers = nil })
	p.waitForText("1 registro de otro motorizado en este celular")
	require.NotContains(t, p.text(), "Cliente 01")
	p.deliver(stops[2].Name)
	made := p.waitForActs(s, 1)
	require.Equal(t, stops[2].ID, made[0].Orders[0])
	p.activate(s, "R1")
	made = p.waitForActs(s, 2)
	require.Equal(t, "R1", made[1].Rider)
	require.Equal(t, stops[0].ID, made[1].Orders[0])
}
