package events

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// feedTest is an operator with an order whose events are inserted.
type feedTest struct {
	*dbtest.Tenant
	database *db.DB
	scope    db.OrderScope
}

func newFeed(t *testing.T, database *db.DB) *feedTest {
	t.Helper()
	w := dbtest.NewTenant(t, database)
	return &feedTest{Tenant: w, database: database, scope: db.OrderScope{OperatorID: w.Operator.ID}}
}

// event is one that is not inserted yet.
func (f *feedTest) event() *models.FeedEvent {
	return &models.FeedEvent{
		ID: uuid.New(), OperatorID: f.Operator.ID, StoreID: &f.Store.ID, OrderID: f.Order.ID, Event: models.EventAssigned, Data: `{"recipient_name":"Rosa"}`, CreatedAt: f.Order.CreatedAt,
	}
}

// insert commits events and returns their ids.
func (f *feedTest) insert(t *testing.T, count int) (ids []uuid.UUID) {
	t.Helper()
	for range count {
		event := f.event()
		require.NoError(t, f.database.Insert(t.Context(), event))
		ids = append(ids, event.ID)
	}
	return ids
}

func (f *feedTest) publish(t *testing.T, limit int) int64 {
	t.Helper()
	published, err := publishFeed(t.Context(), f.database, limit, tryPublishLock)
	require.NoError(t, err)
	return published
}

// after reads all events after a position, and the position of the last one.
func (f *feedTest) after(t *testing.T, position int64) (ids []uuid.UUID, last int64) {
	t.Helper()
	events, err := eventsAfter(t.Context(), f.database, f.scope, position, Query{Limit: 1000, Events: models.Events})
	require.NoError(t, err)
	last = position
	for _, event := range events {
		require.Greater(t, *event.Position, last)
		ids, last = append(ids, event.ID), *event.Position
	}
	return ids, last
}

// Events are listed as they were written, from when they are published.
func TestFeed_listsWhatIsPublished(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		f := newFeed(t, database)
		require.Zero(t, f.publish(t, 10))
		written := f.insert(t, 5)
		listed, _ := f.after(t, 0)
		require.Empty(t, listed)
		require.EqualValues(t, 2, f.publish(t, 2))
		listed, last := f.after(t, 0)
		require.Equal(t, written[:2], listed)
		written = append(written, f.insert(t, 1)...)
		require.EqualValues(t, 4, f.publish(t, 10))
		listed, _ = f.after(t, last)
		require.Equal(t, written[2:], listed)

		place, err := positionOf(t.Context(), database, f.scope, written[5])
		require.NoError(t, err)
		newest, err := lastPosition(t.Context(), database, f.scope)
		require.NoError(t, err)
		require.Equal(t, place, newest)
		other := uuid.New()
		heads, err := feedHeads(t.Context(), database, []source{{f.Operator.ID, false}, {f.Store.ID, true}, {other, false}, {other, true}})
		require.NoError(t, err)
		require.Equal(t, map[source]int64{{f.Operator.ID, false}: newest.Position, {f.Store.ID, true}: newest.Position}, heads)
		for name, scope := range map[string]db.OrderScope{"another operator": {OperatorID: other}, "another store": {OperatorID: f.Operator.ID, StoreID: &other}} {
			_, err := positionOf(t.Context(), database, scope, written[5])
			require.True(t, db.IsNotFound(err), name)
			events, err := eventsAfter(t.Context(), database, scope, 0, Query{Limit: 10, Events: models.Events})
			require.NoError(t, err)
			require.Empty(t, events, name)
		}
	})
}

// A transaction that stays open while others commit and readers read on: its event is neither
// missed nor in the way. Its insert comes before the others', its commit after them.
func TestFeed_aTransactionHeldOpen(t *testing.T) {
	t.Parallel()
	f := newFeed(t, dbtest.Open(t, testenv.Postgres(t)))
	before := f.insert(t, 2)
	held, inserted, release, committed := f.event(), make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		committed <- f.database.InTx(t.Context(), func(tx *db.DB) error {
			err := tx.Insert(t.Context(), held)
			close(inserted)
			<-release
			return err
		})
	}()
	<-inserted
	during := f.insert(t, 3)
	require.EqualValues(t, 5, f.publish(t, 100))
	listed, last := f.after(t, 0)
	require.Equal(t, append(before, during...), listed, "what is committed does not wait for what is not")

	close(release)
	require.NoError(t, <-committed)
	require.EqualValues(t, 1, f.publish(t, 100))
	listed, _ = f.after(t, last)
	require.Equal(t, []uuid.UUID{held.ID}, listed, "whoever has read on still gets it")
}

