package panel_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"despacho/models"
	"despacho/test/apptest"
)

// fieldsOf reads what a form of the page would send, by the form's action.
func (p *page) fieldsOf(t testing.TB, action string) url.Values {
	t.Helper()
	root, err := html.Parse(strings.NewReader(p.Text))
	require.NoError(t, err)
	values := url.Values{}
	found := false
	for form := range root.Descendants() {
		if form.Data != "form" || unbound(attribute(form, "action")) != action {
			continue
		}
		found = true
		for input := range form.Descendants() {
			if name := attribute(input, "name"); name != "" && attribute(input, "type") != "radio" && input.Data != "button" {
				values.Set(name, valueOf(input))
			}
		}
	}
	require.True(t, found, "no form leads to %s in %s", action, p.words())
	return values
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func valueOf(input *html.Node) string {
	if input.Data == "textarea" && input.FirstChild != nil {
		return input.FirstChild.Data
	}
	if input.Data != "select" {
		return attribute(input, "value")
	}
	for option := range input.Descendants() {
		for _, a := range option.Attr {
			if a.Key == "selected" {
				return attribute(option, "value")
			}
		}
	}
	return ""
}

// order reads an order through the panel's API, as whoever may see all of the tenant's.
func order(t testing.TB, s *apptest.Service, tenant *apptest.Tenant, id string) *apptest.Answer {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders/" + id, Key: tenant.Key})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return answer
}

// orderCount is how many orders the tenant has.
func orderCount(t testing.TB, s *apptest.Service, tenant *apptest.Tenant) int {
	t.Helper()
	return int(s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders?limit=1", Key: tenant.Key}).Data["total"].(float64))
}

const newOrder = "/panel/pedidos/nuevo"

// validForm fills in the required fields of the form.
func validForm(t testing.TB, v *visitor) url.Values {
	t.Helper()
	fields := v.read(newOrder).fieldsOf(t, newOrder)
	for name, value := range map[string]string{
		"recipient_name": "Rosa Díaz", "recipient_phone": "987 654 321", "delivery_address": "Av. Larco 345", "location_id": "Miraflores", "product": "Zapatillas",
	} {
		fields.Set(name, value)
	}
	return fields
}

func idIn(location string) string { return location[strings.LastIndex(location, "/")+1:] }

// Contract 2.2: the form takes every field that the API takes.
func TestNewOrder_takesEveryField(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		fields := validForm(t, v)
		for name, value := range map[string]string{
			"recipient_doc_type": "ce", "recipient_doc_number": "001234567", "location_id": "San Juan de Lurigancho, Lima (150132)",
			"delivery_address": "Av. Próceres 10, Huáscar", "delivery_type": "agency", "delivery_reference": "Frente al parque", "delivery_maps_url": "https://maps.app.goo.gl/AbC",
			"delivery_lat": "-12.1211", "delivery_lng": "-77.0297", "size": "L", "store_id": tenant.StoreB.ID.String(), "branch_id": tenant.Other.ID.String(),
			"notes": "Llamar\nantes", "amount_to_collect": "89.90", "external_id": " PED-7 ",
		} {
			require.Contains(t, fields, name)
			fields.Set(name, value)
		}
		sent := v.post(newOrder, fields)
		require.Equal(t, http.StatusSeeOther, sent.Status, sent.words())
		created := order(t, s, tenant, idIn(sent.Location))
		for name, want := range map[string]any{
			"recipient_name": "Rosa Díaz", "recipient_phone": "+51987654321", "recipient_doc_type": "ce", "recipient_doc_number": "001234567",
			"location_id": apptest.SanJuan.String(), "delivery_type": "agency", "delivery_reference": "Frente al parque",
			"delivery_maps_url": "https://maps.app.goo.gl/AbC", "delivery_lat": -12.1211, "delivery_lng": -77.0297, "product": "Zapatillas", "size": "L",
			"store_id": tenant.StoreB.ID.String(), "branch_id": tenant.Other.ID.String(), "notes": "Llamar\nantes", "amount_to_collect": 89.9,
			"payment_type": "cash_on_delivery", "shipping_cost": 17.5, "external_id": "PED-7",
		} {
			require.Equal(t, want, created.Data[name], name)
		}
		notice := v.read("/panel/pedidos").words()
		require.Contains(t, notice, created.String("guide_code"))
		require.Contains(t, notice, "S/ 17.50")
		require.Contains(t, notice, "zona de riesgo del operador: Huáscar", "contract 2.2, rule 5")
	})
}

