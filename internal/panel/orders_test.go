package panel_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/money"
	"despacho/models"
	"despacho/test/apptest"
)

var boardRow = regexp.MustCompile(`<tr id="order-([0-9a-f-]{36})"[ >]`)

// rows are the ids of the orders on a board, as they follow one another.
func (p *page) rows() []string {
	var ids []string
	for _, match := range boardRow.FindAllStringSubmatch(p.Text, -1) {
		ids = append(ids, match[1])
	}
	return ids
}

var boardTab = regexp.MustCompile(`>([^<>]+) <span class="count">([\d\x{202f}]+)</span></a>`)

// tabs are the counts over a board by their labels.
func (p *page) tabs() map[string]string {
	tabs := map[string]string{}
	_, board, _ := strings.Cut(p.Text, `id="board"`)
	for _, match := range boardTab.FindAllStringSubmatch(board, -1) {
		tabs[match[1]] = match[2]
	}
	return tabs
}

var dayField = regexp.MustCompile(`<input id="(?:desde|hasta)" [^>]*value="([^"]*)"`)

// days are the first and the last day in the fields of a filter.
func (p *page) days() []string {
	var days []string
	for _, match := range dayField.FindAllStringSubmatch(p.Text, -1) {
		days = append(days, match[1])
	}
	return days
}

// create makes an order through the API and returns its id and guide code.
func create(t *testing.T, s *apptest.Service, key string, changes map[string]any) (id, code string) {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: key, Body: apptest.Order(changes)})
	require.Equal(t, http.StatusCreated, answer.Status, answer.Text)
	return answer.String("id"), answer.String("guide_code")
}