// Transactions of many connections commit in any order while several processes publish and a reader
// follows: it gets every event once. Run with positions taken at the insert, it misses some.
func TestFeed_concurrentCommits(t *testing.T) {
	t.Parallel()
	const writers, eventsOfEach = 8, 40
	f := newFeed(t, dbtest.Open(t, testenv.Postgres(t)))
	var running sync.WaitGroup
	failures := make(chan error, writers+2)
	for range writers {
		running.Go(func() {
			for range eventsOfEach {
				err := f.database.InTx(t.Context(), func(tx *db.DB) error { return tx.Insert(t.Context(), f.event()) })
				if err != nil {
					failures <- err
					return
				}
			}
		})
	}
	written := make(chan struct{})
	var publishers sync.WaitGroup
	for range 2 {
		publishers.Go(func() {
			for {
				ended := false
				select {
				case <-written:
					ended = true
				default:
				}
				count, err := publishFeed(t.Context(), f.database, 7, tryPublishLock)
				if err != nil {
					failures <- err
					return
				}
				if ended && count == 0 {
					return
				}
			}
		})
	}
	go func() {
		running.Wait()
		close(written)
	}()
	published := make(chan struct{})
	go func() {
		publishers.Wait()
		close(published)
	}()
	seen, last := []uuid.UUID{}, int64(0)
	for ended := false; !ended; {
		select {
		case <-published:
			ended = true
		default:
		}
		var more []uuid.UUID
		more, last = f.after(t, last)
		seen = append(seen, more...)
	}
	require.Empty(t, failures)
	require.Equal(t, writers*eventsOfEach, len(seen), "no event is missing")
	slices.SortFunc(seen, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	require.Equal(t, writers*eventsOfEach, len(slices.Compact(seen)), "no event comes twice")
}

// When an event is deleted, those that are left keep their positions.
func TestFeed_deletion(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		f := newFeed(t, database)
		old, kept := f.event(), f.event()
		kept.CreatedAt = old.CreatedAt.Add(time.Second)
		require.NoError(t, database.Insert(t.Context(), old))
		require.NoError(t, database.Insert(t.Context(), kept))
		f.publish(t, 10)
		_, last := f.after(t, 0)
		_, err := database.SQL().ExecContext(t.Context(), "DELETE FROM feed_events WHERE id = $1", old.ID)
		require.NoError(t, err)
		listed, stillLast := f.after(t, 0)
		require.Equal(t, []uuid.UUID{kept.ID}, listed)
		require.Equal(t, last, stillLast)
	})
}

// A page is read from an index, however deep it is and whoever asks.
func TestFeed_pagesComeFromAnIndex(t *testing.T) {
	t.Parallel()
	f := newFeed(t, dbtest.Open(t, testenv.Postgres(t)))
	execute := func(statement string, arguments ...any) {
		_, err := f.database.SQL().ExecContext(t.Context(), statement, arguments...)
		require.NoError(t, err)
	}
	execute(`INSERT INTO feed_events (id, operator_id, store_id, order_id, event, data, position, created_at)
		SELECT gen_random_uuid(), $1, CASE WHEN n % 2 = 0 THEN $2 ELSE gen_random_uuid() END,
			$3, 'order.created', '{}', n, now() FROM generate_series(1, 20000) AS n`, f.Operator.ID, f.Store.ID, f.Order.ID)
	execute("ANALYZE feed_events")
	for name, condition := range map[string]string{
		"feed_events_of_operator": "operator_id = '" + f.Operator.ID.String() + "'",
		"feed_events_of_store":    "store_id = '" + f.Store.ID.String() + "'",
	} {
		rows, err := f.database.SQL().QueryContext(t.Context(),
			"EXPLAIN SELECT * FROM feed_events WHERE position IS NOT NULL AND NOT test AND "+condition+" AND position > 15000 ORDER BY position LIMIT 200")
		require.NoError(t, err)
		var plan, line string
		for rows.Next() {
			require.NoError(t, rows.Scan(&line))
			plan += line + "\n"
		}
		require.NoError(t, rows.Close())
		require.Contains(t, plan, name)
		require.NotContains(t, plan, "Sort")
	}
}

// standstill is a process that stands still before it numbers events.
type standstill struct{ reached, released chan struct{} }

func (standstill) Name() string { return "standstill" }

func (p standstill) Initialize(database *gorm.DB) error {
	return database.Callback().Raw().Before("gorm:raw").Register("standstill", func(statement *gorm.DB) {
		if strings.Contains(statement.Statement.SQL.String(), "UPDATE feed_events") {
			close(p.reached)
			<-p.released
		}
	})
}

// A worker that stands still while it publishes, or whose machine is gone, does not keep the others
// from publishing: PostgreSQL ends its transaction.
func TestFeed_publisherThatStandsStill(t *testing.T) {
	t.Parallel()
	databaseURL := testenv.Postgres(t)
	database := dbtest.Open(t, databaseURL)
	f := newFeed(t, database)
	f.insert(t, 1)
	stopped, err := db.Open(t.Context(), databaseURL, db.Options{ConnectTimeout: poll.Deadline, IdleTransaction: 10 * time.Second})
	require.NoError(t, err)
	defer stopped.Close()
	process := standstill{reached: make(chan struct{}), released: make(chan struct{})}
	require.NoError(t, stopped.Use(process))
	ended := make(chan error, 1)
	go func() {
		_, err := publishFeed(t.Context(), stopped, 10, tryPublishLock)
		ended <- err
	}()
	<-process.reached
	require.Zero(t, f.publish(t, 10), "one at a time")
	poll.Until(t, func() error {
		if f.publish(t, 10) == 0 {
			return errors.New("nothing is published")
		}
		return nil
	})
	close(process.released)
	require.Error(t, <-ended, "its transaction is over")
	_, last := f.after(t, 0)
	require.EqualValues(t, 1, last)
}
