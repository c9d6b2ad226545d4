package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/db"
	"despacho/models"
)

// isPending and isQueued are the conditions of the partial indexes. The status is no parameter,
// because a prepared statement with one could not use them.
const (
	isPending = "status = 'pending'"
	isQueued  = "queued AND " + isPending
)

// comesFirst is the condition that a pending call of an order and a webhook holds up the later
// ones: it is due soon, or nobody has tried it. With retries its next attempt may be hours away.
const comesFirst = isPending + " AND (next_attempt_at <= ? OR next_attempt_at = created_at)"

// soon is the time until which an event waits for the next attempt at an earlier one of its order:
// for one that comes back after an internal error, by the clock of any worker. Of the times between
// retries only the first is that short.
func soon(now time.Time) time.Time { return now.Add(internalErrorDelay + dueTolerance) }

// HeldUp returns the webhooks that have to get earlier events of an order before the next one.
func HeldUp(ctx context.Context, tx *db.DB, orderID uuid.UUID, now time.Time) (map[uuid.UUID]bool, error) {
	var ids []uuid.UUID
	err := tx.Query(ctx).Model(&models.WebhookDelivery{}).Where("order_id = ? AND "+comesFirst, orderID,
		soon(now)).Pluck("webhook_id", &ids).Error
	held := map[uuid.UUID]bool{}
	for _, id := range ids {
		held[id] = true
	}
	return held, err
}

// queuedWebhook is a webhook that has queued calls, as far as making them needs it. OperatorID is
// zero if the webhook does not exist any more, OwnerStoreID if no store owns it.
type queuedWebhook struct {
	ID              uuid.UUID
	OperatorID      uuid.UUID
	Test            bool
	OwnerStoreID    uuid.UUID
	Retry           bool
	CircuitOpenedAt *time.Time
	NextProbeAt     *time.Time
	ProbingUntil    *time.Time
}

// queuedWebhooks lists the webhooks that have queued calls which are due and are not paused, the
// one with the oldest first. Nobody resumes one that was deactivated: it is listed though it is
// paused, so that its calls end. Those whose circuit is open come in the order of their probes, so
// that the many calls of one that keeps failing do not hold up another's. It reads one entry of the
// index for each webhook, however many calls it has.
func queuedWebhooks(ctx context.Context, database *db.DB, now time.Time) (webhooks []queuedWebhook, err error) {
	err = database.Query(ctx).Raw(`
		WITH RECURSIVE waiting (webhook_id) AS (
			SELECT * FROM (SELECT webhook_id FROM deliveries WHERE `+isQueued+` ORDER BY webhook_id LIMIT 1) AS lowest
			UNION ALL
			SELECT (
				SELECT webhook_id FROM deliveries WHERE `+isQueued+` AND webhook_id > waiting.webhook_id ORDER BY webhook_id LIMIT 1
			)
			FROM waiting WHERE waiting.webhook_id IS NOT NULL
		), heads AS (
			SELECT webhook_id, (
				SELECT MIN(next_attempt_at) FROM deliveries WHERE webhook_id = waiting.webhook_id AND `+isQueued+`
			) AS oldest
			FROM waiting WHERE webhook_id IS NOT NULL
		)
		SELECT heads.webhook_id AS id, webhooks.operator_id, webhooks.owner_store_id,
			COALESCE(webhooks.test, FALSE) AS test, COALESCE(webhooks.retry, FALSE) AS retry,
			webhooks.circuit_opened_at, webhooks.next_probe_at, webhooks.probing_until
		FROM heads LEFT JOIN webhooks ON webhooks.id = heads.webhook_id
		WHERE heads.oldest <= ? AND (webhooks.paused_at IS NULL OR NOT webhooks.active)
		ORDER BY COALESCE(webhooks.next_probe_at, heads.oldest), heads.webhook_id`, now).Scan(&webhooks).Error
	return webhooks, err
}

// queuedCalls lists queued calls of a webhook that can be made, the oldest first. An event comes
// after the earlier ones of its order.
func queuedCalls(
	ctx context.Context, database *db.DB, webhookID uuid.UUID, now time.Time, limit int,
) (ids []uuid.UUID, err error) {
	err = sendable(ctx, database, webhookID, now).Order("next_attempt_at, id").Limit(limit).Pluck("id", &ids).Error
	return ids, err
}

// queuedCallOf returns the first queued call of an order to a webhook that can be made, the zero id
// if there is none.
func queuedCallOf(ctx context.Context, database *db.DB, orderID, webhookID uuid.UUID, now time.Time) (uuid.UUID, error) {
	var ids []uuid.UUID
	err := sendable(ctx, database, webhookID, now).Where("order_id = ?", orderID).Order("order_seq").Limit(1).Pluck("id",
		&ids).Error
	if err != nil || len(ids) == 0 {
		return uuid.Nil, err
	}
	return ids[0], nil
}