// Amounts and coordinates are read as people write them, in every form.
func TestForms_readNumbersAsPeopleWriteThem(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		for typed, want := range map[string]float64{"40,50": 40.5, "S/ 89.90": 89.9, "1,250.00": 1250, "1.250,00": 1250} {
			fields := validForm(t, v)
			fields.Set("amount_to_collect", typed)
			fields.Set("delivery_lat", "-12,1211")
			fields.Set("delivery_lng", "-77,0297")
			sent := v.post(newOrder, fields)
			require.Equal(t, http.StatusSeeOther, sent.Status, "%s: %s", typed, sent.words())
			created := order(t, s, tenant, idIn(sent.Location))
			require.Equal(t, want, created.Data["amount_to_collect"], typed)
			require.Equal(t, -12.1211, created.Data["delivery_lat"], typed)
		}
		unclear := validForm(t, v)
		unclear.Set("amount_to_collect", "1,250")
		refused := v.post(newOrder, unclear)
		require.Contains(t, refused.words(), "No queda claro si la coma o el punto separa miles o decimales")
		require.Regexp(t, `name="amount_to_collect"[^>]* value="1,250"[^>]* autofocus`, refused.Text)

		require.Contains(t, v.submit("/panel/tamanos", url.Values{"code": {"XXL"}, "name": {"Enorme"}, "surcharge": {"S/ 1,000.50"}}).words(), "Tamaño agregado.")
		require.Contains(t, plainSpaces.Replace(v.read("/panel/tamanos").words()), "S/ 1,000.50")
		settings := v.read("/panel/ajustes").fieldsOf(t, "/panel/ajustes")
		settings.Set("base_price", "12,50")
		v.submit("/panel/ajustes", settings)
		require.Equal(t, "12.50", v.read("/panel/ajustes").fieldsOf(t, "/panel/ajustes").Get("base_price"))
	})
}

// What is wrong with a form is listed above it, each with a link to its field, and the fields that
// are folded are in sight where one of them has something.
func TestNewOrder_listsErrorsAbove(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		v := visit(t, s, s.NewTenant(t), nil)
		empty := v.read(newOrder).Text
		require.Contains(t, empty, `<details class="more">`, "six fields are in sight")
		before, after, _ := strings.Cut(empty, `<details class="more">`)
		for _, name := range []string{"recipient_name", "recipient_phone", "location_id", "delivery_address", "product", "amount_to_collect"} {
			require.Contains(t, before, `id="`+name+`"`)
		}
		require.Contains(t, after, `id="notes"`)
		fields := validForm(t, v)
		fields.Set("recipient_phone", "12")
		fields.Set("product", "")
		refused := v.post(newOrder, fields)
		require.Contains(t, refused.words(), "Corrija estos 2 datos: Teléfono : No es un número de teléfono válido. Producto : Es obligatorio.")
		require.Contains(t, refused.Text, `<a href="#recipient_phone">`)
		require.Contains(t, refused.Text, `<details class="more">`)
		fields.Set("delivery_lat", "-12.1")
		require.Contains(t, v.post(newOrder, fields).Text, `<details class="more" open>`)
	})
}

