package api_test

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/guidecode"
	"despacho/test/apptest"
)

// orderMembers is the full object: the same in create, read, list and cancel.
var orderMembers = []string{
	"actual_amount_collected", "amount_to_collect", "assigned_at", "attempts", "branch_id", "cancellation", "cancelled_at",
	"collections", "created_at", "currency", "decision_deadline", "delivered_at", "delivery_address", "delivery_lat",
	"delivery_lng", "delivery_maps_url", "delivery_proof", "delivery_reference", "delivery_type", "external_id", "guide_code",
	"id", "location", "location_id", "next_attempt_on", "notes", "operative_day", "payment_type", "product", "received_at",
	"received_by", "recipient_doc_number", "recipient_doc_type", "recipient_doc_verified", "recipient_name", "recipient_phone",
	"rider", "shipping_cost", "size", "status", "status_label", "store_id", "substatus",
}

// The creation response is 201 with the order in data, and says where to read it.
func TestContract_2_3_createdOrder(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		order := created(t, s, tenant.KeyA)

		_, err := uuid.Parse(order.String("id"))
		require.NoError(t, err)
		require.Equal(t, "/v1/orders/"+order.String("id"), order.Header.Get("Location"))
		require.Regexp(t, regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{6}$`), order.String("guide_code"))
		_, wellFormed := guidecode.Parse(order.String("guide_code"))
		require.True(t, wellFormed, "its check character is right")
		require.Equal(t, 9.0, order.Data["shipping_cost"])
		require.Equal(t, "PEN", order.String("currency"))
		require.Equal(t, "registered", order.String("status"))
		require.Equal(t, "Registrado", order.String("status_label"))
		require.Equal(t, "delivery_only", order.String("payment_type"))
		require.Equal(t, map[string]any{"id": apptest.Miraflores.String(), "name": "Miraflores"}, order.Data["location"])
		require.Equal(t, "2026-03-10", order.String("operative_day"))
		require.Equal(t, apptest.FrozenAt.Format(time.RFC3339), order.String("created_at"))
		for _, member := range []string{"rider", "delivery_proof", "actual_amount_collected", "cancellation", "received_at", "assigned_at", "delivered_at", "cancelled_at"} {
			require.Nil(t, order.Data[member], member)
		}
		require.Equal(t, order.Text, get(t, s, tenant.KeyA, order.Header.Get("Location")).Text, "read shows the same object")
	})
}

// The same full object in create, read and list, with every member there and nulls shown.
func TestContract_2_3_exactMembers(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		var create, read struct{ Data json.RawMessage }
		var list struct {
			Data struct{ Orders []json.RawMessage }
		}
		order := created(t, s, tenant.Key)
		require.NoError(t, json.Unmarshal([]byte(order.Text), &create))
		require.NoError(t, json.Unmarshal([]byte(get(t, s, tenant.Key, "/v1/orders/"+order.String("id")).Text), &read))
		require.NoError(t, json.Unmarshal([]byte(get(t, s, tenant.Key, "/v1/orders").Text), &list))
		require.Equal(t, orderMembers, members(t, string(create.Data)))
		require.Equal(t, string(create.Data), string(read.Data))
		require.Len(t, list.Data.Orders, 1)
		require.Equal(t, string(create.Data), string(list.Data.Orders[0]))
	})
}

// Guide codes are each order's own.
func TestContract_2_3_guideCodesDiffer(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		require.NotEqual(t, created(t, s, tenant.Key).String("guide_code"), created(t, s, tenant.Key).String("guide_code"))
	})
}
