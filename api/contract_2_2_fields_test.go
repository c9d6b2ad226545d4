package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// Every accepted field comes back as it was stored.
func TestContract_2_2_everyField(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		sent := map[string]any{
			"recipient_name": "Rosa Díaz", "recipient_phone": "+51987654321", "delivery_address": "Av. Larco 345\nDpto. 502",
			"location_id": apptest.Miraflores.String(), "product": "Zapatillas talla 38",
			"delivery_reference": "Frente al parque\nPuerta azul", "delivery_lat": -12.121212, "delivery_lng": -77.030303,
			"delivery_maps_url": "https://maps.app.goo.gl/abc123", "amount_to_collect": 89.9, "payment_type": "cash_on_delivery",
			"recipient_doc_type": "ce", "recipient_doc_number": "001234567", "delivery_type": "agency", "size": "L",
			"store_id": tenant.StoreB.ID.String(), "branch_id": tenant.Other.ID.String(), "notes": "Llamar antes\ny esperar", "external_id": "PED-2026/0117 ñ",
		}
		document, err := apptest.Document()
		require.NoError(t, err)
		for member := range document.Components.Schemas["OrderInput"].Value.Properties {
			require.Contains(t, sent, member, "openapi.yaml has a member that this test does not send")
		}
		order := created(t, s, tenant.Key, sent)
		for field, value := range sent {
			require.Equal(t, value, order.Data[field], field)
		}
		require.Equal(t, order.Data, get(t, s, tenant.Key, "/v1/orders/"+order.String("id")).Data)
	})
}

// What is left out, null or blank is shown as null, or as its default.
func TestContract_2_2_optionalFieldsLeftOut(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		optional := map[string]any{
			"delivery_reference": nil, "delivery_lat": nil, "delivery_lng": nil, "delivery_maps_url": nil,
			"recipient_doc_type": nil, "recipient_doc_number": nil, "store_id": nil, "notes": nil, "external_id": nil,
			"amount_to_collect": 0.0, "payment_type": "delivery_only", "delivery_type": "home", "size": "M",
			"branch_id": tenant.Main.ID.String(),
		}
		nulls, blanks := apptest.Order(), apptest.Order()
		for field := range optional {
			nulls[field] = nil
			if field != "delivery_lat" && field != "delivery_lng" && field != "amount_to_collect" {
				blanks[field] = "  "
			}
		}
		for name, body := range map[string]any{"absent": apptest.Order(), "null": nulls, "blank": blanks} {
			answer := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Body: body})
			require.Equal(t, http.StatusCreated, answer.Status, "%s: %s", name, answer.Text)
			for field, value := range optional {
				require.Contains(t, answer.Data, field)
				require.Equal(t, value, answer.Data[field], "%s %s", name, field)
			}
		}
	})
}

// The five required fields: each is missed when it is absent, null or blank, and all that are wrong
// are named at once.
func TestContract_2_2_requiredFields(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		required := []string{"recipient_name", "recipient_phone", "delivery_address", "location_id", "product"}
		for _, field := range required {
			requireWrongFields(t, postOrder(t, s, tenant.Key, map[string]any{field: nil}), field)
			requireWrongFields(t, postOrder(t, s, tenant.Key, map[string]any{field: " \u00a0"}), field)
			withNull := apptest.Order()
			withNull[field] = nil
			requireWrongFields(t, s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Body: withNull}), field)
		}
		requireWrongFields(t, s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Body: map[string]any{}}), required...)
		require.Zero(t, countOrders(t, s, tenant))
	})
}

// All wrong fields are named at once, those that only the operator's settings can tell among them.
func TestContract_2_2_everyInvalidFieldIsNamed(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		requireWrongFields(t, postOrder(t, s, tenant.Key, map[string]any{
			"recipient_name": 5, "recipient_phone": "hola", "delivery_address": []string{}, "location_id": "Miraflores", "product": nil,
			"delivery_reference": true, "delivery_lat": 91, "delivery_lng": "x", "delivery_maps_url": 1, "amount_to_collect": -1, "payment_type": "trueque",
			"recipient_doc_type": "ruc", "recipient_doc_number": 12345678, "delivery_type": "drone", "size": 3,
			"store_id": "x", "branch_id": uuid.NewString(), "notes": map[string]any{}, "external_id": 117,
		}), "recipient_name", "recipient_phone", "delivery_address", "location_id", "product", "delivery_reference", "delivery_lat", "delivery_lng",
			"delivery_maps_url", "amount_to_collect", "payment_type", "recipient_doc_type", "recipient_doc_number", "delivery_type", "size",
			"store_id", "branch_id", "notes", "external_id")
		requireWrongFields(t, postOrder(t, s, tenant.Key, map[string]any{"store_id": uuid.NewString(), "branch_id": uuid.NewString()}), "store_id", "branch_id")
		require.Zero(t, countOrders(t, s, tenant))
	})
}

