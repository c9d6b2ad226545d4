package db

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

// isQueued is the condition of the index deliveries_queue. The status is no parameter, because a
// prepared statement with one could not use the index.
const isQueued = "queued AND status = 'pending'"

// Enqueue queues a pending delivery: the workers send it from now on.
func (d *DB) Enqueue(ctx context.Context, id uuid.UUID) error {
	return d.with(ctx).Model(&models.WebhookDelivery{}).
		Where("id = ? AND status = ?", id, models.WebhookDeliveryPending).UpdateColumn("queued", true).Error
}

// QueueAround reports what is queued around a delivery. It is behind the queue of its webhook if
// that has a delivery which is due by a time, or an earlier one of the same order that is due soon
// or that nobody has tried to send. Its siblings are queued deliveries of the same event.
func (d *DB) QueueAround(ctx context.Context, delivery *models.WebhookDelivery, dueBy, soon time.Time) (behind, siblings bool, err error) {
	var found struct{ Behind, Siblings bool }
	err = d.with(ctx).Raw(`
		SELECT EXISTS (SELECT 1 FROM deliveries WHERE webhook_id = @webhook AND `+isQueued+` AND next_attempt_at <= @due)
		    OR EXISTS (SELECT 1 FROM deliveries WHERE order_id = @order AND webhook_id = @webhook AND order_seq < @seq AND `+isQueued+`
		        AND (next_attempt_at <= @soon OR next_attempt_at = created_at))
		    AS behind,
		    EXISTS (SELECT 1 FROM deliveries WHERE order_id = @order AND order_seq = @seq AND `+isQueued+`) AS siblings`,
		map[string]any{"webhook": delivery.WebhookID, "due": dueBy, "soon": soon, "order": delivery.OrderID, "seq": delivery.OrderSeq}).Scan(&found).Error
	return found.Behind, found.Siblings, err
}

// QueuedWebhook is a webhook that has queued deliveries, as far as sending them needs it.
// OperatorID is zero if the webhook does not exist any more.
type QueuedWebhook struct {
	ID              uuid.UUID
	OperatorID      uuid.UUID
	Retry           bool
	CircuitOpenedAt *time.Time
	NextProbeAt     *time.Time
	ProbingUntil    *time.Time
}

// QueuedWebhooks lists the webhooks that have queued deliveries which are due and are not paused,
// the one with the oldest first. Nobody resumes one that was deactivated: it is listed though it is
// paused, so that its deliveries end. Those whose circuit is open come in the order of their
// probes, so that the many deliveries of one that keeps failing do not hold up another's. It reads
// one entry of the index for each webhook, however many deliveries it has.
func (d *DB) QueuedWebhooks(ctx context.Context, now time.Time) (webhooks []QueuedWebhook, err error) {
	err = d.with(ctx).Raw(`
		WITH RECURSIVE waiting (webhook_id) AS (
			SELECT * FROM (SELECT webhook_id FROM deliveries WHERE `+isQueued+` ORDER BY webhook_id LIMIT 1) AS lowest
			UNION ALL
			SELECT (SELECT webhook_id FROM deliveries WHERE `+isQueued+` AND webhook_id > waiting.webhook_id ORDER BY webhook_id LIMIT 1)
			FROM waiting WHERE waiting.webhook_id IS NOT NULL
		), heads AS (
			SELECT webhook_id, (SELECT MIN(next_attempt_at) FROM deliveries WHERE webhook_id = waiting.webhook_id AND `+isQueued+`) AS oldest
			FROM waiting WHERE webhook_id IS NOT NULL
		)
		SELECT heads.webhook_id AS id, webhooks.operator_id, COALESCE(webhooks.retry, FALSE) AS retry,
			webhooks.circuit_opened_at, webhooks.next_probe_at, webhooks.probing_until
		FROM heads LEFT JOIN webhooks ON webhooks.id = heads.webhook_id
		WHERE heads.oldest <= ? AND (webhooks.paused_at IS NULL OR NOT webhooks.active)
		ORDER BY COALESCE(webhooks.next_probe_at, heads.oldest), heads.webhook_id`, now).Scan(&webhooks).Error
	return webhooks, err
}

