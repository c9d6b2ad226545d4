package panel_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"despacho/internal/config"
	"despacho/internal/photos"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// links are the addresses that the page leads to, by their text.
func (p *page) links() map[string]string {
	found, address := map[string]string{}, ""
	tokens := html.NewTokenizer(strings.NewReader(p.Text))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return found
		case html.StartTagToken:
			token := tokens.Token()
			address = ""
			for _, attribute := range token.Attr {
				if token.Data == "a" && attribute.Key == "href" {
					address = attribute.Val
				}
			}
		case html.TextToken:
			if text := strings.TrimSpace(string(tokens.Text())); address != "" && text != "" {
				found[text] = address
			}
		}
	}
}

// panelMove makes a move through the JSON API.
func panelMove(t *testing.T, s *apptest.Service, token, orderID, move string, content any) {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + orderID + "/" + move, Token: token, Body: content})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
}

func readOrder(t *testing.T, s *apptest.Service, tenant *apptest.Tenant, id string) *apptest.Answer {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + id, Key: tenant.Key})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return answer
}

func TestOrder_showsEverything(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA, map[string]any{
			"location_id": apptest.SanJuan, "delivery_address": "Paradero 10, Huáscar", "delivery_reference": "Portón <b>verde</b>", "amount_to_collect": 89.9,
			"notes": "Tocar dos veces", "recipient_doc_type": "dni", "recipient_doc_number": "123", "size": "L",
			"delivery_maps_url": "https://www.google.com/maps/@-12.1319,-77.0305,17z",
		})
		code := readOrder(t, s, tenant, id).String("guide_code")
		shown := visit(t, s, tenant, nil).read("/panel/pedidos/" + id)
		words := shown.words()
		for _, text := range []string{
			code, "Registrado", "Rosa Díaz", "987 654 321", "Paradero 10, Huáscar", "Portón <b>verde</b>", "San Juan de Lurigancho, Lima",
			"Zapatillas", "Tocar dos veces", "Tienda A", "Principal", "S/ 89.90", "S/ 17.50", "Contra entrega", "A domicilio", "DNI 123",
			"Zona de riesgo: Huáscar.", "-12.1319,-77.0305 (centro del mapa del enlace: puede ser aproximado)",
			"Pedido registrado La tienda", "Sin motorizado", "Este pedido no avisó a ningún webhook.",
		} {
			require.Contains(t, words, text)
		}
		require.Contains(t, shown.Text, `href="tel:&#43;51987654321"`)
		links := shown.links()
		require.Equal(t, "https://www.google.com/maps/search/?api=1&query=-12.1319%2C-77.0305", links["Ver en el mapa"])
		require.Equal(t, "https://www.google.com/maps/@-12.1319,-77.0305,17z", links["Enlace que envió el cliente"])
		require.Equal(t, s.BaseURL+"/track/"+code, links["Página de seguimiento"])
		require.Contains(t, links["Etiqueta"], "/panel/etiquetas?")
		require.NotContains(t, links, "Historia en Temporal", "no URL of the Temporal Web UI is configured")
	})
}

// Whoever completes the point sees what the customer sent, whatever it is.
func TestOrder_showsTheMapLinkThatGaveNoPoint(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		for sent, link := range map[string]string{
			"maps.app.goo.gl/AbC":                       "https://maps.app.goo.gl/AbC",
			"http://goo.gl/maps/AbC":                    "http://goo.gl/maps/AbC",
			"Mi ubicación: https://maps.app.goo.gl/AbC": "https://maps.app.goo.gl/AbC",
			"a la vuelta de mi casa":                    "",
			"javascript:alert(1)":                       "",
		} {
			shown := v.read("/panel/pedidos/" + s.CreateOrder(t, tenant.KeyA, map[string]any{"delivery_maps_url": sent}))
			require.Contains(t, shown.words(), "Nadie sabe todavía el punto exacto.")
			require.Equal(t, link, shown.links()["Enlace que envió el cliente"], sent)
			if link != sent {
				require.Contains(t, shown.words(), "El cliente envió: "+sent)
			}
		}
	})
}

