package db

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"despacho/models"
)

// The feed lists the events of an operator's orders by position. A transaction cannot give its
// event a position: sequence numbers are given out before transactions commit, and in another
// order, so that a reader who has seen 7 would miss 6, which is committed later. Taking the number
// under a lock until the commit would make all creations wait for each other. So an event is
// inserted without a position, and PublishFeed numbers what has been committed, one caller at a
// time. A transaction that stays open holds nothing up: its events are numbered after its commit.
// Nothing here depends on PostgreSQL's transaction ids, which start again when a dump is restored
// into another cluster.
//
// SQLite commits one transaction after the other and would not need this; it uses the same code.

// InsertFeedEvent inserts an event, which PublishFeed numbers later. An existing one is kept.
func (d *DB) InsertFeedEvent(ctx context.Context, event *models.FeedEvent) error {
	return d.with(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(event).Error
}

// feedPublishLock is the PostgreSQL advisory lock of PublishFeed. Options.IdleTransaction ends the
// transaction of a process that stands still with it.
const feedPublishLock = 7_366_410_021

// PublishFeed numbers committed events, at most limit, in the order in which they were written,
// which for one order is the order of its moves. It returns their number. Only one caller at a time
// publishes: for the others there is nothing to do.
func (d *DB) PublishFeed(ctx context.Context, limit int) (published int64, err error) {
	return d.publishFeed(ctx, limit, "pg_try_advisory_xact_lock(?)")
}

// PublishCommitted numbers every event that was committed before the call, limit at a time. It
// waits for another caller that publishes.
func (d *DB) PublishCommitted(ctx context.Context, limit int) error {
	for {
		published, err := d.publishFeed(ctx, limit, "pg_advisory_xact_lock(?) IS NOT NULL")
		if err != nil || published < int64(limit) {
			return err
		}
	}
}

func (d *DB) publishFeed(ctx context.Context, limit int, takeLock string) (published int64, err error) {
	var waiting bool
	err = d.with(ctx).Raw("SELECT EXISTS (SELECT 1 FROM feed_events WHERE position IS NULL)").Scan(&waiting).Error
	if err != nil || !waiting {
		return 0, err
	}
	err = d.InTx(ctx, func(tx *DB) error {
		if d.dialect == Postgres {
			// It is released after the commit is visible: whoever gets it sees every position given
			// out before, because the next statement has a snapshot of its own.
			var alone bool
			if err := tx.with(ctx).Raw("SELECT "+takeLock, feedPublishLock).Scan(&alone).Error; err != nil || !alone {
				return err
			}
		}
		result := tx.with(ctx).Exec(`
			UPDATE feed_events SET position = numbered.position
			FROM (
				SELECT id, ROW_NUMBER() OVER (PARTITION BY operator_id, test ORDER BY written) + COALESCE((
					SELECT MAX(position) FROM feed_events AS published WHERE published.operator_id = waiting.operator_id AND published.test = waiting.test AND published.position IS NOT NULL
				), 0) AS position
				FROM (SELECT id, operator_id, test, written FROM feed_events WHERE position IS NULL ORDER BY written LIMIT ?) AS waiting
			) AS numbered
			WHERE feed_events.id = numbered.id`, limit)
		published = result.RowsAffected
		return result.Error
	})
	return published, err
}

// feedIn queries the published events that a scope may see. Every read of the feed for a caller
// goes through it. A store has one operator: naming that as well would let PostgreSQL read the
// operator's index, and pass over the events of all its other stores.
func (d *DB) feedIn(ctx context.Context, scope OrderScope) *gorm.DB {
	query := d.with(ctx).Model(&models.FeedEvent{}).Where("position IS NOT NULL AND test = ?", scope.Test)
	if scope.StoreID != nil {
		return query.Where("store_id = ?", *scope.StoreID)
	}
	return query.Where("operator_id = ?", scope.OperatorID)
}

// FeedPosition is an event's id and position.
type FeedPosition struct {
	ID       uuid.UUID
	Position int64
}

// FeedPositionOf finds a published event that the scope may see.
func (d *DB) FeedPositionOf(ctx context.Context, scope OrderScope, id uuid.UUID) (position FeedPosition, err error) {
	err = d.feedIn(ctx, scope).Select("id, position").Where("id = ?", id).Take(&position).Error
	return position, err
}

// LastFeedPosition is the position of the newest published event that the scope may see, zero if
// there is none.
func (d *DB) LastFeedPosition(ctx context.Context, scope OrderScope) (position FeedPosition, err error) {
	err = d.feedIn(ctx, scope).Select("id, position").Order("position DESC").Limit(1).Scan(&position).Error
	return position, err
}

// FeedAfter reads the events after a position, in sequence.
func (d *DB) FeedAfter(ctx context.Context, scope OrderScope, position int64, limit int) ([]models.FeedEvent, error) {
	var events []models.FeedEvent
	err := d.feedIn(ctx, scope).Where("position > ?", position).Order("position").Limit(limit).Find(&events).Error
	return events, err
}

// FeedHeads returns a number for each operator that grows with every published event: the sum of
// the newest positions of the two modes. It reads two entries of the index for each.
func (d *DB) FeedHeads(ctx context.Context, operators []uuid.UUID) (map[uuid.UUID]int64, error) {
	heads := map[uuid.UUID]int64{}
	for some := range slices.Chunk(operators, maxBatchRows) {
		var rows []struct {
			ID   uuid.UUID
			Head int64
		}
		err := d.with(ctx).Raw(`
			SELECT id,
				COALESCE((SELECT MAX(position) FROM feed_events WHERE operator_id = operators.id AND NOT test AND position IS NOT NULL), 0) +
				COALESCE((SELECT MAX(position) FROM feed_events WHERE operator_id = operators.id AND test AND position IS NOT NULL), 0) AS head
			FROM operators WHERE id IN ?`, some).Scan(&rows).Error
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			heads[row.ID] = row.Head
		}
	}
	return heads, nil
}
