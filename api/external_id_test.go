package api_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// external_id selects the orders with exactly that number of the store's own, within what the
// caller sees.
func TestExternalID_filter(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant, other := s.NewTenant(t), s.NewTenant(t)
		numbered := func(key, number string) any {
			return created(t, s, key, map[string]any{"external_id": number}).String("id")
		}
		first, second, ofB := numbered(tenant.KeyA, "PED 1/ñ"), numbered(tenant.KeyA, " PED 1/ñ\u200b "), numbered(tenant.KeyB, "PED 1/ñ")
		numbered(tenant.KeyA, "ped 1/ñ")
		numbered(other.KeyA, "PED 1/ñ")
		created(t, s, tenant.KeyA)
		for _, c := range []struct {
			key, query string
			want       []any
		}{
			{tenant.Key, "PED 1/ñ", []any{ofB, second, first}},
			{tenant.Key, "  PED 1/ñ ", []any{ofB, second, first}},
			{tenant.KeyA, "PED 1/ñ", []any{second, first}},
			{tenant.KeyA, "PED", []any{}},
			{tenant.KeyA, "PED 1/ñ&status=cancelled", []any{}},
			{tenant.KeyA, "PED 1/ñ&limit=1&page=2", []any{first}},
			{tenant.KeyA, "%", []any{}},
		} {
			number, rest, _ := strings.Cut(c.query, "&")
			ids, page := listOrders(t, s, c.key, "?external_id="+url.QueryEscape(number)+"&"+rest)
			require.Equal(t, c.want, ids, c.query)
			if rest == "" {
				require.EqualValues(t, len(c.want), page["total"], c.query)
			}
		}
		all, _ := listOrders(t, s, tenant.Key, "?external_id=")
		require.Len(t, all, 5, "an empty parameter is none")
		panel := s.Do(t, apptest.Request{Method: "GET", Path: "/panel/api/orders?external_id=PED%201%2F%C3%B1", Token: tenant.SignIn(t, &tenant.StoreB)})
		require.Equal(t, 1.0, panel.Data["total"], panel.Text)
	})
}

// The same letter is written composed by some systems and decomposed by others. Both find the
// order, which keeps its number as its store wrote it.
func TestExternalID_filterFindsBothForms(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		const composed, decomposed = "se\u00f1al 7", "sen\u0303al 7"
		first := created(t, s, tenant.KeyA, map[string]any{"external_id": composed})
		second := created(t, s, tenant.KeyA, map[string]any{"external_id": decomposed})
		require.Equal(t, composed, first.String("external_id"))
		require.Equal(t, decomposed, second.String("external_id"))
		for _, number := range []string{composed, decomposed} {
			ids, page := listOrders(t, s, tenant.KeyA, "?external_id="+url.QueryEscape(number))
			require.ElementsMatch(t, []any{first.String("id"), second.String("id")}, ids)
			require.EqualValues(t, 2, page["total"])
		}
	})
}

// A number that nobody can see in whole is refused, in an order and in a query.
func TestExternalID_invalid(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for _, number := range []string{strings.Repeat("ñ", 101), "a\x00b", "a\nb", "a\u200bb", "a\u00a0b", "a\u202eb"} {
			requireWrongFields(t, postOrder(t, s, tenant.Key, map[string]any{"external_id": number}), "external_id")
			requireWrongFields(t, get(t, s, tenant.Key, "/v1/orders?external_id="+url.QueryEscape(number)), "external_id")
		}
		requireWrongFields(t, get(t, s, tenant.Key, "/v1/orders?external_id=%ff"), "external_id")
		require.Zero(t, countOrders(t, s, tenant))
	})
}