// An amount that the store has not fixed yet is due: no page says that there is nothing to collect.
func TestOrder_anAmountThatIsNotFixedIsNotNothing(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		c := counterOf(t, s, s.NewTenant(t))
		due := c.parcel(map[string]any{"payment_type": "cash_on_delivery"})
		free := c.parcel(map[string]any{"payment_type": "delivery_only"})
		for parcel, amount := range map[parcel]string{due: "Por definir", free: "Nada"} {
			require.Contains(t, c.read("/panel/pedidos/"+parcel.id).words(), "Monto por cobrar "+amount)
			require.Contains(t, c.scan(parcel.code).words(), "Por cobrar "+amount)
		}
		for _, list := range []string{"/panel/pedidos", "/panel/asignacion"} {
			require.Equal(t, 1, strings.Count(c.read(list).words(), "Por definir"), list)
		}
		row := c.tenant.Row(time.Now().Add(-3*time.Hour), apptest.ReceivedAfter(time.Hour), apptest.DeliveredAfter(c.tenant.Riders[0], time.Hour))
		row.AmountToCollect, row.PaymentType = 0, models.CashOnDelivery
		c.tenant.InsertRows(t, []models.Order{row})
		require.Contains(t, c.read("/panel/pedidos/"+row.ID.String()).words(), "Monto por cobrar No se definió")
	})
}

func TestOrder_linksToItsWorkflow(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.TemporalUIURL = "https://temporal.example/" }})
	tenant := s.NewTenant(t)
	id := s.CreateOrder(t, tenant.KeyA)
	path := "/panel/pedidos/" + id
	require.Equal(t, "https://temporal.example/namespaces/default/workflows/order-"+id, visit(t, s, tenant, nil).read(path).links()["Historia en Temporal"])
	require.NotContains(t, visit(t, s, tenant, &tenant.StoreA).read(path).links(), "Historia en Temporal")
}

func TestOrder_registryResultIsForTheOperator(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA, map[string]any{"recipient_doc_type": "dni", "recipient_doc_number": "12345678"})
		operator, store := visit(t, s, tenant, nil), visit(t, s, tenant, &tenant.StoreA)
		path := "/panel/pedidos/" + id
		yes, no := true, false
		for _, test := range []struct {
			outcome  string
			matches  *bool
			verified bool
			want     string
		}{
			{"found", &yes, true, "Verificado: el nombre coincide"},
			{"found", &no, false, "El registro conoce el DNI, pero con otro nombre"},
			{"not_found", nil, false, "El registro no conoce el DNI"},
			{"unavailable", nil, false, "El registro no respondió"},
		} {
			require.NoError(t, s.App.DB.Query(t.Context()).Model(&models.Order{}).Where("id = ?", id).Updates(map[string]any{
				"doc_outcome": test.outcome, "doc_name_matches": test.matches, "recipient_doc_verified": test.verified,
			}).Error)
			require.Contains(t, operator.read(path).words(), "DNI 12345678 Registro de identidad "+test.want)
			seen := store.read(path).words()
			require.Contains(t, seen, "DNI 12345678")
			require.NotContains(t, seen, test.want)
		}
	})
}

func TestOrder_ofAStore(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		path := "/panel/pedidos/" + id
		own, other := visit(t, s, tenant, &tenant.StoreA), visit(t, s, tenant, &tenant.StoreB)

		registered := own.read(path)
		require.Contains(t, registered.Text, path+"/cancelar")
		for _, move := range []string{"recibir", "asignar", "entregar", "punto"} {
			require.NotContains(t, registered.Text, path+"/"+move, "not a store's to do")
			require.Equal(t, http.StatusForbidden, own.post(path+"/"+move, nil).Status)
		}
		require.Equal(t, http.StatusNotFound, other.get(path).Status)
		require.Equal(t, http.StatusNotFound, other.post(path+"/cancelar", nil).Status)
		require.Equal(t, http.StatusNotFound, own.get("/panel/pedidos/no-es-un-id").Status)
		require.Equal(t, http.StatusNotFound, visit(t, s, s.NewTenant(t), nil).get(path).Status)

		panelMove(t, s, tenant.SignIn(t, nil), id, "receive", nil)
		require.NotContains(t, own.read(path).Text, path+"/cancelar", "too late for the store")
		require.Contains(t, own.submit(path+"/cancelar", nil).words(), "El pedido no se puede cancelar porque su estado es Recibido.")
	})
}

