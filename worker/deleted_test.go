package worker_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// deleteRow deletes a row that others refer to, as somebody can who has switched the checks off.
func (s *service) deleteRow(t *testing.T, table string, id uuid.UUID) {
	t.Helper()
	ctx := context.Background()
	off, on := "PRAGMA foreign_keys = OFF", "PRAGMA foreign_keys = ON"
	if s.App.DB.Dialect() == db.Postgres {
		off, on = "SET session_replication_role = replica", "RESET session_replication_role"
	}
	connection, err := s.App.DB.SQL().Conn(ctx)
	require.NoError(t, err)
	defer connection.Close()
	for _, statement := range []string{off, fmt.Sprintf("DELETE FROM %s WHERE id = '%s'", table, id), on} {
		_, err := connection.ExecContext(ctx, statement)
		require.NoError(t, err, statement)
	}
}

// An order whose rider, branch and store are gone is read, tracked and moved; also when its
// workflow has to be started again.
func TestDeleted_riderBranchAndStore(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := s.CreateOrder(t, s.KeyA)
		s.receive(t, id)
		s.assign(t, id, 0)
		s.deleteRow(t, "riders", s.Riders[0].ID)
		s.deleteRow(t, "branches", s.Main.ID)
		s.deleteRow(t, "stores", s.StoreA.ID)

		order := s.order(t, id)
		require.Nil(t, order.Data["rider"])
		for _, path := range []string{"/v1/orders", "/panel/api/orders/" + id} {
			request := apptest.Request{Method: http.MethodGet, Path: path, Token: s.staff}
			if path == "/v1/orders" {
				request.Key, request.Token = s.Key, ""
			}
			answer := s.Do(t, request)
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		}
		answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/track/" + order.String("guide_code")})
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)

		answer = s.move(t, id, "assign", map[string]any{"rider_id": s.Riders[0].ID})
		require.Less(t, answer.Status, http.StatusInternalServerError, answer.Text)
		require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), workflowOf(id), "", "by hand"))
		require.NoError(t, s.App.Orders.Reconcile(t.Context(), uuid.MustParse(id))) // as the reconcile workflow does
		require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), workflowOf(id), "", "by hand"))
		s.deliver(t, id)
		s.waitForOrderEnd(t, id)
	})
}

// The same holds for an order whose location is gone, and its recipient can be erased.
func TestDeleted_location(t *testing.T) {
	eachOwn(t, func(t *testing.T, s *service) {
		id := s.CreateOrder(t, s.Key)
		s.receive(t, id)
		order, err := s.App.DB.OrderViewByID(t.Context(), uuid.MustParse(id))
		require.NoError(t, err)
		s.deleteRow(t, "locations", order.LocationID)

		require.Equal(t, map[string]any{"id": order.LocationID.String(), "name": ""}, s.order(t, id).Data["location"])
		listed := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders", Key: s.Key})
		require.Contains(t, listed.Text, id)
		s.assign(t, id, 0)
		s.deliver(t, id)
		s.waitForOrderEnd(t, id)
		poll.Until(t, func() error { // the history is deleted once no run is listed as running
			_, err := s.App.Orders.Erase(t.Context(), &s.Operator, order.ID)
			return err
		})
		require.Equal(t, models.ErasedText, s.order(t, id).String("recipient_name"))
	})
}

// A rider or a branch that was deactivated gets nothing new; what the rider has is delivered or
// given to another.
func TestDeleted_deactivated(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		delivered, reassigned, registered := s.CreateOrder(t, s.Key), s.CreateOrder(t, s.Key), s.CreateOrder(t, s.Key)
		for _, id := range []string{delivered, reassigned} {
			s.receive(t, id)
			s.assign(t, id, 0)
		}
		for _, path := range []string{"/panel/api/riders/" + s.Riders[0].ID.String(), "/panel/api/branches/" + s.Other.ID.String()} {
			answer := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: path, Token: s.staff, Body: map[string]any{"active": false}})
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		}
		answer := s.move(t, registered, "receive", map[string]any{"branch_id": s.Other.ID})
		require.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity}, answer.Status, answer.Text)
		s.receive(t, registered)
		answer = s.move(t, registered, "assign", map[string]any{"rider_id": s.Riders[0].ID})
		require.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity}, answer.Status, answer.Text)
		s.deliver(t, delivered)
		s.assign(t, reassigned, 1)
		s.assign(t, registered, 1)
	})
}

// The delivery of a webhook that is gone fails, and so does one that is gone itself; the order goes
// on and its workflow ends.
func TestDeleted_webhookWithPendingDeliveries(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := boot(t, databaseURL, apptest.Options{NoWorker: true})
		receiver := apptest.NewReceiver(t, nil)
		deleted, _ := s.Register(t, s.Key, receiver)
		kept, _ := s.Register(t, s.Key, receiver)
		order := func() (string, []models.WebhookDelivery) {
			id := s.CreateOrder(t, s.Key)
			var deliveries []models.WebhookDelivery
			require.NoError(t, s.App.DB.Query(t.Context()).Where("order_id = ?", id).Find(&deliveries).Error)
			require.Len(t, deliveries, 2)
			return id, deliveries
		}
		id, deliveries := order()
		other, gone := order()
		s.deleteRow(t, "webhooks", uuid.MustParse(deleted))
		for _, delivery := range gone {
			s.deleteRow(t, "deliveries", delivery.ID)
		}
		s.StartWorker(t)
		for _, id := range []string{id, other} {
			require.Equal(t, http.StatusOK, s.move(t, id, "cancel", nil).Status)
			s.waitForOrderEnd(t, id)
		}
		for _, delivery := range deliveries {
			want := map[uuid.UUID]models.WebhookDeliveryStatus{
				uuid.MustParse(deleted): models.WebhookDeliveryFailed, uuid.MustParse(kept): models.WebhookDeliveryDelivered,
			}[delivery.WebhookID]
			poll.Until(t, func() error {
				var row models.WebhookDelivery
				err := s.App.DB.Query(t.Context()).Where("id = ?", delivery.ID).Take(&row).Error
				if err == nil && row.Status != want {
					err = fmt.Errorf("it is %s, not %s", row.Status, want)
				}
				return err
			})
		}
	})
}