// recipient_phone: stored in E.164; without a country code it is the operator's country.
func TestContract_2_2_recipientPhone(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		peru := s.NewTenant(t)
		chile := s.NewTenant(t, func(o *models.Operator) { o.CountryCode = "CL" })
		for _, c := range []struct {
			tenant       *apptest.Tenant
			sent, stored string
		}{
			{peru, "987654321", "+51987654321"},
			{peru, "(01) 234-5678", "+5112345678"},
			{peru, "+51 987 654 321", "+51987654321"},
			{peru, "+56 9 6123 4567", "+56961234567"},
			{chile, "9 6123 4567", "+56961234567"},
			{chile, "+51987654321", "+51987654321"},
		} {
			require.Equal(t, c.stored, created(t, s, c.tenant.Key, map[string]any{"recipient_phone": c.sent}).String("recipient_phone"), c.sent)
		}
		for _, wrong := range []any{"12345", "llámame", "987654321 ext. 5", "+51 987 654", "+999 123456789", "98765432109876", 987654321} {
			requireWrongFields(t, postOrder(t, s, peru.Key, map[string]any{"recipient_phone": wrong}), "recipient_phone")
		}
	})
}

// Text limits count characters, not bytes.
func TestContract_2_2_textLimits(t *testing.T) {
	limits := map[string]int{"recipient_name": 200, "delivery_address": 500, "product": 500, "delivery_reference": 500, "notes": 2000, "external_id": 100}
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		fitting, over := map[string]any{}, map[string]any{}
		var fields []string
		for field, limit := range limits {
			fitting[field], over[field] = strings.Repeat("ñ", limit), strings.Repeat("ñ", limit+1)
			fields = append(fields, field)
		}
		order := created(t, s, tenant.Key, fitting)
		for field, text := range fitting {
			require.Equal(t, text, order.Data[field])
		}
		requireWrongFields(t, postOrder(t, s, tenant.Key, over), fields...)
	})
}

// A body may weigh 256 KiB, to the byte.
func TestContract_2_2_bodyLimit(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		send := func(bytes int) *apptest.Answer {
			body := withField("extra", `""`)
			body = withField("extra", `"`+strings.Repeat("x", bytes-len(body))+`"`)
			require.Len(t, body, bytes)
			return s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Raw: []byte(body)})
		}
		require.Equal(t, http.StatusCreated, send(256<<10).Status)
		requireRefused(t, send(256<<10+1), http.StatusRequestEntityTooLarge, "body_too_large")
		require.Equal(t, 1, countOrders(t, s, tenant))
	})
}

// NUL and other control characters are refused everywhere, line breaks where there is one line; at
// its ends they are white space, which is trimmed.
func TestContract_2_2_controlCharacters(t *testing.T) {
	oneLine := []string{"recipient_name", "recipient_phone", "product", "delivery_maps_url", "recipient_doc_number", "size", "location_id", "payment_type", "external_id"}
	freeText := []string{"delivery_address", "delivery_reference", "notes"}
	with := func(fields []string, text string) map[string]any {
		changes := map[string]any{}
		for _, field := range fields {
			changes[field] = text
		}
		return changes
	}
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		all := append(append([]string{}, oneLine...), freeText...)
		for _, control := range []string{"\x00", "\x07", "\x1b", "\x7f", "\u0085"} {
			requireWrongFields(t, postOrder(t, s, tenant.Key, with(all, "a"+control+"b")), all...)
		}
		requireWrongFields(t, postOrder(t, s, tenant.Key, with(oneLine, "a\nb")), oneLine...)
		created(t, s, tenant.Key, with(freeText, "a\r\nb\tc"))
		trimmed := created(t, s, tenant.Key, map[string]any{"recipient_name": "\tRosa Díaz\r\n", "external_id": "A1\n", "recipient_doc_number": "\n"}).Data
		require.Equal(t, "Rosa Díaz", trimmed["recipient_name"])
		require.Equal(t, "A1", trimmed["external_id"])
		require.Nil(t, trimmed["recipient_doc_number"])
	})
}

