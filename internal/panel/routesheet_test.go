package panel_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// A rider's sheet has what the rider carries and nothing else, in the order of the districts, with
// what they come to.
func TestRouteSheet(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		carlos, maria := c.tenant.Riders[0].ID, c.tenant.Riders[1].ID
		hostile := `"><script>alert(1)</script>`
		surco := c.received(map[string]any{"location_id": apptest.Surco, "amount_to_collect": 1250, "notes": hostile, "delivery_reference": "Frente al parque"})
		near := c.received(map[string]any{"payment_type": "cash_on_delivery"})
		free, waiting, others := c.received(), c.received(), c.received()
		c.assign(carlos, surco.id, near.id, free.id)
		c.assign(maria, others.id)

		sheet := c.read("/panel/hoja?motorizado=" + carlos.String())
		words := plainSpaces.Replace(sheet.words())
		for _, text := range []string{
			"Operador de prueba", "Hoja de ruta: Carlos Quispe", "Por entregar 3 paquetes", "Por cobrar S/ 1,250.00 y 1 por definir", "Rosa Díaz", "987 654 321",
			"Miraflores, Lima 2 paquetes", "Santiago de Surco, Lima 1 paquete S/ 1,250.00", "Av. Larco 345 Ref. Frente al parque Nota: " + hostile,
			"COBRAR S/ 1,250.00", "COBRAR S/ ________", "NO COBRAR", "Total de 3 paquetes S/ 1,250.00", "Firma de Carlos Quispe",
		} {
			require.Contains(t, words, text)
		}
		require.NotContains(t, sheet.Text, "<script>alert")
		require.Less(t, strings.Index(sheet.Text, near.code), strings.Index(sheet.Text, surco.code), "Miraflores, then Santiago de Surco")
		for _, other := range []parcel{waiting, others} {
			require.NotContains(t, sheet.Text, other.code)
		}
		link := `href="/panel/hoja?motorizado=` + carlos.String() + `"`
		require.Contains(t, c.read("/panel/asignacion?estado=assigned&motorizado="+carlos.String()).Text, link)
		require.Contains(t, c.read("/panel/motorizados").Text, link)

		for _, unknown := range []string{uuid.NewString(), "x", s.NewTenant(t).Riders[0].ID.String()} {
			require.Equal(t, http.StatusNotFound, c.get("/panel/hoja?motorizado="+unknown).Status, unknown)
		}
		require.Equal(t, "/panel/asignacion?estado=assigned", c.get("/panel/hoja").Location)
	})
}

// The sheet of a day has what the rider delivered then, and what they have had since; what goes
// back to its store or is for another day is no stop.
func TestRouteSheet_ofADay(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		carlos := tenant.Riders[0]
		now := time.Now()
		day := func(back int) string {
			return now.AddDate(0, 0, -back).In(tenant.Operator.TimeZone()).Format(time.DateOnly)
		}
		returning, planned, next := models.SubstatusReturning, models.SubstatusRetryPlanned, day(-2)
		out := func(back int, traits ...func(*models.Order)) models.Order {
			traits = append([]func(*models.Order){apptest.ReceivedAfter(0), apptest.AssignedAfter(carlos, 0)}, traits...)
			return tenant.Row(now.AddDate(0, 0, -back), traits...)
		}
		rows := []models.Order{
			out(0), out(2), tenant.Row(now, apptest.ReceivedAfter(0), apptest.DeliveredAfter(carlos, 0)),
			tenant.Row(now.AddDate(0, 0, -2), apptest.ReceivedAfter(0), apptest.DeliveredAfter(carlos, 0)),
			out(2, func(o *models.Order) { o.Substatus = &returning }), out(2, func(o *models.Order) { o.Substatus, o.NextAttemptOn = &planned, &next }),
			tenant.Row(now.AddDate(0, 0, -2), apptest.ReceivedAfter(0), apptest.DeliveredAfter(tenant.Riders[1], 0)),
		}
		tenant.InsertRows(t, rows)
		v := visit(t, s, tenant, nil)
		sheet := "/panel/hoja?motorizado=" + carlos.ID.String()
		listed := func(p *page) (found []int) {
			for i, row := range rows {
				if strings.Contains(p.Text, row.GuideCode) {
					found = append(found, i)
				}
			}
			return found
		}
		today := v.read(sheet)
		require.Equal(t, []int{0, 1, 2, 4, 5}, listed(today))
		require.Contains(t, today.words(), "Por entregar 2 paquetes")
		require.Contains(t, today.words(), "Por devolver a sus tiendas "+rows[4].GuideCode)
		require.Contains(t, today.words(), "Para otro día "+rows[5].GuideCode)
		require.NotContains(t, today.words(), "no está.")
		past := v.read(sheet + "&dia=" + day(2))
		require.Equal(t, []int{1, 3, 4, 5}, listed(past))
		require.Contains(t, past.words(), "tiene lo que Carlos Quispe entregó ese día y lo que lleva desde entonces. Lo que se reasignó, volvió o se canceló después no está.")
		for _, wrong := range []string{day(-1), "ayer", "2026-13-40"} {
			require.Equal(t, []int{0, 1, 2, 4, 5}, listed(v.read(sheet+"&dia="+wrong)), wrong)
		}
	})
}

