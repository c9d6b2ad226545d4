package db_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/telemetry"
	"despacho/models"
)

func TestBacklog(t *testing.T) {
	eachQueue(t, func(t *testing.T, q *queueTest) {
		ctx, database := t.Context(), q.database
		_, err := database.SQL().ExecContext(ctx, "UPDATE orders SET workflow_started_at = updated_at")
		require.NoError(t, err)
		_, err = database.SQL().ExecContext(ctx, "UPDATE webhooks SET failing_since = NULL")
		require.NoError(t, err)
		calm, err := database.Backlog(ctx, q.now)
		require.NoError(t, err)
		require.Equal(t, telemetry.Backlog{}, calm)

		failingSince := q.now.Add(-48 * time.Hour)
		failing := q.addWebhook(t, func(hook *models.Webhook) { hook.FailingSince, hook.Active = &failingSince, true })
		inactive := q.addWebhook(t, func(hook *models.Webhook) { hook.FailingSince, hook.Active = &failingSince, false })
		healthy := q.addWebhook(t, func(hook *models.Webhook) { hook.FailingSince, hook.Active = nil, true })
		q.add(t, failing, 11, 10*time.Hour, nil)
		q.add(t, failing, 12, time.Hour, nil)
		q.add(t, failing, 13, time.Hour, nil)
		q.add(t, healthy, 11, 90*time.Second, nil)
		q.add(t, healthy, 12, -time.Hour, func(row *models.WebhookDelivery) { row.Queued = false })
		q.add(t, inactive, 11, time.Hour, func(row *models.WebhookDelivery) {
			row.Status, row.FinishedAt = models.WebhookDeliveryFailed, &q.now
		})
		unconfirmed := q.Order
		unconfirmed.ID, unconfirmed.GuideCode, unconfirmed.WorkflowStartedAt = uuid.New(), "other", nil
		unconfirmed.UpdatedAt = q.now.Add(-2 * time.Minute)
		require.NoError(t, database.Insert(ctx, &unconfirmed))

		backlog, err := database.Backlog(ctx, q.now)
		require.NoError(t, err)
		require.Equal(t, 1, backlog.OrdersWithoutWorkflow)
		require.InDelta(t, (2 * time.Minute).Seconds(), backlog.OldestOrder.Seconds(), 1)
		require.Equal(t, 5, backlog.DeliveriesPending)
		require.InDelta(t, 90, backlog.Overdue.Seconds(), 1, "of the webhook that does not fail")
		require.Equal(t, []telemetry.PendingWebhook{
			{ID: failing.ID, OperatorID: q.Operator.ID, Deliveries: 3}, {ID: healthy.ID, OperatorID: q.Operator.ID, Deliveries: 2},
		}, backlog.Pending)
		require.Equal(t, []telemetry.FailingWebhook{{ID: failing.ID, OperatorID: q.Operator.ID, For: 48 * time.Hour}}, backlog.Failing)
	})
}
