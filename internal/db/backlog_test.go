package db_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/internal/telemetry"
	"despacho/models"
	"despacho/test/dbtest"
)

// backlogTest has webhook calls that wait.
type backlogTest struct {
	*dbtest.Tenant
	database *db.DB
	now      time.Time
}

func eachBacklog(t *testing.T, run func(t *testing.T, q *backlogTest)) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		w := dbtest.NewTenant(t, database)
		q := &backlogTest{Tenant: w, database: database, now: w.Pending.CreatedAt.Add(24 * time.Hour)}
		w.Pending.Status, w.Pending.FinishedAt = models.WebhookDeliveryFailed, &q.now
		require.NoError(t, database.Query(t.Context()).Model(&w.Pending).Select("status", "finished_at").Updates(&w.Pending).Error)
		run(t, q)
	})
}

// addWebhook adds a webhook like the tenant's with a closed circuit.
func (q *backlogTest) addWebhook(t *testing.T, change func(*models.Webhook)) models.Webhook {
	t.Helper()
	hook := q.Webhook
	hook.ID, hook.CircuitOpenedAt, hook.NextProbeAt, hook.ProbingUntil = uuid.New(), nil, nil, nil
	if change != nil {
		change(&hook)
	}
	require.NoError(t, q.database.Insert(t.Context(), &hook))
	return hook
}

// add adds a queued delivery of the order's event with the given number, which is due since then.
func (q *backlogTest) add(t *testing.T, hook models.Webhook, seq int, due time.Duration, change func(*models.WebhookDelivery)) uuid.UUID {
	t.Helper()
	next := q.now.Add(-due)
	row := q.Pending
	row.ID, row.WebhookID, row.OrderSeq, row.Status, row.FinishedAt, row.Queued = uuid.New(), hook.ID, seq, models.WebhookDeliveryPending, nil, true
	row.NextAttemptAt, row.CreatedAt = &next, q.now.Add(-24*time.Hour)
	if change != nil {
		change(&row)
	}
	require.NoError(t, q.database.InsertDeliveries(t.Context(), []models.WebhookDelivery{row}))
	return row.ID
}

func TestBacklog(t *testing.T) {
	eachBacklog(t, func(t *testing.T, q *backlogTest) {
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
