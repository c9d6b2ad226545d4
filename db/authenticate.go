package db

import (
	"context"
	"slices"
	"time"

	"despacho/internal/clock"
	"despacho/models"
)

// KeyHolder is an API key with its operator and the number of its requests in this clock minute.
type KeyHolder struct {
	Key      models.APIKey   `gorm:"embedded;embeddedPrefix:key_"`
	Operator models.Operator `gorm:"embedded;embeddedPrefix:op_"`
	// StoreActive is false for a key that is bound to an inactive store.
	StoreActive bool
	Used        int
}

// Usable reports whether the API serves the key's requests at the given time.
func (h *KeyHolder) Usable(now time.Time) bool {
	return h.Key.Usable(now) && !h.Operator.Suspended() && h.Operator.Plan.RequestsPerMinute() > 0 && h.StoreActive
}

var (
	// The caller has the hash already.
	keyColumns       = tableColumns[models.APIKey]("k", "key_", "hash")
	operatorColumns  = tableColumns[models.Operator]("o", "op_")
	keyHolderColumns = slices.Concat(
		columnsOf(keyColumns, func(h *KeyHolder) *models.APIKey { return &h.Key }),
		columnsOf(operatorColumns, func(h *KeyHolder) *models.Operator { return &h.Operator }),
		[]column[KeyHolder]{{storeActive, func(h *KeyHolder) any { return &h.StoreActive }}},
	)
)

// storeActive is whether the store st of a key or a user is active. Without a store it is.
const storeActive = "COALESCE(st.active, TRUE) AS store_active"

// keyHolders are the tables of keyHolderColumns.
const keyHolders = "api_keys k JOIN operators o ON o.id = k.operator_id LEFT JOIN stores st ON st.id = k.store_id"

// Authenticate finds the key with the given hash and counts the request. On PostgreSQL concurrent
// requests share one statement. The rate limit stays exact, also across processes.
func (d *DB) Authenticate(ctx context.Context, hash []byte, now time.Time) (*KeyHolder, error) {
	if d.batched == nil {
		return d.authenticateOne(ctx, hash, now)
	}
	holder, err := d.batched.keys.Get(ctx, keyLookup{hash: string(hash), now: now})
	if err == nil && holder == nil {
		err = ErrNotFound
	}
	return holder, err
}

// keyLookup is one request that presented a key.
type keyLookup struct {
	hash string
	now  time.Time
}

// A request counts only if the key is usable (KeyHolder.Usable): an expired key or a plan without
// the API counts nothing. Rows are upserted in key order, so that concurrent statements do not
// deadlock. For LATERAL and the SELECT around the arguments see selectOrders.
var authenticateAndCount = `
WITH holder AS (
	SELECT presented.n, presented.requests, found.*
	FROM unnest((SELECT $1::bytea[]), (SELECT $2::int[])) WITH ORDINALITY AS presented (hash, requests, n)
	CROSS JOIN LATERAL (
		SELECT ` + columnList(keyHolderColumns) + `
		FROM ` + keyHolders + `
		WHERE k.hash = presented.hash
		LIMIT 1
	) AS found
), counted AS (
	INSERT INTO rate_windows (subject, minute, used)
	SELECT key_id::text, $3, requests FROM holder
	WHERE key_revoked_at IS NULL AND (key_expires_at IS NULL OR key_expires_at > $4)
		AND op_suspended_at IS NULL AND op_plan = ANY ($5) AND store_active
	ORDER BY key_id
	ON CONFLICT (subject, minute) DO UPDATE SET used = rate_windows.used + EXCLUDED.used
	RETURNING subject, used
)
SELECT COALESCE(counted.used, 0), holder.* FROM holder LEFT JOIN counted ON counted.subject = holder.key_id::text`

