package panel_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/internal/guidecode"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

func (c *counter) assign(rider uuid.UUID, ids ...string) *page {
	c.t.Helper()
	return c.post("/panel/asignacion", url.Values{"rider_id": {rider.String()}, "id": ids})
}

// assignmentOutcomes are those on the page, in its order.
func assignmentOutcomes(p *page) []string {
	var found []string
	for _, part := range strings.Split(p.Text, `data-outcome="`)[1:] {
		outcome, _, _ := strings.Cut(part, `"`)
		found = append(found, outcome)
	}
	return found
}

// isAssignable reports whether an order is on the list, isSelected whether its box is.
func isAssignable(p *page, order parcel) bool {
	return strings.Contains(p.Text, `id="order-`+order.id+`"`)
}

func isSelected(p *page, order parcel) bool {
	return regexp.MustCompile(`value="` + order.id + `:\d+" checked>`).MatchString(p.Text)
}

func TestAssignment_reportsTheOutcomeOfEachOrder(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		carlos, maria := c.tenant.Riders[0].ID, c.tenant.Riders[1].ID
		first, second, third := c.received(), c.received(), c.received()
		gone, theirs := c.received(), counterOf(t, s, s.NewTenant(t)).received()
		c.move(gone, "cancel", nil)

		board := c.read("/panel/asignacion")
		for _, order := range []parcel{first, second, third} {
			require.True(t, isAssignable(board, order))
		}
		require.False(t, isAssignable(board, gone))

		done := c.assign(carlos, first.id, second.id, gone.id, third.id, first.id)
		require.Equal(t, http.StatusOK, done.Status)
		require.Equal(t, []string{"refused", "assigned", "assigned", "assigned"}, assignmentOutcomes(done), "each once, what needs attention first")
		require.Contains(t, done.words(), "Asignación a Carlos Quispe")
		require.Contains(t, done.words(), "El pedido no se puede asignar porque su estado es Cancelado.")
		for _, order := range []parcel{first, second, third} {
			require.Equal(t, "assigned", c.order(order).String("status"))
			require.False(t, isAssignable(done, order), "it is not to be assigned any more")
		}

		onTheWay := c.read("/panel/asignacion?estado=assigned&motorizado=" + carlos.String())
		require.True(t, isAssignable(onTheWay, first))
		c.assign(maria, second.id)
		require.Equal(t, []string{"refused", "assigned", "unchanged"}, assignmentOutcomes(c.assign(maria, first.id, second.id, theirs.id)))
		require.Equal(t, "María Huamán", c.order(first).Data["rider"].(map[string]any)["name"])
		require.NotContains(t, c.assign(maria, theirs.id).Text, theirs.code, "another operator's order is not there")
	})
}

func TestAssignment_filtersAndSelects(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		near := c.received()
		far := c.received(map[string]any{"location_id": apptest.Surco, "recipient_name": "José Ñahui"})

		board := c.read("/panel/asignacion")
		require.Contains(t, board.words(), "Miraflores, Lima (1)")
		require.False(t, isSelected(board, near))
		for _, query := range []string{"distrito=" + apptest.Surco.String(), "q=nahui", "q=" + strings.ToLower(far.code)} {
			narrowed := c.read("/panel/asignacion?" + query)
			require.True(t, isAssignable(narrowed, far), query)
			require.False(t, isAssignable(narrowed, near), query)
		}
		require.False(t, isAssignable(c.read("/panel/asignacion?tienda="+c.tenant.StoreB.ID.String()), near))
		all := c.read("/panel/asignacion?todos=1")
		require.True(t, isSelected(all, near) && isSelected(all, far))
		require.Contains(t, c.read("/panel/asignacion?distrito="+apptest.SanJuan.String()).words(), "San Juan de Lurigancho, Lima (0)", "what is chosen is on offer")
	})
}

// What is ticked stays ticked when somebody searches for something else or scans, with the rider
// that was chosen. What has been moved meanwhile is named with the reason.
func TestAssignment_ticksSurviveFilters(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		rider := c.tenant.Riders[0].ID.String()
		near, far := c.received(), c.received(map[string]any{"location_id": apptest.Surco})
		gone, theirs := c.received(), counterOf(t, s, s.NewTenant(t)).received()
		c.move(gone, "assign", map[string]any{"rider_id": rider})
		list := func(parameters url.Values) *page { return c.read("/panel/asignacion?" + parameters.Encode()) }

		filtered := list(url.Values{
			"distrito": {apptest.Surco.String()}, "id": {near.id + ":2", gone.id + ":2", theirs.id, uuid.NewString(), "x"}, "rider_id": {rider},
		})
		require.True(t, isSelected(filtered, near))
		require.True(t, isAssignable(filtered, far) && !isSelected(filtered, far))
		require.Contains(t, filtered.words(), "Un pedido cambió y ya no está marcado: "+gone.code+" Está en reparto con Carlos Quispe")
		require.NotContains(t, filtered.Text, theirs.code)
		require.Contains(t, filtered.Text, `<option value="`+rider+`" selected>`)

		scanned := list(url.Values{"id": {near.id}, "codigo": {strings.ToLower(far.code)}})
		require.True(t, isSelected(scanned, near) && isSelected(scanned, far))
		require.Contains(t, scanned.words(), "Marcados 2")
		require.Equal(t, 1, strings.Count(scanned.Text, `id="order-`+far.id+`"`), "it is listed once")

		unassigned := c.post("/panel/asignacion?distrito="+apptest.Surco.String(), url.Values{"id": {near.id + ":2"}})
		require.True(t, isSelected(unassigned, near), "also when the form is refused")
	})
}

