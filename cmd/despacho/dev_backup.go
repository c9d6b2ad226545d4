package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"despacho/internal/config"
	"despacho/internal/dev"
	"despacho/internal/photos"
)

// sqlitePrefix begins the DATABASE_URL of a SQLite file.
const sqlitePrefix = "sqlite:"

func devBackupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup <directory>",
		Short: "Copy the state of dev while it runs: both databases, the photos and the keys",
		Long: `Copy the state of dev while it runs: both databases, the photos and the keys.

The copy is a directory like DEV_DIR. Start it with DEV_DIR=<directory> despacho dev, and with WEBHOOKS_PAUSED=true if it should call
nobody. A service on PostgreSQL is backed up with PostgreSQL's own tools: docs/operations.md.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return devBackup(cmd.Context(), cmd.OutOrStdout(), args[0])
		},
	}
}

func devBackup(ctx context.Context, out io.Writer, directory string) error {
	cfg, err := config.Load()
	if err != nil {
		return err
	}
	setDevPlaces(cfg)
	database, isSQLite := strings.CutPrefix(cfg.DatabaseURL, sqlitePrefix)
	if !isSQLite {
		return errors.New("DATABASE_URL is not a SQLite file: docs/operations.md says how PostgreSQL is backed up")
	}
	backup := dev.Backup{Dir: cfg.DevDir, Database: database, Temporal: filepath.Join(cfg.DevDir, dev.TemporalFile)}
	if location, err := photos.ParseLocation(cfg.PhotoOptions().Location); err != nil {
		return err
	} else if backup.Files = location.Directory; backup.Files == "" {
		fmt.Fprintln(out, "The photos in the bucket of PHOTOS are not copied.")
	}
	if usesAnotherTemporal() {
		backup.Temporal = ""
		fmt.Fprintln(out, "The Temporal of TEMPORAL_ADDRESS is not copied.")
	}
	if err := backup.Into(ctx, directory); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Copied to %s. Start it with DEV_DIR=%[1]q despacho dev.\n", directory)
	return err
}
