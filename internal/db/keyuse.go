package db

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"despacho/models"
)

// KeyUse is when and from where a key was used.
type KeyUse struct {
	KeyID uuid.UUID
	At    time.Time
	From  string
}

// Rows are locked in key order, so that the statements of several processes do not deadlock.
const saveKeyUses = `
WITH used AS (
	SELECT k.id, fresh.at, fresh.address
	FROM unnest($1::uuid[], $2::timestamptz[], $3::text[]) AS fresh (id, at, address) JOIN api_keys k ON k.id = fresh.id
	WHERE k.last_used_at IS NULL OR k.last_used_at <= fresh.at - $4::interval
	ORDER BY k.id
	FOR NO KEY UPDATE OF k
)
UPDATE api_keys SET last_used_at = used.at, last_used_from = used.address FROM used WHERE api_keys.id = used.id`

// SaveKeyUses stores uses of keys, except where one less than the interval before is stored
// already, by any process.
func (d *DB) SaveKeyUses(ctx context.Context, uses []KeyUse, interval time.Duration) error {
	if d.dialect == SQLite {
		return d.InTx(ctx, func(tx *DB) error {
			for _, use := range uses {
				known := tx.with(ctx).Model(&models.APIKey{}).Where("id = ? AND (last_used_at IS NULL OR last_used_at <= ?)", use.KeyID, use.At.Add(-interval))
				if err := known.Updates(map[string]any{"last_used_at": use.At, "last_used_from": use.From}).Error; err != nil {
					return err
				}
			}
			return nil
		})
	}
	keys, times, addresses := make([]pgtype.UUID, len(uses)), make([]time.Time, len(uses)), make([]string, len(uses))
	for i, use := range uses {
		keys[i], times[i], addresses[i] = pgUUID(&use.KeyID), use.At, use.From
	}
	return d.readRows(ctx, pgxStatement{statement: saveKeyUses, arguments: []any{keys, times, addresses, interval}})
}
