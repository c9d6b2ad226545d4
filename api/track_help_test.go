package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// link is the recipient's link of an order, as the operator's API shows it; empty if there is none.
func (o outing) link() string {
	o.t.Helper()
	link, _ := o.send(http.MethodGet, "/orders/"+o.id, nil).Data["recipient_link"].(string)
	return strings.TrimPrefix(link, o.s.Config.BaseURL)
}

// open opens a link, ask sends the form of one.
func (o outing) open(link string) *apptest.Answer {
	o.t.Helper()
	return o.s.Do(o.t, apptest.Request{Method: http.MethodGet, Path: link})
}

func (o outing) ask(link string, values url.Values) *apptest.Answer {
	o.t.Helper()
	path, query, _ := strings.Cut(link, "?")
	key, err := url.ParseQuery(query)
	require.NoError(o.t, err)
	values.Set("k", key.Get("k"))
	return o.s.Do(o.t, apptest.Request{Method: http.MethodPost, Path: path, Raw: []byte(values.Encode()),
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}})
}

// By the link the recipient chooses a day, adds a reference and marks a point, once. The page has
// nothing that the page of the package does not have.
func TestRecipient_choosesOnce(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newOuting(t, s, fields{"delivery_reference": "Puerta azul", "notes": "Cuidado con el perro"})
		require.Empty(t, o.link(), "nothing is to be decided")
		o.move("attempt", fields{"reason": "absent", "note": "Vecina dice que viaja"})
		link := o.link()
		store := desk{t, s, o.tenant.SignIn(t, &o.tenant.StoreA)}
		require.Equal(t, s.Config.BaseURL+link, store.send(http.MethodGet, "/orders/"+o.id, nil).String("recipient_link"), "the store may send it, too")
		require.NotContains(t, o.read().Text, "recipient_link")

		page := o.open(link)
		require.Equal(t, http.StatusOK, page.Status, page.Text)
		require.Contains(t, page.Text, "Elige tu entrega")
		require.Contains(t, page.Text, "Fuimos a entregar tu pedido y no había nadie.")
		require.Contains(t, page.Header.Get("Content-Security-Policy"), "script-src 'sha256-")
		require.Equal(t, "no-referrer", page.Header.Get("Referrer-Policy"))
		require.Equal(t, "noindex", page.Header.Get("X-Robots-Tag"))
		for _, hidden := range []string{"Carlos", "Rosa", "Larco", "Miraflores", "987", "Puerta azul", "perro", "viaja", o.id} {
			require.NotContains(t, page.Text, hidden)
		}
		days := o.nextDays(7)
		require.Contains(t, page.Text, `value="`+days[5]+`"`)
		require.NotContains(t, page.Text, `value="`+days[6]+`"`)

		for _, wrong := range []url.Values{
			{}, {"on": {days[6]}}, {"on": {time.Now().AddDate(0, 0, -1).Format(time.DateOnly)}}, {"on": {days[0]}, "map": {"hola"}},
			{"on": {days[0]}, "lat": {"48.85"}, "lng": {"2.35"}}, {"on": {days[0]}, "lat": {"-12.1"}}, {"on": {days[0]}, "reference": {strings.Repeat("ñ", 201)}},
		} {
			answer := o.ask(link, wrong)
			require.Equal(t, http.StatusUnprocessableEntity, answer.Status, "%v: %s", wrong, answer.Text)
			require.Contains(t, answer.Text, "Revisa: ")
			require.NotContains(t, answer.Text, "Miraflores")
		}
		require.Equal(t, "attempt_failed", o.read().String("substatus"))

		done := o.ask(link, url.Values{"on": {days[1]}, "reference": {"Al lado de la botica"}, "map": {"https://www.google.com/maps?q=-12.1215,-77.0301"}})
		require.Equal(t, http.StatusOK, done.Status, done.Text)
		require.Contains(t, done.Text, "<h1>Iremos otra vez</h1>", "it leads to the page of the package")
		order := o.read()
		require.Equal(t, []any{"retry_planned", days[1], "Puerta azul\nAl lado de la botica", -12.1215, -77.0301},
			[]any{order.Data["substatus"], order.Data["next_attempt_on"], order.Data["delivery_reference"], order.Data["delivery_lat"], order.Data["delivery_lng"]})
		timeline := objects(t, o.send(http.MethodGet, "/orders/"+o.id, nil).Data["timeline"].([]any))
		last := timeline[len(timeline)-1]
		require.Equal(t, []any{"retry_planned", "recipient", days[1]}, []any{last["type"], last["by"], last["detail"]})

		for _, again := range []*apptest.Answer{o.ask(link, url.Values{"on": {days[2]}}), o.open(link)} {
			require.Equal(t, http.StatusGone, again.Status)
			require.Contains(t, again.Text, "<h1>Este enlace ya se usó</h1>")
			require.NotContains(t, again.Text, "<form")
		}
		require.Equal(t, days[1], o.read().String("next_attempt_on"))
		require.Empty(t, o.link())
	})
}