// After "Crear y otro" the form is empty, but for the store and the branch, and says what was
// created.
func TestNewOrder_createsAndAnother(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		fields := validForm(t, v)
		fields.Set("store_id", tenant.StoreB.ID.String())
		fields.Set("otro", "true")
		again := v.submit(newOrder, fields)
		require.Regexp(t, `Pedido creado\. Guía \S+, tarifa S/ \S+\. Ver el pedido`, plainSpaces.Replace(again.words()))
		require.Regexp(t, `<a href="/panel/pedidos/[0-9a-f-]{36}">Ver el pedido</a>`, again.Text)
		next := again.fieldsOf(t, newOrder)
		require.Equal(t, tenant.StoreB.ID.String(), next.Get("store_id"))
		require.NotEqual(t, fields.Get("ficha"), next.Get("ficha"))
		require.Empty(t, next.Get("recipient_name"))
		require.Regexp(t, `name="recipient_name"[^>]* autofocus`, again.Text)
		require.Empty(t, v.read(newOrder+"?store_id=x&notes=y").fieldsOf(t, newOrder).Get("store_id"), "what is not offered is not chosen")
	})
}

// The price, a destination out of reach and a risk zone are said while the form is filled in.
func TestNewOrder_priceAsItIsTyped(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		tenant.Change(t, &models.StorePrice{ID: uuid.New(), OperatorID: tenant.Operator.ID, StoreID: tenant.StoreA.ID, Price: 750,
			LocationID: &apptest.Miraflores, FromDay: "2026-01-01", CreatedAt: tenant.Operator.CreatedAt})
		v, ofA := visit(t, s, tenant, nil), visit(t, s, tenant, &tenant.StoreA)
		ofStore := "location_id=Miraflores&size=L&store_id="
		for query, want := range map[string]string{
			ofStore + tenant.StoreA.ID.String(): "Tarifa a Miraflores, Lima (150122): S/ 13.00",
			ofStore + tenant.StoreB.ID.String(): "Tarifa a Miraflores, Lima (150122): S/ 14.50",
			"location_id=Miraflores":            "Tarifa a Miraflores, Lima (150122): S/ 9.00",
			"location_id=surco&size=L":          "Tarifa a Santiago de Surco, Lima (150140): S/ 17.50",
			"location_id=Cusco":                 "El operador no llega a este destino.",
			"location_id=Bellavista":            "El operador no llega a ningún lugar con ese nombre.",
			"location_id=Xyzzy":                 "No hay ningún distrito o zona con ese nombre.",
			"location_id=San+Juan":              "",
			"location_id=":                      "",
			"location_id=San+Juan+de+Lurigancho&delivery_address=Huáscar": "zona de riesgo del operador: Huáscar.",
		} {
			price := v.getWith("/panel/pedidos/tarifa?"+query, "X-Fragment", "price")
			require.Equal(t, http.StatusOK, price.Status, query)
			words := plainSpaces.Replace(price.words())
			require.Contains(t, words, want, query)
			require.NotContains(t, price.Text, "<html", query)
			if want == "" {
				require.Empty(t, words, query)
			}
		}
		own := ofA.getWith("/panel/pedidos/tarifa?"+ofStore+tenant.StoreB.ID.String(), "X-Fragment", "price")
		require.Contains(t, plainSpaces.Replace(own.words()), "S/ 13.00", "a store's people see its own, whatever they ask for")
		fields := validForm(t, v)
		fields.Set("location_id", "surco")
		refused := v.post(newOrder, fields)
		require.Contains(t, refused.Text, `type="radio" name="location_id" value="Santiago de Surco, Lima (150140)"`, "a guess is confirmed")
		again := refused.fieldsOf(t, newOrder)
		again.Add("location_id", "Santiago de Surco, Lima (150140)")
		require.Equal(t, http.StatusSeeOther, v.post(newOrder, again).Status)
	})
}