func TestOrder_pointIsCompletedByTheOperator(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		path := "/panel/pedidos/" + id
		v := visit(t, s, tenant, nil)
		require.Contains(t, v.read(path).words(), "Completar el punto")
		for typed, says := range map[string]string{
			"": "Es obligatorio.", "Av. Larco 345": "Pegue un enlace de mapa, o las coordenadas como -12.1211, -77.0297.",
			"-95, -177": "La latitud va de -90 a 90", "https://www.google.com/maps?q=Larcomar": "El enlace no contiene un punto",
		} {
			refused := v.post(path+"/punto", url.Values{"delivery_point": {typed}})
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
			require.Contains(t, refused.words(), says)
			require.Contains(t, refused.Text, `name="delivery_point" type="text" value="`+typed+`"`, "what was typed is still there")
		}
		require.Nil(t, readOrder(t, s, tenant, id).Data["delivery_lat"])

		saved := v.submit(path+"/punto", url.Values{"delivery_point": {"-12.13, -77.03"}}).words()
		require.Contains(t, saved, "Punto guardado.")
		require.Contains(t, saved, "Punto en el mapa completado Punto vacío → pasó a -12.13,-77.03 Persona de prueba")
		require.Contains(t, saved, "-12.13,-77.03 (completado por el operador)")
		require.Contains(t, saved, "Corregir el punto")
		require.EqualValues(t, -77.03, readOrder(t, s, tenant, id).Data["delivery_lng"])
	})
}

// The point takes what people have.
func TestOrder_pointIsReadAsPeopleHaveIt(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		v := visit(t, s, tenant, nil)
		for i, typed := range []string{
			"-12.121, -77.031", "-12,122; -77,032", " -12,123 -77,033 ", "https://www.google.com/maps/place/X/@-12.0,-77.0,12z/data=!3d-12.124!4d-77.034",
			"https://waze.com/ul?ll=-12.125,-77.035", "https://maps.google.com/maps?q=-12.126%2C-77.036&z=17&hl=es", "geo:-12.127,-77.037",
		} {
			v.submit("/panel/pedidos/"+id+"/punto", url.Values{"delivery_point": {typed}})
			read := readOrder(t, s, tenant, id)
			require.InDelta(t, -12.121-float64(i)/1000, read.Data["delivery_lat"], 1e-9, typed)
			require.InDelta(t, -77.031-float64(i)/1000, read.Data["delivery_lng"], 1e-9, typed)
		}
		require.Contains(t, v.read("/panel/pedidos/"+id).words(), "Punto -12.126,-77.036 → pasó a -12.127,-77.037", "the timeline says what it was")
	})
}

