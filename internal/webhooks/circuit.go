package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/db"
	"despacho/models"
)

// A webhook's circuit opens after openAfter failures in a row and closes with the first success.
// While it is open its calls are queued and get few slots. Those of a webhook with retries
// wait for the next probe, which one of them makes. A webhook without retries is promised one
// attempt at every event, so its calls do not wait for a probe: each is one.
const (
	openAfter = 5
	// The time to the next probe is half of the time that the circuit has been open, within bounds.
	minProbeDelay, maxProbeDelay = 5 * time.Second, 5 * time.Minute
)

// probeTimes are what decides whether an open circuit can be probed: not before its next probe, and
// not while it is being probed. Times later than the latest do not count: a clock was ahead when
// they were set.
type probeTimes struct{ now, latestProbe, latestProbing time.Time }

// probeTimesAt are the times at now. The clocks of workers differ by less than abandonedAfter.
func probeTimesAt(now time.Time) probeTimes {
	return probeTimes{now: now, latestProbe: now.Add(maxProbeDelay + abandonedAfter), latestProbing: now.Add(2 * abandonedAfter)}
}

// wait reports whether the calls of a webhook with an open circuit have to wait.
func (p probeTimes) wait(webhook *queuedWebhook) bool {
	holds := func(until *time.Time, latest time.Time) bool {
		return until != nil && until.After(p.now) && !until.After(latest)
	}
	return holds(webhook.NextProbeAt, p.latestProbe) || holds(webhook.ProbingUntil, p.latestProbing)
}

// claimProbe makes the attempt the probe of an open circuit. It returns OutcomeQueued if the
// attempt must wait, because another call is probing or has just failed.
func claimProbe(ctx context.Context, tx *db.DB, t *target, now time.Time) (stop Outcome, err error) {
	until, at := now.Add(abandonedAfter), probeTimesAt(now)
	circuit := tx.Query(ctx).Model(&models.Webhook{}).Where("id = ? AND circuit_opened_at IS NOT NULL", t.hook.ID)
	switch {
	case t.hook.CircuitOpenedAt == nil:
		return "", nil
	case !t.hook.Retry || !t.scheduled():
		return "", circuit.UpdateColumn("probing_until", until).Error
	}
	claimed := circuit.Where("(next_probe_at <= ? OR next_probe_at > ?)", at.now, at.latestProbe).
		Where("(probing_until IS NULL OR probing_until <= ? OR probing_until > ?)", at.now,
			at.latestProbing).UpdateColumn("probing_until", until)
	if claimed.Error != nil || claimed.RowsAffected > 0 {
		return "", claimed.Error
	}
	hook, err := readHook(ctx, tx, t.hook.ID)
	if err != nil || hook.CircuitOpenedAt == nil {
		return "", err // the other one succeeded
	}
	return OutcomeQueued, nil
}

// recordFailure counts a failed attempt and opens the circuit, or plans its next probe. opened
// means that the circuit was closed before. One that was opened before a long break, or by a clock
// that was ahead, counts as opened now.
func recordFailure(
	ctx context.Context, tx *db.DB, hook *models.Webhook, now time.Time,
) (counted *models.Webhook, opened bool, err error) {
	if hook, err = countFailure(ctx, tx, hook.ID, now); err != nil || hook.ConsecutiveFailures < openAfter {
		return hook, false, err
	}
	if opened = hook.CircuitOpenedAt == nil; opened || hook.CircuitOpenedAt.After(now) || now.Sub(*hook.NextProbeAt) > maxBreak {
		hook.CircuitOpenedAt = &now
	}
	next := now.Add(min(max(now.Sub(*hook.CircuitOpenedAt)/2, minProbeDelay), maxProbeDelay))
	hook.NextProbeAt, hook.ProbingUntil = &next, nil
	err = tx.Query(ctx).Model(&models.Webhook{}).Where("id = ?", hook.ID).
		Select("circuit_opened_at", "next_probe_at", "probing_until").UpdateColumns(hook).Error
	return hook, opened, err
}

// countFailure counts a failed attempt at a webhook and returns the webhook, locked until the
// transaction ends.
func countFailure(ctx context.Context, tx *db.DB, id uuid.UUID, now time.Time) (*models.Webhook, error) {
	err := tx.Query(ctx).Model(&models.Webhook{}).Where("id = ?", id).UpdateColumns(map[string]any{
		"consecutive_failures": gorm.Expr("consecutive_failures + 1"),
		"failing_since":        gorm.Expr("COALESCE(failing_since, ?)", now),
	}).Error
	if err != nil {
		return nil, err
	}
	return readHook(ctx, tx, id)
}

// closeCircuit writes that a webhook's receiver has accepted an event.
func closeCircuit(ctx context.Context, tx *db.DB, id uuid.UUID) error {
	return tx.Query(ctx).Model(&models.Webhook{}).Where("id = ?", id).UpdateColumns(map[string]any{
		"failing_since": nil, "consecutive_failures": 0, "circuit_opened_at": nil, "next_probe_at": nil, "probing_until": nil,
	}).Error
}
