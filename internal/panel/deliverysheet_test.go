package panel_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// A rider's sheet has what the rider carries and nothing else, in the order of the districts, with
// what they come to.
func TestDeliverySheet(t *testing.T) {
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
		words := sheet.words()
		for _, text := range []string{
			"Operador de prueba", "Hoja de reparto: Carlos Quispe", "Paquetes 3", "Por cobrar S/ 1,250.00 y 1 por definir", "Rosa Díaz", "987 654 321",
			"Santiago de Surco Av. Larco 345 Ref. Frente al parque Nota: " + hostile, "Total de 3 paquetes S/ 1,250.00", "Firma de Carlos Quispe",
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