// A scan says why its package cannot be ticked. Another operator's package is as unknown as a code
// that does not exist.
func TestAssignment_answersScans(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c, there := counterOf(t, s, s.NewTenant(t)), counterOf(t, s, s.NewTenant(t))
		received, registered, assigned, delivered, cancelled := c.received(), c.parcel(), c.received(), c.received(), c.parcel()
		carlos := map[string]any{"rider_id": c.tenant.Riders[0].ID}
		c.move(assigned, "assign", carlos)
		c.move(delivered, "assign", carlos)
		c.move(delivered, "deliver", nil)
		c.move(cancelled, "cancel", map[string]any{"reason": "Cliente desistió"})
		scan := func(query, code string) *page {
			return c.getWith("/panel/asignacion?"+url.Values{"estado": {query}, "codigo": {code}}.Encode(), "X-Fragment", "scanned")
		}
		withCarlos := "Está en reparto con Carlos Quispe desde el " + time.Now().In(c.tenant.Operator.TimeZone()).Format("02/01/2006")
		for code, says := range map[string]string{
			s.BaseURL + "/track/" + received.code: "Marcado " + received.code,
			registered.code:                       "Está registrado: recíbalo primero. Recepción",
			assigned.code:                         withCarlos,
			delivered.code:                        "Ya se entregó el",
			cancelled.code:                        "Lo canceló el operador el",
			there.received().code:                 "Guía desconocida. No es una guía de este operador.",
			guidecode.New():                       "Guía desconocida. No es una guía de este operador.",
			"7751234567890":                       "No es un código de guía.",
		} {
			answer := scan("", code)
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
			require.Contains(t, answer.words(), says)
			require.Equal(t, says == "Marcado "+received.code, strings.Contains(answer.Text, "data-marked"))
			require.Equal(t, strings.Contains(says, received.code) || says == withCarlos, strings.Contains(answer.Text, "<tr"), "only what can be ticked comes with its row")
			require.NotContains(t, answer.Text, "<html")
		}
		require.Contains(t, scan("assigned", assigned.code).words(), "Marcado "+assigned.code)
		require.Contains(t, scan("assigned", received.code).words(), "Todavía no tiene motorizado: está en Por asignar.")
	})
}

func TestAssignment_requiresRiderAndOrders(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		p := c.received()
		rider := c.tenant.Riders[0].ID.String()
		for name, wrong := range map[string]struct {
			form url.Values
			says string
		}{
			"no rider":               {url.Values{"id": {p.id}}, "Es obligatorio."},
			"another's rider":        {url.Values{"id": {p.id}, "rider_id": {s.NewTenant(t).Riders[0].ID.String()}}, "No es un motorizado activo del operador."},
			"nothing selected":       {url.Values{"rider_id": {rider}}, "Marque al menos un pedido."},
			"no ids":                 {url.Values{"rider_id": {rider}, "id": {"x", ""}}, "Marque al menos un pedido."},
			"a group without orders": {url.Values{"rider_id": {rider}, "grupo": {apptest.Surco.String()}}, "Ninguno de los pedidos marcados está ya en esta lista"},
		} {
			refused := c.post("/panel/asignacion", wrong.form)
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status, name)
			require.Contains(t, refused.words(), wrong.says, name)
			require.Equal(t, wrong.form.Get("id") == p.id, isSelected(refused, p), "%s: the selection is kept", name)
		}
		require.Equal(t, "received", c.order(p).String("status"))
	})
}

// While nothing carries the orders on, those that may be tried again stay selected.
func TestAssignment_keepsUnconfirmedOrdersSelected(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{Configure: func(c *config.Config) { c.Timeouts.BulkMove = 2 * time.Second }})
	c := counterOf(t, s, s.NewTenant(t))
	waiting, gone := c.received(), c.received()
	c.move(gone, "cancel", nil)
	s.StopWorker()
	answered := c.assign(c.tenant.Riders[0].ID, waiting.id, gone.id)
	require.Equal(t, http.StatusOK, answered.Status)
	require.Equal(t, []string{"unconfirmed", "refused"}, assignmentOutcomes(answered))
	require.True(t, isSelected(answered, waiting))
	require.Contains(t, answered.words(), "Sin confirmar: 1")
}

// What another dispatcher has assigned since the page was shown is not overwritten.
func TestAssignment_leavesWhatChangedSinceThePage(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		carlos, maria := c.tenant.Riders[0].ID, c.tenant.Riders[1].ID
		order := c.received()
		version := order.id + ":2"
		require.Contains(t, c.read("/panel/asignacion").Text, `name="id" value="`+version+`"`)
		require.Contains(t, c.read("/panel/pedidos/"+order.id).Text, `name="expected_version" value="2"`)
		assign := func(rider uuid.UUID) []string {
			return assignmentOutcomes(c.post("/panel/asignacion", url.Values{"rider_id": {rider.String()}, "id": {version}}))
		}
		require.Equal(t, []string{"assigned"}, assign(carlos))
		require.Equal(t, []string{"refused"}, assign(maria))
		require.Equal(t, []string{"unchanged"}, assign(carlos))
		shown := c.post("/panel/pedidos/"+order.id+"/asignar", url.Values{"rider_id": {maria.String()}, "expected_version": {"2"}})
		require.Contains(t, shown.words(), "El pedido cambió desde que usted lo vio. Ahora su estado es En reparto, con "+c.tenant.Riders[0].Name+".")
		require.Contains(t, shown.Text, `name="expected_version" value="3"`, "whoever has read it can send the form again")
		require.Contains(t, shown.Text, `<option value="`+maria.String()+`" selected>`)
	})
}