// sendable selects the queued calls of a webhook that can be made.
func sendable(ctx context.Context, database *db.DB, webhookID uuid.UUID, now time.Time) *gorm.DB {
	earlier := database.Query(ctx).Table("deliveries AS earlier").Select("1").
		Where("earlier.order_id = waiting.order_id AND earlier.webhook_id = waiting.webhook_id").
		Where("earlier.order_seq < waiting.order_seq").
		Where(comesFirst, soon(now))
	return database.Query(ctx).Table("deliveries AS waiting").
		Where("webhook_id = ? AND "+isQueued+" AND next_attempt_at <= ?", webhookID, now).
		Where("NOT EXISTS (?)", earlier).
		Where("NOT EXISTS (?)", underWay(ctx, database, "waiting.id", now))
}

// underWay selects the attempt at a call that may be under way.
func underWay(ctx context.Context, database *db.DB, id string, now time.Time) *gorm.DB {
	return database.Query(ctx).Table("delivery_attempts").Select("1").
		Where("delivery_id = "+id+" AND finished_at IS NULL AND started_at > ? AND started_at < ?", now.Add(-abandonedAfter),
			now.Add(abandonedAfter))
}

// requestedCall is a call that somebody has requested.
type requestedCall struct {
	ID, WebhookID uuid.UUID
	// OperatorID is zero if the webhook does not exist any more, OwnerStoreID if no store owns it.
	OperatorID, OwnerStoreID uuid.UUID
	Test, Failing            bool
}

// requestedCalls lists the call of each webhook that somebody requested last, of a range the oldest
// first, unless it is under way.
func requestedCalls(ctx context.Context, database *db.DB, now time.Time) (calls []requestedCall, err error) {
	err = database.Query(ctx).Raw(`
		SELECT requested.id, requested.webhook_id, webhooks.operator_id, webhooks.owner_store_id, COALESCE(webhooks.test, FALSE) AS test,
			webhooks.circuit_opened_at IS NOT NULL AS failing
		FROM (
			SELECT id, webhook_id, event,
				ROW_NUMBER() OVER (PARTITION BY webhook_id ORDER BY requested_at DESC, created_at, id) AS place
			FROM deliveries WHERE requested_at <= ?
		) AS requested LEFT JOIN webhooks ON webhooks.id = requested.webhook_id
		WHERE place = 1 AND (webhooks.paused_at IS NULL OR NOT webhooks.active OR requested.event = ?) AND NOT EXISTS (?)`,
		now.Add(abandonedAfter), models.EventTest, underWay(ctx, database, "requested.id", now)).Scan(&calls).Error
	return calls, err
}

// takeOver queues the calls whose first attempt no workflow has made in time, and those that a
// clock which was ahead has created. Of what is queued it makes due what such a clock has put off:
// new calls, and those whose next attempt is later than any can be.
func takeOver(ctx context.Context, database *db.DB, now time.Time) error {
	calls := func() *gorm.DB { return database.Query(ctx).Model(&models.WebhookDelivery{}) }
	err := calls().Where(isPending+" AND NOT queued AND next_attempt_at NOT BETWEEN ? AND ?", now.Add(-TakenOverAfter),
		now.Add(TakenOverAfter)).
		UpdateColumn("queued", true).Error
	if err != nil {
		return err
	}
	return calls().Where(isQueued+" AND next_attempt_at > ? AND (next_attempt_at = created_at OR next_attempt_at > ?)", now,
		now.Add(LongestWait)).
		UpdateColumn("next_attempt_at", now).Error
}

// TakenOverAfter is how long the workflow of an order has for the first attempt at a call: longer
// than workflows.WebhookTimeout. Then the queue makes it.
const TakenOverAfter = 45 * time.Second

// releaseRetries makes a webhook's calls due that wait for another attempt. They are locked by id,
// as the erasure does.
func releaseRetries(ctx context.Context, tx *db.DB, webhookID uuid.UUID, now time.Time) error {
	waiting := tx.QueryForUpdate(ctx).Model(&models.WebhookDelivery{}).Select("id").
		Where("webhook_id = ? AND "+isPending+" AND next_attempt_at > ? AND next_attempt_at <> created_at", webhookID,
			now).Order("id")
	return tx.Query(ctx).Model(&models.WebhookDelivery{}).Where("id IN (?)", waiting).UpdateColumn("next_attempt_at", now).Error
}