// authenticateBatch finds the keys of several requests and counts each request, in one round trip.
// Every request gets its own number in its key's minute. The result of an unknown key is nil.
func (d *DB) authenticateBatch(ctx context.Context, lookups []keyLookup) ([]*KeyHolder, error) {
	results := make([]*KeyHolder, len(lookups))
	// Nearly always one minute; two if the batch spans the change of a minute.
	minutes := map[int64][]int{}
	for i, lookup := range lookups {
		minutes[Minute(lookup.now)] = append(minutes[Minute(lookup.now)], i)
	}
	for minute, members := range minutes {
		if err := d.authenticateMinute(ctx, minute, lookups, members, results); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// authenticateMinute authenticates the lookups with the given indexes, all of the same minute.
func (d *DB) authenticateMinute(ctx context.Context, minute int64, lookups []keyLookup, members []int, results []*KeyHolder) error {
	var hashes [][]byte
	var requests []int32
	indexes := map[string]int{}
	for _, i := range members {
		hash := lookups[i].hash
		if _, known := indexes[hash]; !known {
			indexes[hash] = len(hashes)
			hashes, requests = append(hashes, []byte(hash)), append(requests, 0)
		}
		requests[indexes[hash]]++
	}
	holders, err := d.findAndCount(ctx, hashes, requests, minute, lookups[members[0]].now)
	if err != nil {
		return err
	}
	for _, i := range members {
		if next := holders[indexes[lookups[i].hash]]; next != nil {
			mine := *next
			results[i] = &mine
			if next.Used > 0 {
				next.Used++
			}
		}
	}
	return nil
}

// findAndCount reads the holder of each key, with Used set to the number of the first of its
// requests.
func (d *DB) findAndCount(ctx context.Context, hashes [][]byte, requests []int32, minute int64, now time.Time) ([]*KeyHolder, error) {
	holders := make([]*KeyHolder, len(hashes))
	var used, n, counted int
	var row KeyHolder
	err := d.readRows(ctx, scanTargets(keyHolderColumns, &row, &used, &n, &counted), func() {
		holder := row
		if used > 0 {
			holder.Used = used - counted + 1
		}
		holders[n-1] = &holder
	}, authenticateAndCount, hashes, requests, minute, now, plansWithAPI)
	return holders, err
}

// authenticateOne counts with a second statement: SQLite has no data-modifying WITH, and there a
// second statement costs no round trip.
func (d *DB) authenticateOne(ctx context.Context, hash []byte, now time.Time) (*KeyHolder, error) {
	var holder KeyHolder
	result := d.with(ctx).Raw("SELECT "+columnList(keyHolderColumns)+" FROM "+keyHolders+" WHERE k.hash = ?", hash).
		Scan(&holder)
	if result.Error != nil {
		return nil, result.Error
	}
	if result.RowsAffected == 0 {
		return nil, ErrNotFound
	}
	if !holder.Usable(now) {
		return &holder, nil
	}
	used, err := d.CountRequest(ctx, holder.Key.ID.String(), now)
	holder.Used = used
	return &holder, err
}

// CountRequest counts one request of a subject and returns the subject's count in this clock
// minute.
func (d *DB) CountRequest(ctx context.Context, subject string, now time.Time) (int, error) {
	return d.count(ctx, subject, Minute(now))
}

// CountToday counts something of a subject in this day, in UTC.
func (d *DB) CountToday(ctx context.Context, subject string, now time.Time) error {
	_, err := d.count(ctx, subject, lastMinuteOfDay(now))
	return err
}

// CountedToday is how often CountToday was called for the subject in this day.
func (d *DB) CountedToday(ctx context.Context, subject string, now time.Time) (int, error) {
	var used int
	err := d.with(ctx).Raw("SELECT used FROM rate_windows WHERE subject = ? AND minute = ?", subject, lastMinuteOfDay(now)).Scan(&used).Error
	return used, err
}

// lastMinuteOfDay is the window of a whole day: ClearExpired keeps it until the day is over.
func lastMinuteOfDay(now time.Time) int64 { return Minute(now.Add(clock.UntilNextDay(now))) - 1 }

func (d *DB) count(ctx context.Context, subject string, minute int64) (int, error) {
	var used int
	err := d.with(ctx).Raw(`INSERT INTO rate_windows (subject, minute, used) VALUES (?, ?, 1)
		ON CONFLICT (subject, minute) DO UPDATE SET used = rate_windows.used + 1 RETURNING used`,
		subject, minute).Scan(&used).Error
	return used, err
}

// Minute is the clock minute of a time, since the Unix epoch.
func Minute(t time.Time) int64 { return t.Unix() / 60 }

var plansWithAPI = func() []string {
	var plans []string
	for _, plan := range models.Plans {
		if plan.RequestsPerMinute() > 0 {
			plans = append(plans, string(plan))
		}
	}
	return plans
}()
