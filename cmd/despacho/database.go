package main

import (
	"context"

	"despacho/internal/config"
	"despacho/internal/db"
)

// openDatabase opens the database of DATABASE_URL, whatever its schema version.
func openDatabase(ctx context.Context) (*db.DB, error) { return openDatabaseWith(ctx, db.Options{}) }

func openDatabaseWith(ctx context.Context, options db.Options) (*db.DB, error) {
	cfg, err := config.Load()
	if err != nil {
		return nil, err
	}
	if err := cfg.RequireDatabase(); err != nil {
		return nil, err
	}
	options.MaxConns, options.AuditRetention = 2, cfg.AuditRetention
	return db.Open(ctx, cfg.DatabaseURL, options)
}

// withDatabase runs a command on a database whose schema is current.
func withDatabase(ctx context.Context, run func(ctx context.Context, database *db.DB) error) error {
	database, err := openDatabase(ctx)
	if err != nil {
		return err
	}
	defer database.Close()
	if err := database.CheckVersion(ctx); err != nil {
		return err
	}
	return run(ctx, database)
}
