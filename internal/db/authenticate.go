package db

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"despacho/internal/batch"
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

// storeActive reports whether the store st of a key or a user is active. Without a store it is.
const storeActive = "COALESCE(st.active, TRUE) AS store_active"

// keyHolders are the tables of keyHolderColumns.
const keyHolders = "api_keys k JOIN operators o ON o.id = k.operator_id LEFT JOIN stores st ON st.id = k.store_id"

// scope is what the key may see.
func (h *KeyHolder) scope() OrderScope {
	return OrderScope{OperatorID: h.Key.OperatorID, StoreID: h.Key.StoreID, Test: h.Key.Test}
}

// Authenticate finds the key with the given hash, counts the request and reads the order that it
// asks for, if any. The order is nil if it does not exist, or the key is not usable or may not see
// it. On PostgreSQL all of it is one round trip, and concurrent requests share statements. The rate
// limit stays exact, also across processes.
func (d *DB) Authenticate(
	ctx context.Context, hash []byte, now time.Time, orderID uuid.UUID,
) (*KeyHolder, *models.OrderView, error) {
	found, err := d.authenticate(ctx, keyRequest{hash: string(hash), now: now, orderID: orderID})
	switch {
	case err != nil:
		return nil, nil, err
	case found.holder == nil:
		return nil, nil, ErrNotFound
	case !found.holder.Usable(now):
		return found.holder, nil, nil
	}
	return found.holder, found.holder.scope().visible(found.order), nil
}

func (d *DB) authenticate(ctx context.Context, request keyRequest) (authenticated, error) {
	if !d.canReadRows() {
		return d.authenticateOne(ctx, request)
	}
	return d.keys.Get(ctx, request)
}

// keyRequest is a request that presented a key, and the order that it reads, if any.
type keyRequest struct {
	hash    string
	now     time.Time
	orderID uuid.UUID
}

// authenticated is what a keyRequest finds: nil where there is no such key or order. The order may
// be anybody's.
type authenticated struct {
	holder *KeyHolder
	order  *models.OrderView
}

// batchOptions applies to requests with a key. A stalled statement has most likely lost its
// connection, so other requests do not wait for it.
func batchOptions(log *slog.Logger) batch.Options {
	return batch.Options{MaxSize: 64, StallAfter: 50 * time.Millisecond, Timeout: 10 * time.Second, Log: log}
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

// authenticateBatch finds the keys of several requests, counts each request and reads their orders,
// in one round trip.
func (d *DB) authenticateBatch(ctx context.Context, requests []keyRequest) ([]authenticated, error) {
	results := make([]authenticated, len(requests))
	var reads []pgxStatement
	counts := countsByMinute(requests)
	for _, count := range counts {
		reads = append(reads, count.read())
	}
	if ids := ordersOf(requests); len(ids) > 0 {
		reads = append(reads, readOrders(ids, func(n int, order *models.OrderView) { results[n].order = order }))
	}
	if err := d.readRows(ctx, reads...); err != nil {
		return nil, err
	}
	for _, count := range counts {
		count.assign(requests, results)
	}
	return results, nil
}

// keyCount counts the requests of one clock minute, by key.
type keyCount struct {
	minute int64
	now    time.Time
	// members are the indexes of the requests in their batch.
	members []int
	// keyIndex is the index of each key, by its hash, in the slices below.
	keyIndex map[string]int
	hashes   [][]byte
	requests []int32
	holders  []*KeyHolder
}

// countsByMinute is nearly always one count; two if the batch spans the change of a minute. They
// are sorted, so that concurrent batches lock the rows of two minutes in the same order.
func countsByMinute(requests []keyRequest) []*keyCount {
	var counts []*keyCount
	for i, request := range requests {
		minute := Minute(request.now)
		at, known := slices.BinarySearchFunc(counts, minute,
			func(c *keyCount, minute int64) int { return cmp.Compare(c.minute, minute) })
		if !known {
			counts = slices.Insert(counts, at, &keyCount{minute: minute, now: request.now, keyIndex: map[string]int{}})
		}
		counts[at].add(i, request.hash)
	}
	return counts
}

func (c *keyCount) add(member int, hash string) {
	key, known := c.keyIndex[hash]
	if !known {
		key = len(c.hashes)
		c.keyIndex[hash] = key
		c.hashes, c.requests, c.holders = append(c.hashes, []byte(hash)), append(c.requests, 0), append(c.holders, nil)
	}
	c.members = append(c.members, member)
	c.requests[key]++
}

// read finds the holder of each key, with Used set to the number of the first of its requests.
func (c *keyCount) read() pgxStatement {
	var used, n, counted int
	var row KeyHolder
	return pgxStatement{
		statement: authenticateAndCount,
		arguments: []any{c.hashes, c.requests, c.minute, c.now, plansWithAPI},
		targets:   scanTargets(keyHolderColumns, &row, &used, &n, &counted),
		onRow: func() {
			holder := row
			if used > 0 {
				holder.Used = used - counted + 1
			}
			c.holders[n-1] = &holder
		},
	}
}

// assign gives every request the holder of its key, with its own number in the key's minute.
func (c *keyCount) assign(requests []keyRequest, results []authenticated) {
	for _, i := range c.members {
		next := c.holders[c.keyIndex[requests[i].hash]]
		if next == nil {
			continue
		}
		holder := *next
		results[i].holder = &holder
		if next.Used > 0 {
			next.Used++
		}
	}
}

// ordersOf are the orders that the requests read, at the index of the request. It is empty if they
// read none.
func ordersOf(requests []keyRequest) []pgtype.UUID {
	ids, any := make([]pgtype.UUID, len(requests)), false
	for i, request := range requests {
		if request.orderID != uuid.Nil {
			ids[i], any = pgUUID(&request.orderID), true
		}
	}
	if !any {
		return nil
	}
	return ids
}

// authenticateOne takes a statement for each step: SQLite has no data-modifying WITH, and it runs
// in the process and has no round trips to save.
func (d *DB) authenticateOne(ctx context.Context, request keyRequest) (found authenticated, err error) {
	var holder KeyHolder
	result := d.with(ctx).Raw("SELECT "+columnList(keyHolderColumns)+" FROM "+keyHolders+" WHERE k.hash = ?",
		[]byte(request.hash)).
		Scan(&holder)
	if result.Error != nil || result.RowsAffected == 0 {
		return found, result.Error
	}
	found.holder = &holder
	if !holder.Usable(request.now) {
		return found, nil
	}
	if holder.Used, err = d.CountRequest(ctx, holder.Key.ID.String(), request.now); err != nil || request.orderID == uuid.Nil {
		return found, err
	}
	found.order, err = d.OrderViewByID(ctx, request.orderID)
	if IsNotFound(err) {
		return authenticated{holder: &holder}, nil
	}
	return found, err
}

// KeyHolder reads a key with its operator, and counts nothing.
func (d *DB) KeyHolder(ctx context.Context, keyID uuid.UUID) (*KeyHolder, error) {
	var holder KeyHolder
	err := requireOneRow(d.with(ctx).Raw("SELECT "+columnList(keyHolderColumns)+" FROM "+keyHolders+" WHERE k.id = ?",
		keyID).Scan(&holder))
	return &holder, err
}

var plansWithAPI = func() []string {
	var plans []string
	for _, plan := range models.Plans {
		if plan.RequestsPerMinute() > 0 {
			plans = append(plans, string(plan))
		}
	}
	return plans
}()