// A point that is probably wrong is asked about once, and is neither refused nor taken silently.
func TestOrder_doubtfulPointIsAskedAbout(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		path := "/panel/pedidos/" + id
		v := visit(t, s, tenant, nil)
		far := v.post(path+"/punto", url.Values{"delivery_point": {"-13.53, -71.97"}})
		require.Equal(t, http.StatusUnprocessableEntity, far.Status)
		require.Regexp(t, `El punto -13.53, -71.97 está a unos 5\d\d km de Miraflores. Si es correcto, confirme otra vez.`, far.words())
		require.Nil(t, readOrder(t, s, tenant, id).Data["delivery_lat"], "nothing has happened yet")
		form := far.fieldsOf(t, path+"/punto")
		require.Equal(t, "-13.53, -71.97", form.Get("delivery_point"))
		elsewhere := url.Values{"delivery_point": {"-16.4, -71.5"}, "asked": form["asked"]}
		require.Contains(t, v.post(path+"/punto", elsewhere).words(), "El punto -16.4, -71.5 está a unos", "another point is another question")
		require.Contains(t, v.submit(path+"/punto", form).words(), "Punto guardado.")
		require.EqualValues(t, -13.53, readOrder(t, s, tenant, id).Data["delivery_lat"])

		swapped := v.post(path+"/punto", url.Values{"delivery_point": {"-77.03, -12.12"}})
		require.Contains(t, swapped.words(), "Parece que la latitud y la longitud están al revés: abajo está -12.12, -77.03.")
		form = swapped.fieldsOf(t, path+"/punto")
		require.Equal(t, "-12.12, -77.03", form.Get("delivery_point"))
		asTyped := url.Values{"delivery_point": {"-77.03, -12.12"}, "asked": form["asked"]}
		require.Contains(t, v.submit(path+"/punto", form).words(), "Punto guardado.")
		require.EqualValues(t, -12.12, readOrder(t, s, tenant, id).Data["delivery_lat"])
		v.submit(path+"/punto", asTyped)
		require.EqualValues(t, -77.03, readOrder(t, s, tenant, id).Data["delivery_lat"], "whoever insists is believed")
	})
}

// An erased order that was received late and delivered has a photo again: it is erased again. One
// that is erased is not offered.
func TestOrder_erasedAgainAfterALateReception(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		erased := tenant.Row(time.Now(), apptest.CancelledBy(models.ByAuto, ""), func(o *models.Order) {
			o.RecipientName, o.RecipientPhone, o.DeliveryAddress = models.ErasedText, models.ErasedPhone, models.ErasedText
			o.ErasedAt = &o.CreatedAt
		})
		revived := tenant.Row(time.Now(), apptest.ReceivedAfter(0), apptest.DeliveredAfter(tenant.Riders[0], 0), func(o *models.Order) {
			o.RecipientName, o.RecipientPhone, o.DeliveryAddress = models.ErasedText, models.ErasedPhone, models.ErasedText
			photo := photos.NameOf(o.ID)
			o.ProofPhoto = &photo
		})
		tenant.InsertRows(t, []models.Order{erased, revived})
		admin := getAs(t, s, tenant, &models.User{Admin: true})
		require.NotContains(t, admin.read("/panel/pedidos/"+erased.ID.String()).words(), "Eliminar los datos")
		require.Contains(t, admin.read("/panel/pedidos/"+revived.ID.String()).words(), "Eliminar los datos")
	})
}

// An order that cancelled itself is not shown as one that somebody cancelled, and an erased one
// has no number to call.
func TestOrder_cancelledByTimeAndErased(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		now := time.Now()
		rows := []models.Order{
			tenant.Row(now, apptest.CancelledBy(models.ByAuto, "")), tenant.Row(now, apptest.CancelledBy(models.ByOperator, "")),
			tenant.Row(now, apptest.CancelledBy(models.ByStore, ""), func(o *models.Order) {
				o.RecipientName, o.RecipientPhone, o.ErasedAt = models.ErasedText, models.ErasedPhone, &now
			}),
		}
		tenant.InsertRows(t, rows)
		v, store := visit(t, s, tenant, nil), visit(t, s, tenant, &tenant.StoreA)
		open := func(v *visitor, i int) *page { return v.read("/panel/pedidos/" + rows[i].ID.String()) }
		require.Contains(t, open(v, 0).words(), "Cancelado por tiempo")
		require.NotContains(t, open(v, 1).words(), "Cancelado por tiempo")
		require.Contains(t, open(v, 0).Text, `href="tel:`)
		require.Contains(t, open(store, 1).words(), "Cancelación Por "+tenant.Operator.Name, "a store sees the operator, not its people")
		require.NotContains(t, open(v, 2).Text, `href="tel:`)
		require.NotContains(t, open(v, 2).words(), models.ErasedPhone)
	})
}
