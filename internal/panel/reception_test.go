package panel_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/guidecode"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// counter is an operator's reception desk: a client that scans, and the API to check the result.
type counter struct {
	*visitor
	s      *apptest.Service
	tenant *apptest.Tenant
	token  string
}

func counterOf(t testing.TB, s *apptest.Service, tenant *apptest.Tenant) *counter {
	t.Helper()
	return &counter{visitor: visit(t, s, tenant, nil), s: s, tenant: tenant, token: tenant.SignIn(t, nil)}
}

// parcel is an order that was not received yet.
type parcel struct{ id, code string }

func (c *counter) parcel(changes ...map[string]any) parcel {
	c.t.Helper()
	answer := c.s.Do(c.t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: c.tenant.KeyA, Body: apptest.Order(changes...)})
	require.Equal(c.t, http.StatusCreated, answer.Status, answer.Text)
	return parcel{answer.String("id"), answer.String("guide_code")}
}

// received is an order that was received.
func (c *counter) received(changes ...map[string]any) parcel {
	c.t.Helper()
	p := c.parcel(changes...)
	c.move(p, "receive", nil)
	return p
}

func (c *counter) move(p parcel, move string, body map[string]any) {
	c.t.Helper()
	if body == nil {
		body = map[string]any{}
	}
	answer := c.s.Do(c.t, apptest.Request{Method: "POST", Path: "/panel/api/orders/" + p.id + "/" + move, Token: c.token, Body: body})
	require.Equal(c.t, http.StatusOK, answer.Status, answer.Text)
}

func (c *counter) order(p parcel) *apptest.Answer {
	c.t.Helper()
	answer := c.s.Do(c.t, apptest.Request{Method: "GET", Path: "/panel/api/orders/" + p.id, Token: c.token})
	require.Equal(c.t, http.StatusOK, answer.Status, answer.Text)
	return answer
}

// scan is what a reader does: type and press Enter.
func (c *counter) scan(typed string, more ...string) *page {
	c.t.Helper()
	fields := url.Values{"codigo": {typed}}
	if len(more) > 0 {
		fields.Set("sucursal", more[0])
	}
	return c.post("/panel/recepcion", fields)
}

// hears is scan for a code that the page must answer for, with the outcome and these words.
func (c *counter) hears(typed, outcome string, words ...string) *page {
	c.t.Helper()
	answered := c.scan(typed)
	require.Equal(c.t, http.StatusOK, answered.Status, answered.Text)
	require.Contains(c.t, answered.Text, `data-outcome="`+outcome+`"`)
	for _, word := range words {
		require.Contains(c.t, answered.words(), word)
	}
	require.Regexp(c.t, `<input id="codigo"[^>]* value=""[^>]* autofocus`, answered.Text, "the field is ready for the next one")
	return answered
}

func TestReception_acceptsScannedAndTypedCodes(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		require.Contains(t, c.read("/panel/recepcion").words(), "Todavía no se recibió ningún paquete hoy.")
		for name, spell := range map[string]func(code string) string{
			"as printed":       func(code string) string { return code },
			"lower case":       strings.ToLower,
			"without hyphen":   func(code string) string { return strings.ReplaceAll(code, "-", "") },
			"with spaces":      func(code string) string { return "  " + code + " " },
			"Spanish layout":   func(code string) string { return strings.Replace(code, "-", "'", 1) },
			"other layout":     func(code string) string { return strings.Replace(code, "-", "/", 1) },
			"the label's QR":   func(code string) string { return s.BaseURL + "/track/" + code },
			"QR, bad layout":   func(code string) string { return "httpsÑ--x.example-track-" + strings.Replace(code, "-", "'", 1) },
			"QR, lower case":   func(code string) string { return strings.ToLower(s.BaseURL + "/TRACK/" + code) },
			"QR, trailing bar": func(code string) string { return s.BaseURL + "/track/" + code + "/" },
		} {
			p := c.parcel(map[string]any{"amount_to_collect": 89.9})
			c.hears(spell(p.code), "received", "Recibido", p.code, "Rosa Díaz", "Miraflores", "S/ 89.90", "Principal")
			require.Equal(t, "received", c.order(p).String("status"), name)
		}
		today := c.read("/panel/recepcion").words()
		require.Contains(t, today, "Recibidos hoy 10")
	})
}

