package events

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/db"
	"despacho/models"
)

// The feed lists the events of an operator's orders by position. A transaction cannot give its
// event a position: sequence numbers are given out before transactions commit, and in another
// order, so that a reader who has seen 7 would miss 6, which is committed later. Taking the number
// under a lock until the commit would make all creations wait for each other. So an event is
// inserted without a position, and publishFeed numbers what has been committed, one caller at a
// time. A transaction that stays open holds nothing up: its events are numbered after its commit.
// Nothing here depends on PostgreSQL's transaction ids, which start again when a dump is restored
// into another cluster.
//
// SQLite commits one transaction after the other and would not need this; it uses the same code.

// publishLock is the PostgreSQL advisory lock of publishFeed: tryPublishLock gives up where another
// caller has it, waitPublishLock waits. db.Options.IdleTransaction ends the transaction of a
// process that stands still with it.
const (
	publishLock     = 7_366_410_021
	tryPublishLock  = "SELECT pg_try_advisory_xact_lock(?)"
	waitPublishLock = "SELECT pg_advisory_xact_lock(?) IS NOT NULL"
)

// publishFeed numbers committed events, at most limit, in the order in which they were written,
// which for one order is the order of its moves. It returns their number. Only one caller at a time
// publishes: for one that does not wait there is nothing to do.
func publishFeed(ctx context.Context, database *db.DB, limit int, lock string) (published int64, err error) {
	var waiting bool
	err = database.Query(ctx).Raw("SELECT EXISTS (SELECT 1 FROM feed_events WHERE position IS NULL)").Scan(&waiting).Error
	if err != nil || !waiting {
		return 0, err
	}
	err = database.InTx(ctx, func(tx *db.DB) error {
		if tx.Dialect() == db.Postgres {
			// It is released after the commit is visible: whoever gets it sees every position given
			// out before, because the next statement has a snapshot of its own.
			var alone bool
			if err := tx.Query(ctx).Raw(lock, publishLock).Scan(&alone).Error; err != nil || !alone {
				return err
			}
		}
		result := tx.Query(ctx).Exec(`
			UPDATE feed_events SET position = numbered.position
			FROM (
				SELECT id, ROW_NUMBER() OVER (PARTITION BY operator_id, test ORDER BY written) + COALESCE((
					SELECT MAX(position) FROM feed_events AS published WHERE published.operator_id = waiting.operator_id
						AND published.test = waiting.test AND published.position IS NOT NULL
				), 0) AS position
				FROM (SELECT id, operator_id, test, written FROM feed_events WHERE position IS NULL
					ORDER BY written LIMIT ?) AS waiting
			) AS numbered
			WHERE feed_events.id = numbered.id`, limit)
		published = result.RowsAffected
		return result.Error
	})
	return published, err
}

// publishCommitted numbers every event that was committed before the call, limit at a time. It
// waits for another caller that publishes.
func publishCommitted(ctx context.Context, database *db.DB, limit int) error {
	for {
		published, err := publishFeed(ctx, database, limit, waitPublishLock)
		if err != nil || published < int64(limit) {
			return err
		}
	}
}

// feedIn queries the published events that a scope may see. Every read of the feed for a caller
// goes through it. A store has one operator: naming that as well would let PostgreSQL read the
// operator's index, and pass over the events of all its other stores.
func feedIn(ctx context.Context, database *db.DB, scope db.OrderScope) *gorm.DB {
	query := database.Query(ctx).Model(&models.FeedEvent{}).Where("position IS NOT NULL AND test = ?", scope.Test)
	if scope.StoreID != nil {
		return query.Where("store_id = ?", *scope.StoreID)
	}
	return query.Where("operator_id = ?", scope.OperatorID)
}

// position is an event's id and place in the feed.
type position struct {
	ID       uuid.UUID
	Position int64
}

// positionOf finds a published event that the scope may see.
func positionOf(ctx context.Context, database *db.DB, scope db.OrderScope, id uuid.UUID) (found position, err error) {
	err = feedIn(ctx, database, scope).Select("id, position").Where("id = ?", id).Take(&found).Error
	return found, err
}

// lastPosition is the position of the newest published event that the scope may see, zero if there
// is none.
func lastPosition(ctx context.Context, database *db.DB, scope db.OrderScope) (last position, err error) {
	err = feedIn(ctx, database, scope).Select("id, position").Order("position DESC").Limit(1).Scan(&last).Error
	return last, err
}

// eventsAfter reads the events after a position that a query asks for, in sequence.
func eventsAfter(
	ctx context.Context, database *db.DB, scope db.OrderScope, position int64, query Query,
) (events []models.FeedEvent, err error) {
	err = feedIn(ctx, database, scope).Where("position > ? AND event IN ?", position, query.Events).Order("position").
		Limit(query.Limit).Find(&events).Error
	return events, err
}

// source is a store or an operator, whose events somebody waits for.
type source struct {
	id      uuid.UUID
	isStore bool
}

func sourceOf(scope db.OrderScope) source {
	if scope.StoreID != nil {
		return source{*scope.StoreID, true}
	}
	return source{id: scope.OperatorID}
}

// maxSources is how many sources one statement reads: SQLite takes 32,766 parameters.
const maxSources = 500

// feedHeads returns a number for each source that grows with every published event: the sum of the
// newest positions of the two modes. It reads two entries of the index for each.
func feedHeads(ctx context.Context, database *db.DB, sources []source) (map[source]int64, error) {
	heads := map[source]int64{}
	err := eachTable(sources, func(table string, isStore bool, ids []uuid.UUID) error {
		var rows []struct {
			ID   uuid.UUID
			Head int64
		}
		newest := "COALESCE((SELECT MAX(position) FROM feed_events WHERE " + table + "_id = sources.id AND position IS NOT NULL AND "
		err := database.Query(ctx).Raw("SELECT id, "+newest+"NOT test), 0) + "+newest+"test), 0) AS head FROM "+table+
			"s AS sources WHERE id IN ?", ids).Scan(&rows).Error
		for _, row := range rows {
			heads[source{row.ID, isStore}] = row.Head
		}
		return err
	})
	return heads, err
}

// eachTable calls do with the sources that are operators and with those that are stores, at most
// maxSources at once, and the name of their table without its s.
func eachTable(sources []source, do func(table string, isStore bool, ids []uuid.UUID) error) error {
	ids := map[bool][]uuid.UUID{}
	for _, of := range sources {
		ids[of.isStore] = append(ids[of.isStore], of.id)
	}
	for isStore, table := range map[bool]string{false: "operator", true: "store"} {
		for some := range slices.Chunk(ids[isStore], maxSources) {
			if err := do(table, isStore, some); err != nil {
				return err
			}
		}
	}
	return nil
}
