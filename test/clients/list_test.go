package clients

import (
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// Whoever cancels each order of a list of registered orders reaches all of them, though every
// cancelled one leaves the list and moves the others to earlier pages.
func TestListThatShrinks(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		eachLanguage(t, func(t *testing.T, r *runner) {
			tenant := s.NewTenant(t)
			var newestFirst []any
			for range 7 {
				order := map[string]any{"id": s.CreateOrder(t, tenant.KeyA), "status": "cancelled"}
				newestFirst = append([]any{order}, newestFirst...)
			}
			registered := map[string]any{"filter": map[string]any{"status": "registered", "limit": 2}}

			o := r.call(t, s.BaseURL, tenant.KeyA, "cancel_orders", registered)

			require.Nil(t, o.Error)
			require.Empty(t, o.Other)
			requirePart(t, "cancelled, each once", newestFirst, o.Result)
			require.Equal(t, []any{}, r.call(t, s.BaseURL, tenant.KeyA, "orders", registered).Result)
		})
	})
}
