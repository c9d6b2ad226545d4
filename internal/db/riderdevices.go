package db

import (
	"context"
	"slices"
	"time"

	"despacho/models"
)

// RiderOnPhone is the phone of a rider with the rider and the operator, and the number of the
// phone's requests in this clock minute, which is zero for one that was revoked or whose rider is
// inactive.
type RiderOnPhone struct {
	Device   models.RiderDevice `gorm:"embedded;embeddedPrefix:device_"`
	Rider    models.Rider       `gorm:"embedded;embeddedPrefix:rider_"`
	Operator models.Operator    `gorm:"embedded;embeddedPrefix:op_"`
	Requests int
}

// The caller has the hash of the token, and that of the PIN is read only to check one.
var riderOnPhoneColumns = slices.Concat(
	columnsOf(tableColumns[models.RiderDevice]("d", "device_", "link_hash", "token_hash", "pin_hash"),
		func(r *RiderOnPhone) *models.RiderDevice { return &r.Device }),
	columnsOf(tableColumns[models.Rider]("r", "rider_"), func(r *RiderOnPhone) *models.Rider { return &r.Rider }),
	columnsOf(operatorColumns, func(r *RiderOnPhone) *models.Operator { return &r.Operator }),
)

var findRiderOnPhone = "SELECT " + columnList(riderOnPhoneColumns) + `
		FROM rider_devices d JOIN riders r ON r.id = d.rider_id JOIN operators o ON o.id = d.operator_id
		WHERE d.token_hash = ?`

const noteRiderSeen = "UPDATE rider_devices SET last_seen_at = ? WHERE id = "

var findAndCountRider = numbered("WITH found AS (" + findRiderOnPhone + `), counted AS (
			INSERT INTO rate_windows (subject, minute, used)
			SELECT 'rider:' || device_id, ?, 1 FROM found WHERE device_revoked_at IS NULL AND rider_active
			ON CONFLICT (subject, minute) DO UPDATE SET used = rate_windows.used + 1 RETURNING used
		), seen AS (` + noteRiderSeen + `(SELECT device_id FROM found WHERE (SELECT used FROM counted) = 1))
		SELECT found.*, COALESCE((SELECT used FROM counted), 0) AS requests FROM found`)

// RiderByToken finds the phone with a token, counts the request and, with the first one of a clock
// minute, notes when the phone was seen. On PostgreSQL all of it is one statement.
func (d *DB) RiderByToken(ctx context.Context, tokenHash []byte, now time.Time) (*RiderOnPhone, error) {
	if !d.canReadRows() {
		return d.countRider(ctx, tokenHash, now)
	}
	var row RiderOnPhone
	var found *RiderOnPhone
	err := d.readRows(ctx, pgxStatement{
		statement: findAndCountRider,
		arguments: []any{tokenHash, Minute(now), now},
		targets:   append(scanTargets(riderOnPhoneColumns, &row), &row.Requests),
		onRow:     func() { found = &row },
	})
	if err == nil && found == nil {
		err = ErrNotFound
	}
	return found, err
}

// RiderOnPhone finds the phone with a token, and counts nothing.
func (d *DB) RiderOnPhone(ctx context.Context, tokenHash []byte) (*RiderOnPhone, error) {
	var found RiderOnPhone
	err := requireOneRow(d.with(ctx).Raw(findRiderOnPhone, tokenHash).Scan(&found))
	return &found, err
}

// countRider takes a statement for each step, for SQLite, which has no data-modifying WITH.
func (d *DB) countRider(ctx context.Context, tokenHash []byte, now time.Time) (*RiderOnPhone, error) {
	found, err := d.RiderOnPhone(ctx, tokenHash)
	if err != nil || found.Device.RevokedAt != nil || !found.Rider.Active {
		return found, err
	}
	if found.Requests, err = d.CountRequest(ctx, "rider:"+found.Device.ID.String(), now); err != nil || found.Requests != 1 {
		return found, err
	}
	return found, d.with(ctx).Exec(noteRiderSeen+"?", now, found.Device.ID).Error
}
