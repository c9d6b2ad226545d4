package bench

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"despacho/internal/dev"
)

const (
	rowBytes         = "an ended order without a webhook, in our tables with their indexes"
	rowBytesFeed     = "the bodies of its events, kept for 30 days"
	rowBytesTemporal = "an ended order without a webhook, in Temporal's tables with their indexes"

	// ownBytesLimit is the goal for our tables, in KB.
	ownBytesLimit = 6
	// callersOfLives is how many clients make whole lives at a time.
	callersOfLives = 8
)

func bytesRows(scale) []string { return []string{rowBytes, rowBytesFeed, rowBytesTemporal} }

// studyBytes counts the bytes that an order leaves behind. Tables are rewritten before they are
// measured: versions of rows that nobody sees any more are reused and do not count.
func studyBytes(ctx context.Context, s *stack) ([]Row, error) {
	address, err := s.newDatabase(ctx, "bench_bytes")
	if err != nil {
		return nil, err
	}
	v, err := s.startService(ctx, address, "bytes")
	if err != nil {
		return nil, err
	}
	before, err := s.storedBytes(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := s.makeLives(ctx, callersOfLives, s.scale.lives, func() lifeClient { return v.lifeClient(mainOperator) }); err != nil {
		return nil, err
	}
	after, err := s.storedBytes(ctx, address)
	if err != nil {
		return nil, err
	}
	each := func(now, then int64) []float64 { return []float64{float64(now-then) / float64(s.scale.lives) / 1000} }
	rows := []Row{
		absoluteRow(rowBytes, "KB", atMost(ownBytesLimit), each(after.own, before.own)),
		absoluteRow(rowBytesFeed, "KB", goal{}, each(after.feed, before.feed)),
	}
	if s.profile == profileServer {
		rows = append(rows, absoluteRow(rowBytesTemporal, "KB", goal{}, each(after.temporal, before.temporal)))
	}
	return rows, v.stop(ctx)
}

// stored are the bytes of tables with their indexes.
type stored struct {
	// own is all of the service's tables but the feed of events, whose bodies are those of webhooks.
	own, feed int64
	// temporal is both of Temporal's databases.
	temporal int64
}

func (s *stack) storedBytes(ctx context.Context, address string) (sizes stored, err error) {
	const total = "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = 'public'"
	measure := func(address, rewrite, query string, into *int64) error {
		return dev.OnDatabase(ctx, address, func(connection *pgx.Conn) error {
			if _, err := connection.Exec(ctx, rewrite); err != nil {
				return err
			}
			return connection.QueryRow(ctx, query).Scan(into)
		})
	}
	err = errors.Join(
		measure(address, "VACUUM FULL", total+" AND c.relname <> 'feed_events'", &sizes.own),
		measure(address, "ANALYZE", "SELECT pg_total_relation_size('feed_events')", &sizes.feed),
	)
	if err != nil || s.profile != profileServer {
		return sizes, err
	}
	for _, database := range []string{"temporal", "temporal_visibility"} {
		var size int64
		if err := measure(dev.DatabaseURL(s.Postgres.URL, database), "VACUUM FULL", total, &size); err != nil {
			return sizes, err
		}
		sizes.temporal += size
	}
	return sizes, nil
}
