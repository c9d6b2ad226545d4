package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// The values that were corrected go with the rest of a recipient's data, also those of somebody
// whom the order is not for any more.
func TestCorrect_isErased(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true}, func(t *testing.T, s *apptest.Service) {
		d, tenant, _ := adminDesk(t, s)
		id := insertedRow(t, tenant, func(o *models.Order) { o.RecipientPhone = "+51911222333" })
		for _, change := range []fields{
			{"delivery_address": "Jr. Los Cedros 871", "delivery_reference": "Portón granate", "notes": "Preguntar por Melchora"},
			{"recipient_phone": "+51944555666", "delivery_address": "Av. Larco 1", "delivery_reference": nil, "notes": nil},
			{"recipient_phone": "+51977888999", "size": "L"},
		} {
			require.Equal(t, http.StatusOK, d.patch("/orders/"+id, change).Status)
		}
		requireStored := func(phone string) {
			t.Helper()
			var count int
			require.NoError(t, s.App.DB.SQL().QueryRowContext(t.Context(),
				"SELECT COUNT(*) FROM order_corrections WHERE old_value = '"+phone+"' OR new_value = '"+phone+"'").Scan(&count))
			require.Positive(t, count)
		}
		requireStored("+51944555666")
		require.Equal(t, http.StatusOK, d.post("/erasures", fields{"phone": "944 555 666"}).Status)
		requireNotStored(t, s, "+51944555666")
		requireStored("+51911222333")

		_, err := s.App.DB.SQL().ExecContext(t.Context(), "UPDATE orders SET status = 'cancelled', cancelled_by = 'operator', cancelled_at = created_at WHERE id = '"+id+"'")
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, d.post("/orders/"+id+"/erase", nil).Status)
		requireNotStored(t, s, "911222333", "977888999", "Los Cedros 871", "Portón granate", "Melchora", "Av. Larco 1", "av larco 1")
		timeline := objects(t, d.send(http.MethodGet, "/orders/"+id, nil).Data["timeline"].([]any))
		changes := objects(t, timeline[len(timeline)-1]["changes"].([]any))
		require.Equal(t, []any{"recipient_phone", "size", "shipping_cost"}, column(changes, "field"), "that it was corrected stays known")
		require.Equal(t, []any{nil, "M", "9.00"}, column(changes, "old"))
	})
}

// A phone that was corrected is somebody else's: whoever asks to be forgotten is removed from
// everything that was stored until then, and the order stays with its recipient. What is being sent
// is left as it is, and found again.
func TestCorrect_earlierPhoneIsErased(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true}, func(t *testing.T, s *apptest.Service) {
		d, tenant, _ := adminDesk(t, s)
		s.Register(t, tenant.Key, apptest.NewReceiver(t, nil))
		const body = `{"recipient_name":"Rosa Díaz","recipient_phone":"944555666","delivery_address":"Av. Larco 1","product":"Botas","location_id":"%s"}`
		first := once(t, s, tenant.Key, "venta-1", fmt.Sprintf(body, apptest.Miraflores))
		require.Equal(t, http.StatusCreated, first.Status, first.Text)
		id := first.String("id")
		require.Equal(t, http.StatusOK, d.patch("/orders/"+id, fields{"recipient_phone": "+51977888999"}).Status)
		erase := func(erased, open float64) {
			t.Helper()
			require.Equal(t, map[string]any{"erased": erased, "open": open}, d.post("/erasures", fields{"phone": "944 555 666"}).Data)
		}
		erase(0, 1)

		var delivery uuid.UUID
		require.NoError(t, s.App.DB.SQL().QueryRowContext(t.Context(), "SELECT id FROM deliveries WHERE order_id = '"+id+"'").Scan(&delivery))
		_, err := s.App.DB.SQL().ExecContext(t.Context(), "UPDATE deliveries SET status = 'delivered', next_attempt_at = NULL, finished_at = created_at WHERE id = '"+delivery.String()+"'")
		require.NoError(t, err)
		response, now := "gracias, 944555666", time.Now()
		require.NoError(t, s.App.DB.Insert(t.Context(), &models.WebhookAttempt{
			DeliveryID: delivery, Number: 1, Cause: models.CauseAuto, StartedAt: now, FinishedAt: &now, Response: &response,
		}))
		erase(1, 0)
		requireNotStored(t, s, "944555666")
		erase(0, 0)

		again := once(t, s, tenant.Key, "venta-1", fmt.Sprintf(body, apptest.Miraflores))
		require.Equal(t, strings.Replace(first.Text, "+51944555666", models.ErasedPhone, 1), again.Text, "only the phone")
		order := d.send(http.MethodGet, "/orders/"+id, nil)
		require.Equal(t, "+51977888999", order.String("recipient_phone"))
		require.Equal(t, "Rosa Díaz", order.String("recipient_name"))
	})
}
