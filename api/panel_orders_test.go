package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
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

// The panel's list is narrowed to what waits after a failed attempt.
func TestPanelOrders_filteredByAttempts(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		failed, planned, loaded := models.SubstatusAttemptFailed, models.SubstatusRetryPlanned, time.Now()
		on := "2026-03-09"
		assigned := func(o *models.Order) {
			o.Status, o.RiderID, o.AssignedAt = models.StatusAssigned, &tenant.Riders[0].ID, &loaded
		}
		first := tenant.Row(loaded, assigned, func(o *models.Order) { o.Substatus = &failed })
		second := tenant.Row(loaded, apptest.ReceivedAfter(time.Hour), func(o *models.Order) { o.Substatus, o.NextAttemptOn = &planned, &on })
		third := tenant.Row(loaded, assigned, func(o *models.Order) { o.LoadedAt = &loaded })
		tenant.InsertRows(t, []models.Order{first, second, third})
		token := tenant.SignIn(t, nil)
		fourth := tenant.Row(loaded, assigned, func(o *models.Order) { o.RiderID = &tenant.Riders[1].ID }) // has no phone
		tenant.InsertRows(t, []models.Order{fourth})
		tenant.GivePhone(t, tenant.Riders[0])
		for query, want := range map[string][]models.Order{
			"substatus=attempt_failed": {first}, "substatus=attempt_failed,retry_planned": {first, second},
			"due_by=2026-03-09": {second}, "due_by=2026-03-08": nil, "not_loaded=true": {first}, "not_loaded=false": {first, second, third, fourth},
		} {
			answer := s.Do(t, apptest.Request{Method: "GET", Path: "/panel/api/orders?" + query, Token: token})
			require.Equal(t, 200, answer.Status, answer.Text)
			require.EqualValues(t, len(want), answer.Data["total"], query)
			for _, order := range want {
				require.Contains(t, answer.Text, order.ID.String(), query)
			}
		}
		for _, wrong := range []string{"substatus=x", "not_loaded=1", "due_by=ayer"} {
			require.Equal(t, 400, s.Do(t, apptest.Request{Method: "GET", Path: "/panel/api/orders?" + wrong, Token: token}).Status, wrong)
		}
	})
}
