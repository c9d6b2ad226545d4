package db

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

// CountFailure counts a failed attempt at a webhook and returns the webhook, locked until the
// transaction ends.
func (d *DB) CountFailure(ctx context.Context, id uuid.UUID, now time.Time) (*models.Webhook, error) {
	err := d.with(ctx).Model(&models.Webhook{}).Where("id = ?", id).UpdateColumns(map[string]any{
		"consecutive_failures": gorm.Expr("consecutive_failures + 1"), "failing_since": gorm.Expr("COALESCE(failing_since, ?)", now),
	}).Error
	if err != nil {
		return nil, err
	}
	return d.Webhook(ctx, id)
}

// SaveCircuit writes that a webhook's circuit is open, and when it is probed.
func (d *DB) SaveCircuit(ctx context.Context, webhook *models.Webhook) error {
	return d.with(ctx).Model(&models.Webhook{}).Where("id = ?", webhook.ID).
		Select("circuit_opened_at", "next_probe_at", "probing_until").UpdateColumns(webhook).Error
}

// ProbeTimes are what decides whether an open circuit can be probed: not before its next probe, and
// not while it is being probed. Times later than the latest do not count: a clock was ahead when
// they were set.
type ProbeTimes struct {
	Now, LatestProbe, LatestProbing time.Time
}

// Wait reports whether the deliveries of a webhook with an open circuit have to wait.
func (p ProbeTimes) Wait(webhook *QueuedWebhook) bool {
	holds := func(until *time.Time, latest time.Time) bool {
		return until != nil && until.After(p.Now) && !until.After(latest)
	}
	return holds(webhook.NextProbeAt, p.LatestProbe) || holds(webhook.ProbingUntil, p.LatestProbing)
}

// ClaimProbe marks an open circuit as being probed until a time, unless its deliveries have to
// wait, as Wait says.
func (d *DB) ClaimProbe(ctx context.Context, id uuid.UUID, at ProbeTimes, until time.Time) (claimed bool, err error) {
	result := d.with(ctx).Model(&models.Webhook{}).
		Where("id = ? AND (next_probe_at <= ? OR next_probe_at > ?)", id, at.Now, at.LatestProbe).
		Where("(probing_until IS NULL OR probing_until <= ? OR probing_until > ?)", at.Now, at.LatestProbing).
		UpdateColumn("probing_until", until)
	return result.RowsAffected > 0, result.Error
}

// MarkProbing marks a circuit, if it is open, as being probed until a time.
func (d *DB) MarkProbing(ctx context.Context, id uuid.UUID, until time.Time) error {
	return d.with(ctx).Model(&models.Webhook{}).Where("id = ? AND circuit_opened_at IS NOT NULL", id).
		UpdateColumn("probing_until", until).Error
}

// CloseCircuit writes that a webhook's receiver has accepted an event.
func (d *DB) CloseCircuit(ctx context.Context, id uuid.UUID) error {
	return d.with(ctx).Model(&models.Webhook{}).Where("id = ?", id).UpdateColumns(map[string]any{
		"failing_since": nil, "consecutive_failures": 0, "circuit_opened_at": nil, "next_probe_at": nil, "probing_until": nil,
	}).Error
}
