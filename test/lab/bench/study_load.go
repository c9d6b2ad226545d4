package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/internal/dev"
	"despacho/test/lab/cluster"
)

func loadName(on string) string {
	return "loading the catalog on " + on + ", a second time against the first"
}

func loadRows(scale) []string {
	var names []string
	for _, on := range dialects {
		names = append(names, loadName(on.name))
	}
	return names
}

// studyLoad loads the catalog into an empty database and then again, as every migration does.
func studyLoad(ctx context.Context, s *stack) ([]Row, error) {
	var rows []Row
	for _, on := range dialects {
		if !s.options.wants(loadName(on.name)) {
			continue
		}
		first, second, err := s.loadTwice(ctx, on.dialect)
		if err != nil {
			return nil, fmt.Errorf("on %s: %w", on.name, err)
		}
		rows = append(rows, ratioRow(loadName(on.name), "ms", ratioAtMost(2), first, second))
	}
	return rows, nil
}

func (s *stack) loadTwice(ctx context.Context, dialect db.Dialect) (first, second []float64, err error) {
	countries, places := catalog.Embedded()
	var database *db.DB
	defer func() {
		if database != nil {
			err = errors.Join(err, database.Close())
		}
	}()
	load := func(ctx context.Context) (float64, error) {
		took, err := timed(func(ctx context.Context) error { return database.LoadCatalog(ctx, countries, places) })(ctx)
		return cluster.Milliseconds(took), err
	}
	round := 0
	measured, err := alternate(ctx, s.scale.rounds, func(ctx context.Context) (float64, error) {
		if database != nil {
			if err := database.Close(); err != nil {
				return 0, err
			}
		}
		round++
		var err error
		if database, err = s.emptyDatabase(ctx, dialect, fmt.Sprintf("bench_load_%d", round)); err != nil {
			return 0, err
		}
		return load(ctx)
	}, load)
	if err != nil {
		return nil, nil, err
	}
	return measured[0], measured[1], nil
}

// emptyDatabase is migrated and has no rows.
func (s *stack) emptyDatabase(ctx context.Context, dialect db.Dialect, name string) (*db.DB, error) {
	address := "sqlite:" + filepath.Join(s.Dir, name+".db")
	if dialect == db.Postgres {
		if err := dev.Execute(ctx, s.Postgres.URL, "CREATE DATABASE "+name); err != nil {
			return nil, err
		}
		address = dev.DatabaseURL(s.Postgres.URL, name)
	}
	database, err := db.Open(ctx, address, db.Options{MaxConns: 2})
	if err != nil {
		return nil, err
	}
	if _, err := database.Migrate(ctx); err != nil {
		return nil, errors.Join(err, database.Close())
	}
	return database, nil
}