// The messages to the rider have every stop once, none of them has a long address, and each says
// which stops it has.
func TestRouteSheet_messages(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		carlos := tenant.Riders[0]
		v := visit(t, s, tenant, nil)
		path := "/panel/hoja?motorizado=" + carlos.ID.String()
		require.NotContains(t, v.read(path).Text, "wa.me", "there is nothing to send")
		note := strings.Repeat("Tocar el timbre del vecino. ", 20)
		rows := make([]models.Order, 40)
		for i := range rows {
			rows[i] = tenant.Row(time.Now().Add(-time.Duration(i)*time.Minute), apptest.ReceivedAfter(0), apptest.AssignedAfter(carlos, 0), func(o *models.Order) {
				o.RecipientName, o.DeliveryAddress, o.AmountToCollect = "Íñigo Ñahui", fmt.Sprintf("Jr. Ayacucho %03d", i), 4550
				if i == 0 {
					o.Notes = &note
				}
			})
		}
		tenant.InsertRows(t, rows[:1])
		link := regexp.MustCompile(`href="(https://wa\.me/[^"]+)" target="_blank" rel="noreferrer noopener">([^<]+)<`)
		texts := func() (texts, labels []string) {
			for _, found := range link.FindAllStringSubmatch(v.read(path).Text, -1) {
				address, err := url.Parse(html.UnescapeString(found[1]))
				require.NoError(t, err)
				require.LessOrEqual(t, len(address.String()), 4000)
				require.Equal(t, "/"+strings.TrimPrefix(carlos.Phone, "+"), address.Path)
				texts, labels = append(texts, plainSpaces.Replace(address.Query().Get("text"))), append(labels, found[2])
			}
			return texts, labels
		}
		one, labels := texts()
		require.Equal(t, []string{"Enviar por WhatsApp"}, labels)
		for _, says := range []string{
			"*Hoja de ruta " + time.Now().In(tenant.Operator.TimeZone()).Format("02/01/2006") + "*", "1 paquete, por cobrar S/ 45.50", "*Miraflores, Lima*",
			"1. " + rows[0].GuideCode + "\nÍñigo Ñahui " + rows[0].RecipientPhone + "\nJr. Ayacucho 000\nNota: Tocar el timbre", "…\n*COBRAR S/ 45.50*",
		} {
			require.Contains(t, one[0], says)
		}
		tenant.InsertRows(t, rows[1:])
		many, labels := texts()
		require.Greater(t, len(many), 1)
		require.True(t, strings.HasSuffix(many[0], fmt.Sprintf("Mensaje 1 de %d: paradas 1 a %s de 40.", len(many), strings.TrimPrefix(labels[0], "Enviar por WhatsApp: 1 a "))), many[0])
		for _, row := range rows {
			require.Equal(t, 1, strings.Count(strings.Join(many, ""), row.GuideCode))
		}
		require.Contains(t, v.read(path).words(), "No cabe en un mensaje")
	})
}
