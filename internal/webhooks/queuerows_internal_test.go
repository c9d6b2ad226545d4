package webhooks

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
)

// queueTest has queued deliveries of one webhook or of several.
type queueTest struct {
	*dbtest.Tenant
	database *db.DB
	now      time.Time
}

func eachQueue(t *testing.T, run func(t *testing.T, q *queueTest)) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		w := dbtest.NewTenant(t, database)
		q := &queueTest{Tenant: w, database: database, now: w.Pending.CreatedAt.Add(24 * time.Hour)}
		w.Pending.Status, w.Pending.FinishedAt = models.WebhookDeliveryFailed, &q.now
		require.NoError(t, saveCall(t.Context(), database, &w.Pending))
		run(t, q)
	})
}

// addWebhook adds a webhook like the tenant's with a closed circuit.
func (q *queueTest) addWebhook(t *testing.T, change func(*models.Webhook)) models.Webhook {
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
func (q *queueTest) add(t *testing.T, hook models.Webhook, seq int, due time.Duration, change func(*models.WebhookDelivery)) uuid.UUID {
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

// webhooks lists the webhooks of which something is due.
func (q *queueTest) webhooks(t *testing.T) []queuedWebhook {
	t.Helper()
	found, err := queuedWebhooks(t.Context(), q.database, q.now)
	require.NoError(t, err)
	return found
}

// deliveries lists what can be sent to a webhook.
func (q *queueTest) deliveries(t *testing.T, hook models.Webhook) []uuid.UUID {
	t.Helper()
	ids, err := queuedCalls(t.Context(), q.database, hook.ID, q.now, 10)
	require.NoError(t, err)
	return ids
}

// The webhook with the oldest delivery comes first, those whose circuit is open by their probe.
func TestQueuedWebhooks(t *testing.T) {
	eachQueue(t, func(t *testing.T, q *queueTest) {
		require.Empty(t, q.webhooks(t))
		paused := q.addWebhook(t, func(w *models.Webhook) { w.PausedAt = &q.now })
		q.add(t, paused, 1, time.Hour, nil)
		require.Empty(t, q.webhooks(t), "a paused one gets nothing")
		young, old, later := q.addWebhook(t, nil), q.addWebhook(t, nil), q.addWebhook(t, nil)
		probedAt := func(at time.Time) func(*models.Webhook) {
			return func(hook *models.Webhook) {
				hook.CircuitOpenedAt, hook.NextProbeAt, hook.ProbingUntil, hook.Retry = &q.now, &at, &q.now, false
			}
		}
		failing, recovering := q.addWebhook(t, probedAt(q.now.Add(time.Minute))), q.addWebhook(t, probedAt(q.now.Add(time.Second)))
		q.add(t, later, 2, -time.Second, nil)
		q.add(t, young, 2, time.Minute, nil)
		q.add(t, young, 3, time.Second, nil)
		q.add(t, old, 2, time.Hour, nil)
		q.add(t, failing, 2, 3*time.Hour, nil)
		q.add(t, recovering, 2, 2*time.Hour, nil)

		var ids []uuid.UUID
		found := q.webhooks(t)
		for _, webhook := range found {
			ids = append(ids, webhook.ID)
		}
		require.Equal(t, []uuid.UUID{old.ID, young.ID, recovering.ID, failing.ID}, ids)
		require.True(t, found[0].Retry)
		require.Equal(t, q.Operator.ID, found[0].OperatorID)
		require.Nil(t, found[0].NextProbeAt)
		require.False(t, found[3].Retry)
		for _, at := range []*time.Time{found[3].CircuitOpenedAt, found[3].ProbingUntil} {
			require.True(t, q.now.Equal(*at))
		}
		require.True(t, failing.NextProbeAt.Equal(*found[3].NextProbeAt))
	})
}

// The oldest comes first; what is not due, is being sent, or comes after an earlier event of its
// order waits.
func TestQueuedDeliveries(t *testing.T) {
	eachQueue(t, func(t *testing.T, q *queueTest) {
		orderless := func(row *models.WebhookDelivery) { row.OrderID = nil }
		hook := q.addWebhook(t, nil)
		young, old := q.add(t, hook, 2, time.Minute, orderless), q.add(t, hook, 2, time.Hour, orderless)
		q.add(t, hook, 2, -time.Second, orderless)
		q.add(t, hook, 2, time.Hour, func(row *models.WebhookDelivery) { row.OrderID, row.Queued = nil, false })
		require.Equal(t, []uuid.UUID{old, young}, q.deliveries(t, hook))

		underWay := models.WebhookAttempt{DeliveryID: old, Number: 1, Cause: models.CauseAuto, StartedAt: q.now.Add(-20 * time.Second)}
		require.NoError(t, q.database.Insert(t.Context(), &underWay))
		require.Equal(t, []uuid.UUID{young}, q.deliveries(t, hook))
		for _, abandoned := range []time.Duration{-time.Minute, time.Hour} { // by a process that crashed, or by a clock that was ahead
			underWay.StartedAt = q.now.Add(abandoned)
			require.NoError(t, saveAttempt(t.Context(), q.database, &underWay))
			require.Equal(t, []uuid.UUID{old, young}, q.deliveries(t, hook))
		}

		for name, c := range map[string]struct {
			retry bool
			// earlier is when the next attempt at the earlier event is.
			earlier time.Duration
			isNew   bool
			waits   bool
		}{
			"an earlier event":                                     {false, -time.Minute, true, true},
			"an earlier event by a clock that is ahead":            {false, time.Hour, true, true},
			"the next attempt is soon":                             {false, 5 * time.Second, false, true},
			"retries were turned off, the next one is far away":    {false, time.Hour, false, false},
			"with retries":                                         {true, -time.Minute, true, true},
			"with retries, the next attempt is soon":               {true, 5 * time.Second, false, true},
			"with retries, the next attempt is far away":           {true, time.Hour, false, false},
			"with retries, an earlier event by a clock that ahead": {true, time.Hour, true, true},
		} {
			hook := q.addWebhook(t, func(hook *models.Webhook) { hook.Retry = c.retry })
			earlier := q.add(t, hook, 2, -c.earlier, func(row *models.WebhookDelivery) {
				row.Queued = false // whoever sends it
				if c.isNew {
					row.CreatedAt = *row.NextAttemptAt
				}
			})
			next := q.add(t, hook, 3, time.Minute, nil)
			held, err := HeldUp(t.Context(), q.database, q.Order.ID, q.now)
			require.NoError(t, err)
			require.True(t, held[hook.ID], "behind the next one, which is due")
			if c.waits {
				require.Empty(t, q.deliveries(t, hook), name)
			} else {
				require.Equal(t, []uuid.UUID{next}, q.deliveries(t, hook), name)
			}
			settled := models.WebhookDelivery{ID: earlier, Status: models.WebhookDeliveryDelivered, FinishedAt: &q.now}
			require.NoError(t, saveCall(t.Context(), q.database, &settled))
			require.Equal(t, []uuid.UUID{next}, q.deliveries(t, hook), name)
		}
	})
}

// The queue takes over what no workflow has called in time. A time that a clock set which was ahead
// holds nothing back.
func TestTakeOver(t *testing.T) {
	eachQueue(t, func(t *testing.T, q *queueTest) {
		hook := q.addWebhook(t, nil)
		q.add(t, hook, 2, -time.Hour, nil)
		isNew := q.add(t, hook, 3, -2*time.Hour, func(row *models.WebhookDelivery) { row.OrderID, row.CreatedAt = nil, *row.NextAttemptAt })
		tooFar := q.add(t, hook, 4, -48*time.Hour, func(row *models.WebhookDelivery) { row.OrderID = nil })
		require.Empty(t, q.deliveries(t, hook))
		unqueued := func(row *models.WebhookDelivery) { row.OrderID, row.Queued = nil, false }
		q.add(t, hook, 2, 30*time.Second, unqueued)
		left := q.add(t, hook, 2, time.Minute, unqueued)
		require.NoError(t, takeOver(t.Context(), q.database, q.now))
		require.ElementsMatch(t, []uuid.UUID{isNew, tooFar, left}, q.deliveries(t, hook))
	})
}