func TestReception_explainsRejections(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		rider := map[string]any{"rider_id": c.tenant.Riders[0].ID}

		p := c.received()
		c.hears(p.code, "repeated", "Ya estaba recibido", "Se recibió el")
		c.move(p, "assign", rider)
		require.Equal(t, "refused", c.sendsAgain(p, "3600000"), "what was scanned before the rider got it takes nothing back")
		c.move(p, "deliver", nil)
		c.hears(p.code, "refused", "Ya se entregó el")

		cancelled := c.parcel()
		c.move(cancelled, "cancel", map[string]any{"reason": "Cliente desistió"})
		c.hears(cancelled.code, "refused", "Lo canceló el operador el", "«Cliente desistió»", "definitiva")
		require.Equal(t, "cancelled", c.order(cancelled).String("status"))

		misread := []byte(c.parcel().code)
		misread[0] = map[bool]byte{true: '3', false: '4'}[misread[0] == '4']
		c.hears(string(misread), "misread", "Código mal leído", "El dígito de control no coincide", string(misread))
		c.hears("7751234567890", "not_a_code", "No es un código de guía")
		c.hears("<script>alert(1)</script>", "not_a_code")
		c.hears("", "not_a_code")
	})
}

// Another operator's package is as unknown as a code that does not exist.
func TestReception_onlyOwnOrders(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		here, there := counterOf(t, s, s.NewTenant(t)), counterOf(t, s, s.NewTenant(t))
		theirs, nobodys := there.parcel(), guidecode.New()
		foreign := here.hears(theirs.code, "unknown", "Guía desconocida", "No es una guía de este operador.")
		unknown := here.hears(nobodys, "unknown")
		require.Equal(t, strings.ReplaceAll(unknown.Text, nobodys, theirs.code), foreign.Text)
		require.Equal(t, "registered", there.order(theirs).String("status"))
		require.NotContains(t, here.read("/panel/recepcion").Text, theirs.id)
	})
}

func TestReception_warnings(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		risky := c.parcel(map[string]any{"location_id": apptest.SanJuan, "delivery_address": "Huáscar, Paradero 10"})
		c.hears(risky.code, "received", "Zona de riesgo: Huáscar", "Sin punto en el mapa.")
		known := c.parcel(map[string]any{"delivery_lat": -12.12, "delivery_lng": -77.03})
		calm := c.hears(known.code, "received").words()
		require.NotContains(t, calm, "Zona de riesgo:")
		require.NotContains(t, calm, "Sin punto en el mapa.")
	})
}

func TestReception_remembersTheBranch(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		other := c.tenant.Other.ID.String()
		chosen := `<option value="` + other + `" selected>`
		require.NotContains(t, c.read("/panel/recepcion").Text, chosen)

		p := c.parcel()
		answered := c.scan(p.code, other)
		require.Contains(t, answered.words(), "Se esperaba en Principal.")
		require.Contains(t, answered.Text, chosen)
		require.Equal(t, other, c.order(p).String("branch_id"))
		require.Contains(t, c.read("/panel/recepcion").Text, chosen, "also after a break")

		stays := c.parcel()
		foreign := s.NewTenant(t).Main.ID.String()
		refused := c.scan(stays.code, foreign)
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "La sucursal no es una sucursal activa del operador")
		require.Contains(t, refused.Text, `value="`+stays.code+`"`, "to be sent again")
		require.Equal(t, "registered", c.order(stays).String("status"))
	})
}

// A package that arrives after the timer revives its order, and the page says so.
func TestReception_revives(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := apptest.Boot(t, databaseURL, apptest.Options{Configure: func(c *config.Config) { c.AutoCancelAfter = time.Second }})
		c := counterOf(t, s, s.NewTenant(t))
		p := c.parcel()
		poll.Until(t, func() error {
			if c.order(p).String("status") != "cancelled" {
				return errors.New("not cancelled yet")
			}
			return nil
		})
		c.hears(p.code, "revived", "Recibido y reactivado", "Estaba cancelado por falta de recepción: vuelve a estar en curso.")
		require.Equal(t, "received", c.order(p).String("status"))
		c.hears(p.code, "repeated")
		require.Equal(t, "revived", c.sendsAgain(p, "3600000"))
	})
}

// sendsAgain is scan for a code that was first sent so many milliseconds ago, without an answer. It
// returns the outcome.
func (c *counter) sendsAgain(p parcel, sentBefore string) string {
	c.t.Helper()
	answered := c.post("/panel/recepcion", url.Values{"codigo": {p.code}, "hace": {sentBefore}})
	require.Equal(c.t, http.StatusOK, answered.Status, answered.Text)
	_, rest, _ := strings.Cut(answered.Text, `data-outcome="`)
	outcome, _, _ := strings.Cut(rest, `"`)
	return outcome
}