// amount_to_collect: 0 to 999999.99 with at most two decimals, a JSON number in and out.
func TestContract_2_2_money(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for sent, shown := range map[string]string{
			"0": "0", "-0": "0", "0.01": "0.01", "12.5": "12.5", "89.90": "89.9", "89.900": "89.9", "1e2": "100", "999999.99": "999999.99",
		} {
			order := created(t, s, tenant.Key, map[string]any{"amount_to_collect": json.RawMessage(sent)})
			require.Contains(t, order.Text, `"amount_to_collect":`+shown+`,`, sent)
			require.Contains(t, get(t, s, tenant.Key, "/v1/orders/"+order.String("id")).Text, `"amount_to_collect":`+shown+`,`, sent)
		}
		before := countOrders(t, s, tenant)
		for _, wrong := range []string{"-0.01", "-1", "1000000", "0.001", "12.345", "1e400", "1e-400", `"12"`, "true", "[12]", `{"amount":12}`} {
			requireWrongFields(t, postOrder(t, s, tenant.Key, map[string]any{"amount_to_collect": json.RawMessage(wrong)}), "amount_to_collect")
		}
		require.Equal(t, before, countOrders(t, s, tenant))
	})
}

// recipient_doc_type, delivery_type: the listed words and no others.
func TestContract_2_2_words(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for field, words := range map[string][]string{"recipient_doc_type": {"dni", "ce", "passport", "other"}, "delivery_type": {"home", "agency"}} {
			for _, word := range words {
				require.Equal(t, word, created(t, s, tenant.Key, map[string]any{field: word}).Data[field])
			}
			for _, wrong := range []any{"DNI", "casa", 1, true, []string{words[0]}} {
				requireWrongFields(t, postOrder(t, s, tenant.Key, map[string]any{field: wrong}), field)
			}
		}
	})
}

// size: if absent or unknown, the operator's default.
func TestContract_2_2_size(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for _, c := range []struct {
			sent any
			size string
			cost float64
		}{{nil, "M", 9}, {"S", "S", 9}, {"L", "L", 14.5}, {"XXL", "M", 9}, {strings.Repeat("X", 3000), "M", 9}} {
			order := created(t, s, tenant.Key, map[string]any{"size": c.sent})
			require.Equal(t, c.size, order.String("size"))
			require.Equal(t, c.cost, order.Data["shipping_cost"])
		}
	})
}

// store_id is honoured with an unbound key, branch_id is one of the operator's; another's or an
// unknown one is 400.
func TestContract_2_2_storeAndBranch(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant, stranger := s.NewTenant(t), s.NewTenant(t)
		closed := models.Store{ID: uuid.New(), OperatorID: tenant.Operator.ID, Name: "Cerrada", CreatedAt: apptest.FrozenAt}
		closedBranch := models.Branch{ID: uuid.New(), OperatorID: tenant.Operator.ID, Name: "Cerrada", CreatedAt: apptest.FrozenAt}
		tenant.Change(t, &closed, &closedBranch)

		order := created(t, s, tenant.Key, map[string]any{"store_id": tenant.StoreA.ID, "branch_id": tenant.Other.ID})
		require.Equal(t, tenant.StoreA.ID.String(), order.String("store_id"))
		require.Equal(t, tenant.Other.ID.String(), order.String("branch_id"))
		order = created(t, s, tenant.Key)
		require.Nil(t, order.Data["store_id"], "the operator's own order")
		require.Equal(t, tenant.Main.ID.String(), order.String("branch_id"), "if absent, the main branch")

		for _, wrong := range []any{uuid.New(), stranger.StoreA.ID, closed.ID, "tienda", 7} {
			requireWrongFields(t, postOrder(t, s, tenant.Key, map[string]any{"store_id": wrong}), "store_id")
		}
		for _, wrong := range []any{uuid.New(), stranger.Main.ID, closedBranch.ID, "sucursal", 7} {
			requireWrongFields(t, postOrder(t, s, tenant.Key, map[string]any{"branch_id": wrong}), "branch_id")
		}
	})
}

// Unknown members are accepted and ignored: an optional operator field is planned (section 1).
func TestContract_2_2_unknownMembers(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		order := created(t, s, tenant.Key, map[string]any{
			"operator": uuid.New(), "status": "delivered", "id": uuid.New(), "guide_code": "AAAAA-AAAAAA", "shipping_cost": 0,
			"extra": map[string]any{"lista": []any{1, nil, "x\x00"}},
		})
		require.Equal(t, "registered", order.String("status"))
		require.Equal(t, 9.0, order.Data["shipping_cost"])
		require.NotEqual(t, "AAAAA-AAAAAA", order.String("guide_code"))
		require.NotContains(t, order.Text, "extra")
	})
}
