package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// The panel's people may lose an answer too: under a key they get the first one again.
func TestPanelOrders_idempotencyKey(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		d, tenant := operatorDesk(t, s)
		create := func(product string) *apptest.Answer {
			return s.Do(t, apptest.Request{
				Method: http.MethodPost, Path: "/panel/api/orders", Token: d.token, Raw: []byte(orderBody(product)),
				Header: map[string]string{"Content-Type": "application/json", "Idempotency-Key": "venta-1"},
			})
		}
		first := create("Zapatillas")
		require.Equal(t, http.StatusCreated, first.Status, first.Text)
		require.Equal(t, "/panel/api/orders/"+first.String("id"), first.Header.Get("Location"))
		requireReplay(t, first, create("Zapatillas"))
		require.Equal(t, "idempotency_key_reused", create("Sandalias").Code)
		require.Equal(t, 1, countOrders(t, s, tenant))
	})
}