// A scan that is sent again because its answer was lost is answered as the first time, with what
// the desk has to know; another user's reception and an earlier one are not taken for its own.
func TestReception_answersAgainWhatWasLost(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(time.Now())
		s := apptest.Boot(t, databaseURL, apptest.Options{Clock: now})
		tenant := s.NewTenant(t)
		c, colleague := counterOf(t, s, tenant), counterOf(t, s, tenant)
		p := c.parcel()
		require.Equal(t, "received", c.sendsAgain(p, "20000"), "the first one did not arrive")
		require.Equal(t, "received", c.sendsAgain(p, "20000"))
		for _, sentBefore := range []string{"", "0", "-20000", "x", "99999999999999999999"} {
			require.Equal(t, "repeated", c.sendsAgain(p, sentBefore), sentBefore)
		}
		require.Equal(t, "repeated", colleague.sendsAgain(p, "20000"))
		now.Advance(time.Hour)
		require.Equal(t, "repeated", c.sendsAgain(p, "20000"), "received long before")
	})
}

// A script gets what changed alone; the answer is the same.
func TestReception_scriptsGetOnlyTheChangedPart(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		p := c.parcel()
		request, err := http.NewRequest(http.MethodPost, s.BaseURL+"/panel/recepcion", strings.NewReader(url.Values{"codigo": {p.code}}.Encode()))
		require.NoError(t, err)
		for name, value := range map[string]string{
			"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin", "X-Fragment": "reception",
		} {
			request.Header.Set(name, value)
		}
		part := c.do(request)
		require.Equal(t, http.StatusOK, part.Status)
		require.Contains(t, part.Text, `data-outcome="received"`)
		require.Contains(t, part.Text, `id="reception-`+p.id+`"`)
		require.NotContains(t, part.Text, "<html")
		require.NotContains(t, part.Text, `id="codigo"`)
	})
}

// A package that its rider brings back is taken back by a scan, which says what it is and what was
// decided; where nobody has, the desk decides.
func TestReception_takesBackFromARider(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		rider := map[string]any{"rider_id": c.tenant.Riders[0].ID}
		out := func() parcel {
			p := c.received()
			c.move(p, "assign", rider)
			return p
		}
		untried := out()
		c.hears(untried.code, "taken_back", "De vuelta", "Vuelve de Carlos Quispe.")
		require.Equal(t, "received", c.order(untried).String("status"))
		c.hears(untried.code, "repeated", "Ya estaba recibido")
		require.Equal(t, "taken_back", c.sendsAgain(untried, "20000"), "its answer was lost")

		planned, returning, undecided := out(), out(), out()
		for _, p := range []parcel{planned, returning, undecided} {
			c.move(p, "attempt", map[string]any{"reason": "absent"})
		}
		c.move(planned, "decision", map[string]any{"decision": "retry"})
		c.move(returning, "decision", map[string]any{"decision": "return"})
		load := "/panel/recepcion?motorizado=" + c.tenant.Riders[0].ID.String()
		require.Contains(t, c.read(load).words(), "Falta de la carga de Carlos Quispe 3")
		c.hears(planned.code, "taken_back", "Intento 1: no había nadie · se intenta el ")
		c.hears(returning.code, "taken_back", "por devolver a Tienda A.")
		asked := c.hears(undecided.code, "taken_back", "falta decidir, hasta el ", "Devolver a la tienda")
		require.Contains(t, c.read(load).words(), "Carlos Quispe ya no tiene paquetes")
		form := asked.fieldsOf(t, "/panel/pedidos/"+undecided.id+"/decidir")
		form.Set("decision", "return")
		decided := c.submit("/panel/pedidos/"+undecided.id+"/decidir", form)
		require.Contains(t, decided.words(), "Decidido: por devolver a la tienda.")
		require.Contains(t, decided.Text, `id="scanner"`, "the desk goes on")
	})
}

// While nothing carries the orders on, the code is put back to be sent again.
func TestReception_keepsUnconfirmedCode(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.Timeouts.Move = time.Second }})
	c := counterOf(t, s, s.NewTenant(t))
	p := c.parcel()
	answered := c.scan(p.code)
	require.Equal(t, http.StatusServiceUnavailable, answered.Status)
	require.Contains(t, answered.words(), "Sin confirmar")
	require.Contains(t, answered.Text, `value="`+p.code+`"`)

	s.StartWorker(t)
	poll.Until(t, func() error {
		if again := c.scan(p.code); again.Status != http.StatusOK {
			return errors.New(again.words())
		}
		return nil
	})
	require.Equal(t, "received", c.order(p).String("status"))
}