// QueueTimes are what decides which queued deliveries can be sent.
type QueueTimes struct {
	// Now is the time until which a delivery must be due.
	Now time.Time
	// Soon is the time until which the next attempt at an earlier event of the same order is waited
	// for. It may be hours away, also for a webhook whose retries were turned off since.
	Soon time.Time
	// An attempt without an outcome that began between BegunAfter and BegunBefore may still be under
	// way.
	BegunAfter, BegunBefore time.Time
}

// QueuedDeliveries lists queued deliveries of a webhook that can be sent, the oldest first. An
// event comes after the earlier ones of its order.
func (d *DB) QueuedDeliveries(ctx context.Context, webhook *QueuedWebhook, at QueueTimes, limit int) (ids []uuid.UUID, err error) {
	err = d.sendable(ctx, webhook, at).Order("next_attempt_at, id").Limit(limit).Pluck("id", &ids).Error
	return ids, err
}

// QueuedDeliveryOf returns the first queued delivery of an order to a webhook that can be sent, the
// zero id if there is none.
func (d *DB) QueuedDeliveryOf(ctx context.Context, orderID uuid.UUID, webhook *QueuedWebhook, at QueueTimes) (uuid.UUID, error) {
	var ids []uuid.UUID
	err := d.sendable(ctx, webhook, at).Where("order_id = ?", orderID).Order("order_seq").Limit(1).Pluck("id", &ids).Error
	if err != nil || len(ids) == 0 {
		return uuid.Nil, err
	}
	return ids[0], nil
}

// sendable selects the queued deliveries of a webhook that can be sent.
func (d *DB) sendable(ctx context.Context, webhook *QueuedWebhook, at QueueTimes) *gorm.DB {
	return d.with(ctx).Table("deliveries AS waiting").
		Where("webhook_id = ? AND "+isQueued+" AND next_attempt_at <= ?", webhook.ID, at.Now).
		Where(`NOT EXISTS (
			SELECT 1 FROM deliveries AS earlier
			WHERE earlier.order_id = waiting.order_id AND earlier.webhook_id = waiting.webhook_id
			AND earlier.order_seq < waiting.order_seq AND earlier.status = 'pending'
			AND (earlier.next_attempt_at <= ? OR earlier.next_attempt_at = earlier.created_at))`, at.Soon).
		Where(`NOT EXISTS (
			SELECT 1 FROM delivery_attempts
			WHERE delivery_id = waiting.id AND finished_at IS NULL AND started_at > ? AND started_at < ?)`, at.BegunAfter, at.BegunBefore)
}

// ReleaseQueued makes queued deliveries due whose time a clock that was ahead has set: new ones,
// and those whose next attempt is later than any can be.
func (d *DB) ReleaseQueued(ctx context.Context, now, latest time.Time) (int64, error) {
	result := d.with(ctx).Model(&models.WebhookDelivery{}).
		Where(isQueued+" AND next_attempt_at > ? AND (next_attempt_at = created_at OR next_attempt_at > ?)", now, latest).
		UpdateColumn("next_attempt_at", now)
	return result.RowsAffected, result.Error
}

// ReleaseRetries makes a webhook's deliveries due that wait for another attempt, and queues them:
// the workflows that would make those attempts keep their time. They are locked by id, as
// LockDeliveriesOf does.
func (d *DB) ReleaseRetries(ctx context.Context, webhookID uuid.UUID, now time.Time) error {
	waiting := d.forUpdate(ctx).Model(&models.WebhookDelivery{}).Select("id").
		Where("webhook_id = ? AND status = ? AND next_attempt_at > ? AND next_attempt_at <> created_at", webhookID, models.WebhookDeliveryPending, now).Order("id")
	return d.with(ctx).Model(&models.WebhookDelivery{}).Where("id IN (?)", waiting).
		UpdateColumns(map[string]any{"queued": true, "next_attempt_at": now}).Error
}
