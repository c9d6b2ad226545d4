package webhooks

import (
	"context"
	"time"

	"despacho/internal/db"
	"despacho/models"
	"despacho/workflows"
)

// A webhook's circuit opens after openAfter failures in a row and closes with the first success.
// While it is open its deliveries are queued and get few slots. Those of a webhook with retries
// wait for the next probe, which one of them makes. A webhook without retries is promised one
// attempt at every event, so its deliveries do not wait for a probe: each is one.
const (
	openAfter = 5
	// The time to the next probe is half of the time that the circuit has been open, within bounds.
	minProbeDelay, maxProbeDelay = 5 * time.Second, 5 * time.Minute
)

// probeTimes decides whether an open circuit can be probed. The clocks of workers differ by less
// than abandonedAfter.
func probeTimes(now time.Time) db.ProbeTimes {
	return db.ProbeTimes{Now: now, LatestProbe: now.Add(maxProbeDelay + abandonedAfter), LatestProbing: now.Add(2 * abandonedAfter)}
}

// claimProbe makes the attempt the probe of an open circuit. It returns an error if the attempt
// must wait, because another delivery is probing or has just failed.
func claimProbe(ctx context.Context, tx *db.DB, t *target, now time.Time) (stop, err error) {
	until := now.Add(abandonedAfter)
	switch {
	case t.hook.CircuitOpenedAt == nil:
		return nil, nil
	case !t.hook.Retry || !t.scheduled():
		return nil, tx.MarkProbing(ctx, t.hook.ID, until)
	}
	if claimed, err := tx.ClaimProbe(ctx, t.hook.ID, probeTimes(now), until); claimed || err != nil {
		return nil, err
	}
	hook, err := tx.Webhook(ctx, t.hook.ID)
	if err != nil || hook.CircuitOpenedAt == nil {
		return nil, err // the other one succeeded
	}
	return workflows.RetryWebhook("another delivery probes the receiver", minProbeDelay), nil
}

// recordFailure counts a failed attempt and opens the circuit, or plans its next probe. opened
// means that the circuit was closed before. One that was opened before a long break, or by a clock
// that was ahead, counts as opened now.
func recordFailure(ctx context.Context, tx *db.DB, hook *models.Webhook, now time.Time) (counted *models.Webhook, opened bool, err error) {
	hook, err = tx.CountFailure(ctx, hook.ID, now)
	if err != nil || hook.ConsecutiveFailures < openAfter {
		return hook, false, err
	}
	if opened = hook.CircuitOpenedAt == nil; opened || hook.CircuitOpenedAt.After(now) || now.Sub(*hook.NextProbeAt) > maxBreak {
		hook.CircuitOpenedAt = &now
	}
	next := now.Add(min(max(now.Sub(*hook.CircuitOpenedAt)/2, minProbeDelay), maxProbeDelay))
	hook.NextProbeAt, hook.ProbingUntil = &next, nil
	return hook, opened, tx.SaveCircuit(ctx, hook)
}
