package api_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// Every response is JSON with the envelope: data, warning and message on success; error, with code
// and fields beside it, only on 4xx.
func TestContract_2_1_envelope(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		order := created(t, s, tenant.Key)
		webhook := map[string]any{"url": "https://tienda.example/hook", "events": []string{"order.created"}}
		hook := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/webhooks", Key: tenant.Key, Body: webhook})
		risky := apptest.Order(map[string]any{"location_id": apptest.SanJuan, "delivery_address": "Jr. Huáscar 123"})

		for name, c := range map[string]struct {
			request apptest.Request
			status  int
			members []string
		}{
			"create":              {apptest.Request{Method: "POST", Path: "/v1/orders", Body: apptest.Order()}, 201, []string{"data"}},
			"create with warning": {apptest.Request{Method: "POST", Path: "/v1/orders", Body: risky}, 201, []string{"data", "warning"}},
			"read":                {apptest.Request{Method: "GET", Path: "/v1/orders/" + order.String("id")}, 200, []string{"data"}},
			"list":                {apptest.Request{Method: "GET", Path: "/v1/orders"}, 200, []string{"data"}},
			"track":               {apptest.Request{Method: "GET", Path: "/v1/track/" + order.String("guide_code"), Header: ownAddress()}, 200, []string{"data"}},
			"stores":              {apptest.Request{Method: "GET", Path: "/v1/stores"}, 200, []string{"data"}},
			"webhooks":            {apptest.Request{Method: "GET", Path: "/v1/webhooks"}, 200, []string{"data"}},
			"register webhook":    {apptest.Request{Method: "POST", Path: "/v1/webhooks", Body: webhook}, 201, []string{"data", "message"}},
			"deactivate webhook":  {apptest.Request{Method: "DELETE", Path: "/v1/webhooks/" + hook.String("id")}, 200, []string{"message"}},
			"countries":           {apptest.Request{Method: "GET", Path: "/public/countries"}, 200, []string{"data"}},
			"cities":              {apptest.Request{Method: "GET", Path: "/public/cities?country_code=PE"}, 200, []string{"data"}},
			"unknown ubigeo":      {apptest.Request{Method: "GET", Path: "/public/locations/ubigeo?country_code=PE&codes=999999"}, 200, []string{"data", "message"}},
			"wrong field":         {apptest.Request{Method: "POST", Path: "/v1/orders", Body: map[string]any{}}, 400, []string{"code", "error", "fields"}},
			"unknown order":       {apptest.Request{Method: "GET", Path: "/v1/orders/54c51d2b-049b-53b9-93ac-fa910f68ea0d"}, 404, []string{"code", "error"}},
			"unknown route":       {apptest.Request{Method: "GET", Path: "/v1/nada"}, 404, []string{"code", "error"}},
			"unknown method":      {apptest.Request{Method: "PUT", Path: "/v1/orders"}, 405, []string{"code", "error"}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c.request.Key = tenant.Key
				answer := s.Do(t, c.request)
				require.Equal(t, c.status, answer.Status, answer.Text)
				require.Equal(t, "application/json; charset=utf-8", answer.Header.Get("Content-Type"))
				require.Equal(t, c.members, members(t, answer.Text))
				require.Equal(t, c.status >= 400, slices.Contains(members(t, answer.Text), "error"))
			})
		}
	})
}