func TestNewOrder_rejectedFormKeepsItsValues(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		for name, c := range map[string]struct{ field, value, complaint string }{
			"a phone":              {"recipient_phone", "hola", "No es un número de teléfono válido."},
			"a product":            {"product", " ", "Es obligatorio."},
			"a place":              {"location_id", "Xyzzy", "No hay ningún distrito o zona con ese nombre."},
			"an unclear place":     {"location_id", "San Juan", "San Juan de Lurigancho, Lima (150132)"},
			"a place out of reach": {"location_id", "Cusco", "El operador no llega a este destino."},
			"a place misspelt":     {"location_id", "San Juan de Luriganho", "¿quiso decir San Juan de Lurigancho, Lima (150132)"},
			"a place run together": {"location_id", "miraflores lima", "¿quiso decir Miraflores, Lima (150122)"},
			"an amount":            {"amount_to_collect", "89.999", "decimales"},
			"half a point":         {"delivery_lat", "-12.1", "Es obligatorio junto con la latitud."},
		} {
			fields := validForm(t, v)
			fields.Set(c.field, c.value)
			refused := v.post(newOrder, fields)
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status, name)
			require.Contains(t, refused.words(), c.complaint, name)
			again := refused.fieldsOf(t, newOrder)
			require.Contains(t, again.Get(c.field), c.value, name)
			require.Equal(t, "Rosa Díaz", again.Get("recipient_name"), name)
			require.Equal(t, fields.Get("ficha"), again.Get("ficha"), "it is still the same order")
			again.Set(c.field, map[string]string{"recipient_phone": "987654321", "product": "Caja", "location_id": "Santiago de Surco"}[c.field])
			corrected := v.post(newOrder, again)
			require.Equal(t, http.StatusSeeOther, corrected.Status, name)
		}
	})
}

// However often a form is sent, at once or later, it makes one order; with other data it asks
// first.
func TestNewOrder_createsOneOrderPerForm(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, &tenant.StoreA)
		fields := validForm(t, v)
		locations := make([]string, 4)
		var clicks sync.WaitGroup
		for i := range locations {
			clicks.Go(func() { locations[i] = v.post(newOrder, fields).Location })
		}
		clicks.Wait()
		for _, location := range locations {
			require.NotEmpty(t, location)
			require.Equal(t, locations[0], location)
		}
		require.Equal(t, 1, orderCount(t, s, tenant))
		require.Equal(t, locations[0], v.post(newOrder, fields).Location)
		require.Contains(t, v.read("/panel/pedidos").words(), "El pedido ya estaba creado.")
		require.Equal(t, tenant.StoreA.ID.String(), order(t, s, tenant, idIn(locations[0])).String("store_id"))

		fields.Set("product", "Otra caja")
		conflict := v.post(newOrder, fields)
		require.Equal(t, http.StatusUnprocessableEntity, conflict.Status)
		require.Contains(t, conflict.words(), "Este formulario ya creó un pedido.")
		again := v.post(newOrder, conflict.fieldsOf(t, newOrder))
		require.Equal(t, http.StatusSeeOther, again.Status)
		require.NotEqual(t, locations[0], again.Location)
		require.Equal(t, 2, orderCount(t, s, tenant))

		fields.Set("ficha", "")
		require.Equal(t, http.StatusUnprocessableEntity, v.post(newOrder, fields).Status)
	})
}

func TestNewOrder_storeUserCreatesOnlyForItsStore(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, &tenant.StoreA)
		fields := validForm(t, v)
		require.NotContains(t, fields, "store_id", "there is nothing to choose")
		require.NotContains(t, v.read(newOrder).words(), "Tienda B")
		fields.Set("store_id", tenant.StoreB.ID.String())
		sent := v.post(newOrder, fields)
		require.Equal(t, http.StatusSeeOther, sent.Status, sent.words())
		require.Equal(t, tenant.StoreA.ID.String(), order(t, s, tenant, idIn(sent.Location)).String("store_id"))
	})
}

func TestNewOrder_suggestsWhereTheOperatorDelivers(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		v := visit(t, s, s.NewTenant(t), nil)
		require.Contains(t, v.read(newOrder).Text, `<option value="Miraflores, Lima (150122)">`)
		suggested := v.read("/panel/destinos?q=mirafl").Text
		require.Contains(t, suggested, "Miraflores, Lima (150122)")
		require.NotContains(t, suggested, "Arequipa")
		_, err := uuid.Parse(v.read(newOrder).fieldsOf(t, newOrder).Get("ficha"))
		require.NoError(t, err)
	})
}