func TestBoard_search(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		wanted, code := create(t, s, tenant.KeyA, map[string]any{
			"recipient_name": "María José Ñahui", "recipient_phone": "987111222", "delivery_address": "Jr. Áncash 1250, 2.º piso",
			"external_id": "2026-000-117/B",
		})
		create(t, s, tenant.KeyA, map[string]any{"recipient_name": "Pedro Paredes", "recipient_phone": "987333444", "delivery_address": "Calle Tacna 77"})
		landline, _ := create(t, s, tenant.KeyA, map[string]any{"recipient_name": "Oficina", "recipient_phone": "(01) 444-5555", "delivery_address": "Calle Piura 5", "external_id": "A-0001"})
		bare := strings.ReplaceAll(code, "-", "")
		v := visit(t, s, tenant, nil)
		for name, typed := range map[string]string{
			"the recipient":               "María José Ñahui",
			"without accents":             "maria jose nahui",
			"in another order":            "NAHUI maría",
			"the beginning of a name":     "ñah",
			"the phone":                   "987111222",
			"the phone spaced":            "987 111 222",
			"the phone with its country":  "+51 987 111 222",
			"the end of the phone":        "111222",
			"the address":                 "ancash 1250",
			"the floor":                   "2.º piso",
			"recipient and address":       "nahui ancash",
			"the store's number":          "2026-000-117",
			"as it is written":            "2026-000-117/B",
			"the store's number, spaced":  "2026 000 117",
			"the beginning of the code":   bare[:8],
			"the end of the code":         bare[3:],
			"with letters for its digits": strings.NewReplacer("0", "o", "1", "l").Replace(bare[:10]),
			"the phone from abroad":       "0051 987 111 222",
			"letters of double width":     "ｍａｒíａ ｊｏｓé",
			"digits of double width":      "９８７１１１２２２",
		} {
			require.Equal(t, []string{wanted}, v.read("/panel/pedidos?q="+url.QueryEscape(typed)).rows(), "%s: %q", name, typed)
		}
		for name, typed := range map[string]string{
			"the guide code": code, "in lower case": strings.ToLower(code), "without its hyphen": strings.ReplaceAll(code, "-", ""),
			"with spaces":             " " + strings.ReplaceAll(code, "-", " ") + " ",
			"with letters for digits": strings.NewReplacer("0", "o", "1", "l").Replace(code), "the tracking address": s.Config.BaseURL + "/track/" + code,
		} {
			require.Equal(t, "/panel/pedidos/"+wanted, v.get("/panel/pedidos?estado=delivered&q="+url.QueryEscape(typed)).Location, name)
			require.Empty(t, visit(t, s, s.NewTenant(t), nil).read("/panel/pedidos?q="+url.QueryEscape(typed)).rows(), "another operator's")
		}
		for _, typed := range []string{"a0001", "A-0001", "A 0001", "(01) 444-5555", "014445555", "4445555"} {
			require.Equal(t, []string{landline}, v.read("/panel/pedidos?q="+url.QueryEscape(typed)).rows(), typed)
		}
		for name, typed := range map[string]string{
			"words of two orders": "nahui tacna", "a code that is no one's": "ZZZZZ-ZZZZZZ", "a quote": "' UNION SELECT --",
		} {
			found := v.read("/panel/pedidos?q=" + url.QueryEscape(typed))
			require.Empty(t, found.rows(), name)
			require.Contains(t, found.words(), "Ningún pedido cumple con el filtro.")
		}
		require.Len(t, v.read("/panel/pedidos?q=++").rows(), 3, "nothing was typed")
		long := strings.Join(strings.Split("abcdefghijklmnopqrstu", ""), " ")
		for _, list := range []string{"/panel/pedidos", "/panel/asignacion"} {
			for typed, complaint := range map[string]string{
				"%": "Escriba letras o números.", "_________": "Escriba letras o números.", "-'/": "Escriba letras o números.", `\`: "Escriba letras o números.",
				"😀": "Escriba letras o números.", long: "La búsqueda admite como máximo 20 palabras.",
			} {
				query := "?q=" + url.QueryEscape(typed) + "&tienda=" + tenant.StoreA.ID.String()
				refused := v.get(list + query)
				require.Equal(t, http.StatusBadRequest, refused.Status, typed)
				require.Empty(t, refused.rows(), typed)
				require.Contains(t, refused.Text, `aria-invalid="true" aria-describedby="q-about"><p class="hint" id="q-about"><strong>`+complaint+`</strong>`, typed)
				require.Contains(t, refused.Text, `value="`+html.EscapeString(typed)+`"`, "what was typed is kept")
				require.Contains(t, refused.Text, `<option value="`+tenant.StoreA.ID.String()+`" selected>`, "and so are the filters")
				require.NotContains(t, refused.words(), "Ningún pedido cumple con el filtro.")
				require.Equal(t, http.StatusBadRequest, v.get("/panel/pedidos.csv"+query).Status, "a file has no field to say it at")
			}
		}
		require.Contains(t, v.read("/panel/pedidos?q=%22%3E%3Cscript%3E").Text, `value="&#34;&gt;&lt;script&gt;"`, "what was typed is shown as it was")
	})
}

func TestBoard_filtersAndCountsByStatus(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		lima := func(day, hour, minute int) time.Time {
			return time.Date(2026, time.March, day, hour, minute, 0, 0, tenant.Operator.TimeZone())
		}
		ofB := func(o *models.Order) { o.StoreID = &tenant.StoreB.ID }
		lat, lng := -12.12, -77.03
		registered := tenant.Row(lima(9, 23, 59))
		received := tenant.Row(lima(9, 0, 0), apptest.ReceivedAfter(time.Hour), ofB)
		assigned := tenant.Row(lima(8, 23, 59), apptest.ReceivedAfter(time.Hour), func(o *models.Order) {
			o.Status, o.RiderID, o.DeliveryLat, o.DeliveryLng = models.StatusAssigned, &tenant.Riders[1].ID, &lat, &lng
		})
		delivered := tenant.Row(lima(8, 12, 0), apptest.ReceivedAfter(time.Hour), apptest.DeliveredAfter(tenant.Riders[0], time.Hour))
		cancelled := tenant.Row(lima(7, 12, 0), apptest.CancelledBy(models.ByOperator, "Duplicado"), ofB, func(o *models.Order) { o.RiderID = &tenant.Riders[0].ID })
		tenant.InsertRows(t, []models.Order{cancelled, registered, delivered, received, assigned})
		ids := func(rows ...models.Order) []string {
			var ids []string
			for _, row := range rows {
				ids = append(ids, row.ID.String())
			}
			return ids
		}
		v := visit(t, s, tenant, nil)
		storeB, carlos := "tienda="+tenant.StoreB.ID.String(), "motorizado="+tenant.Riders[0].ID.String()
		for query, rows := range map[string][]models.Order{
			"":                                  {registered, received, assigned, delivered, cancelled},
			"estado=received":                   {received},
			"estado=nada":                       {registered, received, assigned, delivered, cancelled},
			storeB:                              {received, cancelled},
			storeB + "&estado=cancelled":        {cancelled},
			"tienda=otra-cosa":                  {registered, received, assigned, delivered, cancelled},
			carlos:                              {delivered, cancelled},
			"desde=2026-03-09":                  {registered, received},
			"hasta=2026-03-08":                  {assigned, delivered, cancelled},
			"desde=2026-03-08&hasta=2026-03-08": {assigned, delivered},
			"desde=2026-03-09&hasta=2026-03-08": {registered, received, assigned, delivered},
			"desde=ayer":                        {registered, received, assigned, delivered, cancelled},
			"sin_punto=1":                       {registered, received},
			"sin_punto=1&" + storeB:             {received},
		} {
			require.Equal(t, ids(rows...), v.read("/panel/pedidos?"+query).rows(), query)
		}

		swapped := v.read("/panel/pedidos?desde=2026-03-09&hasta=2026-03-08")
		require.Equal(t, []string{"2026-03-08", "2026-03-09"}, swapped.days())
		require.Contains(t, swapped.Text, `href="/panel/pedidos.csv?desde=2026-03-08&amp;hasta=2026-03-09"`)
		require.Equal(t, "4", swapped.tabs()["Todos"])
		halfTyped := v.read("/panel/pedidos?desde=0026-03-10&hasta=2026-02-31")
		require.Equal(t, []string{"", ""}, halfTyped.days(), "no filter is shown that is not applied")
		require.Contains(t, halfTyped.Text, `href="/panel/pedidos.csv"`)
		require.Contains(t, halfTyped.Text, `min="2000-01-01" max="2100-12-31"`)

		all := v.read("/panel/pedidos")
		require.Equal(t, map[string]string{"Todos": "5", "Registrado": "1", "Recibido": "1", "En reparto": "1", "Entregado": "1", "Cancelado": "1"}, all.tabs())
		require.Contains(t, all.words(), "Sin punto en el mapa 2")
		require.Equal(t, 1, strings.Count(all.Text, `title="María Huamán">`))
		require.Equal(t, 1, strings.Count(all.Text, `title="Carlos Quispe">`), "a cancelled order is nobody's to carry")
		narrowed := v.read("/panel/pedidos?estado=received&" + storeB)
		require.Equal(t, map[string]string{"Todos": "2", "Registrado": "0", "Recibido": "1", "En reparto": "0", "Entregado": "0", "Cancelado": "1"}, narrowed.tabs(), "counts are under the same filter")
		require.Contains(t, narrowed.Text, `name="tienda" class="chosen"`, "a filter that is on is in sight")
		require.NotContains(t, v.read("/panel/pedidos?q=rosa").Text, `name="tienda" class="chosen"`)

		shop := visit(t, s, tenant, &tenant.StoreB)
		require.Equal(t, ids(received, cancelled), shop.read("/panel/pedidos").rows(), "a store sees its own")
		require.Empty(t, shop.read("/panel/pedidos?tienda="+tenant.StoreA.ID.String()).rows(), "and no other's by asking for it")
		require.Equal(t, "2", shop.read("/panel/pedidos").tabs()["Todos"])
		require.Contains(t, shop.read("/panel/pedidos").words(), "Sin punto en el mapa 1")
		require.NotContains(t, shop.read("/panel/pedidos").words(), "Tienda A")
		require.Empty(t, visit(t, s, s.NewTenant(t), nil).read("/panel/pedidos").rows(), "nor does another operator")
	})
}

// The list of delivered orders is about what was collected and when, and adds it up; nothing is
// left to collect of an order that has ended.
func TestBoard_deliveredOrdersShowWhatWasCollected(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		lima := func(day, hour int) time.Time {
			return time.Date(2026, time.March, day, hour, 0, 0, 0, tenant.Operator.TimeZone())
		}
		collects := func(agreed, collected money.Cents) func(*models.Order) {
			return func(o *models.Order) {
				o.PaymentType, o.AmountToCollect, o.ActualAmountCollected = models.CashOnDelivery, agreed, &collected
			}
		}
		delivered := func(created time.Time, after time.Duration, agreed, collected money.Cents) models.Order {
			return tenant.Row(created, apptest.ReceivedAfter(time.Hour), apptest.DeliveredAfter(tenant.Riders[0], after), collects(agreed, collected))
		}
		late := delivered(lima(6, 9), 48*time.Hour, 4550, 4000) // delivered on the 8th
		large := delivered(lima(7, 9), time.Hour, 125000, 125000)
		open := tenant.Row(lima(8, 9), func(o *models.Order) { o.PaymentType, o.AmountToCollect = models.CashOnDelivery, 123456 })
		gone := tenant.Row(lima(5, 9), apptest.CancelledBy(models.ByOperator, ""), func(o *models.Order) { o.AmountToCollect = 7777 })
		tenant.InsertRows(t, []models.Order{late, large, open, gone})
		v := visit(t, s, tenant, nil)

		list := v.read("/panel/pedidos?estado=delivered")
		words := plainSpaces.Replace(list.words())
		require.Contains(t, words, "Cobrado: S/ 1,290.00 en total.")
		require.Contains(t, words, "Entregado Cobrado", "the columns")
		require.Contains(t, words, "S/ 40.00")
		require.NotContains(t, words, "45.50", "what was agreed is not what was collected")
		require.Contains(t, words, "08/03 10:00", "when it was delivered")
		require.NotContains(t, words, "06/03", "not when it was created")

		all := plainSpaces.Replace(v.read("/panel/pedidos").words())
		require.Contains(t, all, "Por cobrar")
		require.Contains(t, all, "S/ 40.00 cobrado")
		require.Contains(t, all, "S/ 1,234.56")
		require.NotContains(t, all, "77.77", "nothing is collected for a cancelled order")

		ids := func(query string) []string { return v.read("/panel/pedidos?" + query).rows() }
		day := "desde=2026-03-08&hasta=2026-03-08"
		require.Equal(t, []string{open.ID.String()}, ids(day+"&fecha=creacion"))
		require.Equal(t, []string{late.ID.String()}, ids(day+"&fecha=entrega"))
		byDelivery := v.read("/panel/pedidos?estado=delivered&fecha=entrega&" + day)
		require.Contains(t, plainSpaces.Replace(byDelivery.words()), "Cobrado: S/ 40.00 en total.")
		require.Contains(t, byDelivery.Text, `<option value="entrega" selected>Entrega</option>`, "the filter says which date it is about")
	})
}

// The sum is of the page, and of all pages where there are several.
func TestBoard_collectedOnAllPages(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		var rows []models.Order
		for i := range 60 {
			amount := money.Cents(100)
			rows = append(rows, tenant.Row(apptest.FrozenAt.Add(-time.Duration(i+3)*time.Hour), apptest.ReceivedAfter(time.Hour),
				apptest.DeliveredAfter(tenant.Riders[0], time.Hour), func(o *models.Order) { o.ActualAmountCollected = &amount }))
		}
		tenant.InsertRows(t, rows)
		words := plainSpaces.Replace(visit(t, s, tenant, nil).read("/panel/pedidos?estado=delivered&pagina=2").words())
		require.Contains(t, words, "Cobrado: S/ 10.00 en esta página y S/ 60.00 en los 60 pedidos.")
	})
}

func TestBoard_pages(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		var rows []models.Order
		for i := range 120 {
			rows = append(rows, tenant.Row(apptest.FrozenAt.Add(-time.Duration(i)*time.Minute)))
		}
		tenant.InsertRows(t, rows)
		v := visit(t, s, tenant, nil)
		var seen []string
		path := "/panel/pedidos?estado=registered"
		for number, words := range []string{"1–50 de 120", "51–100 de 120", "101–120 de 120"} {
			p := v.read(path)
			require.Contains(t, p.words(), words)
			seen = append(seen, p.rows()...)
			next := regexp.MustCompile(`rel="next" href="([^"]+)"`).FindStringSubmatch(p.Text)
			if number == 2 {
				require.Nil(t, next, "nothing after the last page")
				require.Contains(t, p.Text, `rel="prev" href="/panel/pedidos?estado=registered&amp;pagina=2"`)
				break
			}
			require.Len(t, next, 2)
			path = strings.ReplaceAll(next[1], "&amp;", "&")
		}
		require.Len(t, seen, 120)
		for i, id := range seen {
			require.Equal(t, rows[i].ID.String(), id, "newest first, none twice")
		}
		past := v.read("/panel/pedidos?estado=registered&pagina=9")
		require.Equal(t, seen[100:], past.rows(), "the last page that there is")
		require.Contains(t, v.read("/panel/pedidos/"+rows[0].ID.String()).Text, `<p class="crumbs"><a href="/panel/pedidos?estado=registered&amp;pagina=3">`, "the way back keeps the filter")
		require.Len(t, v.read("/panel/pedidos?pagina=-1").rows(), 50)
	})
}

func TestOrders_scriptsGetOnlyTheList(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id, _ := create(t, s, tenant.KeyA, nil)
		v := visit(t, s, tenant, nil)
		part := v.getWith("/panel/pedidos?estado=registered", "X-Fragment", "board")
		require.Equal(t, http.StatusOK, part.Status)
		require.Equal(t, []string{id}, part.rows())
		require.True(t, strings.HasPrefix(strings.TrimSpace(part.Text), `<div id="board" data-live="/panel/pedidos?estado=registered&amp;cuenta=`), part.Text)
		for _, outside := range []string{"<html", "<nav id=\"menu\"", "role=\"search\""} {
			require.NotContains(t, part.Text, outside)
			require.Contains(t, v.read("/panel/pedidos").Text, outside)
		}
		again, _ := create(t, s, tenant.KeyA, nil)
		require.ElementsMatch(t, []string{again, id}, v.getWith("/panel/pedidos", "X-Fragment", "board").rows(), "new orders appear")
		require.Equal(t, http.StatusSeeOther, signedOut(t, s).getWith("/panel/pedidos", "X-Fragment", "board").Status)
	})
}