// Whoever decides first, the link is over; it opens nobody else's order, and no later attempt's.
func TestRecipient_linkIsOver(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newOuting(t, s)
		o.move("attempt", fields{"reason": "no_answer"})
		link, day := o.link(), o.nextDays(1)[0]
		other := outWithRider(t, o.desk, o.tenant)
		other.move("attempt", fields{"reason": "absent"})
		path, _, _ := strings.Cut(other.link(), "?")
		_, query, _ := strings.Cut(link, "?")
		for _, foreign := range []string{path + "?" + query, path, path + "?k=x", path + "?" + query[:len(query)-2]} {
			require.Equal(t, http.StatusNotFound, o.open(foreign).Status, foreign)
			require.Equal(t, http.StatusNotFound, o.ask(foreign, url.Values{"on": {day}}).Status, foreign)
		}
		require.Equal(t, http.StatusNotFound, o.open("/track/00000-000000/ayuda?"+query).Status)

		o.decide(o.tenant.KeyA, fields{"decision": "retry"})
		require.Contains(t, o.open(link).Text, "<h1>Este enlace ya se usó</h1>")
		o.move("attempt", fields{"reason": "no_answer"})
		require.Equal(t, http.StatusGone, o.ask(link, url.Values{"on": {day}}).Status, "it is of the attempt before")
		require.NotEqual(t, link, o.link())
		path, key, _ := strings.Cut(o.link(), "?k=")
		answers := inParallel(t, 6, func(i int) apptest.Request {
			body := url.Values{"k": {key}, "on": {o.nextDays(6)[i]}, "reference": {uuid.NewString()}}
			return apptest.Request{Method: http.MethodPost, Path: path, Raw: []byte(body.Encode()), Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}
		}, s)
		require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusGone: 5}, answers)

		other.tenant.Suspend(t)
		suspended := other.open(other.link())
		require.Equal(t, http.StatusGone, suspended.Status)
		require.Contains(t, suspended.Text, "Ahora no se puede cambiar la entrega")
		due := time.Now().Add(-time.Minute)
		row := o.tenant.Row(due.Add(-time.Hour), apptest.ReceivedAfter(time.Minute), func(row *models.Order) {
			substatus := models.SubstatusAwaitingDecision
			row.Substatus, row.DecisionDeadline = &substatus, &due
			row.Attempts = models.Attempts{{Number: 1, Reason: models.FailedAbsent, OccurredAt: due, RecordedAt: due}}
		})
		o.tenant.InsertRows(t, []models.Order{row})
		late := outing{o.desk, o.tenant, row.ID.String()}
		require.Contains(t, late.open(late.link()).Text, "<h1>Este enlace venció</h1>")
	})
}

// The page of the package tells of a failed attempt and of what comes next, and never its note, its
// photo or the rider.
func TestTrackPage_afterAFailedAttempt(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newOuting(t, s, fields{"amount_to_collect": 500})
		guide := o.read().String("guide_code")
		see := func(words ...string) {
			t.Helper()
			page := trackPage(t, s, guide, nil)
			requirePage(t, page, http.StatusOK)
			for _, word := range words {
				require.Contains(t, page.Text, word)
			}
			for _, hidden := range []string{"Carlos", "Rosa", "Larco", "viaja", "/files/", "Ana"} {
				require.NotContains(t, page.Text, hidden)
			}
		}
		require.NotContains(t, trackPage(t, s, guide, nil).Text, "PIN")
		o.change("/settings", fields{"rules": fields{"pin_over": 500}})
		see("Dile este PIN al motorizado al recibir:")
		require.Equal(t, http.StatusOK, o.attempt(map[string]string{"reason": "absent", "note": "Dicen que viaja"}).Status)
		see("<h1>No se pudo entregar</h1>", "Fuimos a entregar tu pedido y no había nadie.", "No se pudo entregar: no había nadie")
		o.move("decision", fields{"decision": "retry"})
		see("<h1>Iremos otra vez</h1>", "Volveremos el ", "Se intentará otra vez el ")
		o.move("receive", nil)
		see("<h1>Iremos otra vez</h1>", "El paquete volvió al operador")
		o.move("decision", fields{"decision": "return"})
		see("<h1>De vuelta a la tienda</h1>")
		require.NotContains(t, trackPage(t, s, guide, nil).Text, "Ten listo", "nothing is paid for a package that does not come")
		o.move("hand-back", fields{"note": "Ana"})
		see("<h1>Devuelto a la tienda</h1>", "Se devolvió a la tienda")

		tracked := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/track/" + guide})
		require.Len(t, tracked.Data, 7, "the JSON has what contract 2.4 lists")
		steps := objects(t, tracked.Data["events"].([]any))
		require.Equal(t, []any{"created", "received", "assigned", "attempt_failed", "retry_planned", "received", "returning", "returned"}, column(steps, "type"))
		require.Equal(t, []any{"Registrado", "Recibido", "En reparto", "No se pudo entregar", "Se intentará otra vez", "Recibido", "Vuelve a la tienda", "Devuelto a la tienda"},
			column(steps, "label"))
		for _, step := range steps {
			require.Len(t, step, 4)
		}
	})
}
