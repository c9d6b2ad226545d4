package panel_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/panel/barcode"
	"despacho/test/apptest"
)

func labels(format string, ids ...string) string {
	return "/panel/etiquetas?" + url.Values{"id": ids, "formato": {format}}.Encode()
}

func TestLabel_ofManyOrders(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		hostile := `"><script>alert(1)</script>`
		paid := s.CreateOrder(t, tenant.KeyA, map[string]any{
			"recipient_name": hostile, "delivery_address": hostile, "delivery_reference": hostile, "product": hostile, "amount_to_collect": 89.9, "external_id": "N-" + hostile, "notes": hostile,
		})
		free := s.CreateOrder(t, tenant.Key)
		open := s.CreateOrder(t, tenant.KeyB, map[string]any{"payment_type": "cash_on_delivery"})
		v := visit(t, s, tenant, nil)
		shown := v.read(labels("a6", open, paid, free, paid))
		require.Equal(t, 3, strings.Count(shown.Text, `class="sheet"`), "each once")
		require.NotContains(t, shown.Text, "<script>alert")
		words := shown.words()
		for _, text := range []string{
			"3 etiquetas", "Operador de prueba", hostile, "+51987654321", "Ref. " + hostile, "Nota: " + hostile, "Miraflores, Lima", "Producto " + hostile, "Tamaño M", "Tienda Tienda A", "N.º de pedido de la tienda N-" + hostile,
			"COBRAR S/ 89.90", "NO COBRAR", "COBRAR S/ ________",
		} {
			require.Contains(t, words, text)
		}
		var last int
		for _, id := range []string{open, paid, free} {
			code := readOrder(t, s, tenant, id).String("guide_code")
			at := strings.Index(shown.Text, "Etiqueta de "+code)
			require.Greater(t, at, last, "in the order of the request")
			last = at
			bars, err := barcode.Code128(code)
			require.NoError(t, err)
			require.Contains(t, shown.Text, `d="`+bars.Path+`"`)
			square, err := barcode.QR(s.BaseURL + "/track/" + code)
			require.NoError(t, err)
			require.Contains(t, shown.Text, `d="`+square.Path+`"`)
		}
	})
}

func TestLabel_paper(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, &tenant.StoreA)
		id := s.CreateOrder(t, tenant.KeyA)
		for format, want := range map[string]struct{ sheet, size string }{
			"a6": {"label-a6.css", "105mm 148mm"}, "termica": {"label-termica.css", "100mm 150mm"}, "": {"label-a6.css", "105mm 148mm"}, "otro": {"label-a6.css", "105mm 148mm"},
		} {
			require.Contains(t, v.read(labels(format, id)).Text, "/panel/assets/"+want.sheet+"?v=")
			require.Contains(t, v.read("/panel/assets/"+want.sheet).Text, "@page { size: "+want.size)
		}
		require.Contains(t, v.read(labels("termica", id)).words(), "1 etiqueta ")
	})
}

func TestLabel_onlyVisibleOrders(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		own, other := s.CreateOrder(t, tenant.KeyA), s.CreateOrder(t, tenant.KeyB)
		v := visit(t, s, tenant, &tenant.StoreA)
		require.Equal(t, http.StatusOK, v.get(labels("a6", own)).Status)
		for name, ids := range map[string][]string{
			"another store's": {own, other}, "unknown": {own, uuid.NewString()}, "no id": {own, "1"},
		} {
			require.Equal(t, http.StatusNotFound, v.get(labels("a6", ids...)).Status, name)
		}
		require.Equal(t, http.StatusNotFound, visit(t, s, s.NewTenant(t), nil).get(labels("a6", own)).Status)

		v.read("/panel/pedidos?q=Quintanilla")
		require.Contains(t, v.read(labels("a6", own)).Text, `href="/panel/pedidos?q=Quintanilla"`)
		require.Equal(t, "/panel/pedidos?q=Quintanilla", v.get("/panel/etiquetas").Location)
		v.read("/panel/pedidos")
		none := v.get("/panel/etiquetas")
		require.Equal(t, "/panel/pedidos", none.Location)
		require.Contains(t, v.read(none.Location).words(), "Marque los pedidos cuyas etiquetas quiere imprimir.")
		var many []string
		for range 201 {
			many = append(many, uuid.NewString())
		}
		require.Contains(t, v.read(v.get(labels("a6", many...)).Location).words(), "Se imprimen 200 etiquetas como máximo")
	})
}
