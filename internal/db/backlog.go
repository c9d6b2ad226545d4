package db

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/telemetry"
)

const (
	// backlogRows bounds what is counted, so that a scrape costs the same when millions of rows wait.
	backlogRows = 10_000
	// pendingWebhooks and failingWebhooks bound the series that the metrics take.
	pendingWebhooks = 20
	failingWebhooks = 100
)

// Backlog reads what waits in the database, for the metrics. It reads the entries of partial
// indexes that are nearly empty while all is well, and at most backlogRows of them.
func (d *DB) Backlog(ctx context.Context, now time.Time) (telemetry.Backlog, error) {
	var backlog telemetry.Backlog
	for _, read := range []func(context.Context, time.Time, *telemetry.Backlog) error{
		d.readUnconfirmed, d.readPending, d.readFailing,
	} {
		if err := read(ctx, now, &backlog); err != nil {
			return telemetry.Backlog{}, err
		}
	}
	return backlog, nil
}

// readUnconfirmed counts the orders that OrdersMissingWorkflow lists, without a grace period.
func (d *DB) readUnconfirmed(ctx context.Context, now time.Time, backlog *telemetry.Backlog) error {
	var unconfirmed struct {
		Orders int
		Since  *int64
	}
	err := d.with(ctx).Raw(`SELECT COUNT(*) AS orders, `+d.seconds("MIN(updated_at)")+` AS since FROM (
		SELECT updated_at FROM orders WHERE workflow_started_at IS NULL ORDER BY updated_at, id LIMIT ?) AS unconfirmed`,
		backlogRows).Scan(&unconfirmed).Error
	backlog.OrdersWithoutWorkflow, backlog.OldestOrder = unconfirmed.Orders, elapsed(unconfirmed.Since, now)
	return err
}

// readPending counts the pending deliveries by webhook. The status is no parameter, because a
// prepared statement with one could not use the index.
func (d *DB) readPending(ctx context.Context, now time.Time, backlog *telemetry.Backlog) error {
	var rows []struct {
		WebhookID, OperatorID uuid.UUID
		Failing               bool
		Deliveries            int
		Due                   *int64
	}
	err := d.with(ctx).Raw(`
		SELECT pending.webhook_id, webhooks.operator_id,
			webhooks.failing_since IS NOT NULL OR webhooks.paused_at IS NOT NULL AS failing,
			COUNT(*) AS deliveries, `+d.seconds("MIN(pending.next_attempt_at)")+` AS due
		FROM (SELECT webhook_id, next_attempt_at FROM deliveries WHERE status = 'pending'
			ORDER BY next_attempt_at LIMIT ?) AS pending
		JOIN webhooks ON webhooks.id = pending.webhook_id
		GROUP BY pending.webhook_id, webhooks.operator_id,
			webhooks.failing_since IS NOT NULL OR webhooks.paused_at IS NOT NULL`, backlogRows).Scan(&rows).Error
	for _, row := range rows {
		backlog.DeliveriesPending += row.Deliveries
		backlog.Pending = append(backlog.Pending,
			telemetry.PendingWebhook{ID: row.WebhookID, OperatorID: row.OperatorID, Deliveries: row.Deliveries})
		if !row.Failing {
			backlog.Overdue = max(backlog.Overdue, elapsed(row.Due, now))
		}
	}
	slices.SortFunc(backlog.Pending, func(a, b telemetry.PendingWebhook) int {
		return cmp.Or(cmp.Compare(b.Deliveries, a.Deliveries), cmp.Compare(a.ID.String(), b.ID.String()))
	})
	backlog.Pending = backlog.Pending[:min(pendingWebhooks, len(backlog.Pending))]
	return err
}

func (d *DB) readFailing(ctx context.Context, now time.Time, backlog *telemetry.Backlog) error {
	var rows []struct {
		ID, OperatorID uuid.UUID
		FailingSince   time.Time
	}
	err := d.with(ctx).Raw(`SELECT id, operator_id, failing_since FROM webhooks
		WHERE active AND failing_since IS NOT NULL ORDER BY failing_since, id LIMIT ?`, failingWebhooks).Scan(&rows).Error
	for _, row := range rows {
		backlog.Failing = append(backlog.Failing,
			telemetry.FailingWebhook{ID: row.ID, OperatorID: row.OperatorID, For: max(0, now.Sub(row.FailingSince))})
	}
	return err
}

// elapsed is how long ago a Unix time was; zero for none and for one in the future.
func elapsed(since *int64, now time.Time) time.Duration {
	if since == nil {
		return 0
	}
	return max(0, now.Sub(time.Unix(*since, 0)))
}
