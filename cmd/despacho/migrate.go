package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"despacho/internal/catalog"
	"despacho/internal/db"
)

func migrateCommand() *cobra.Command {
	command := &cobra.Command{Use: "migrate", Short: "Bring the database up to date", Args: cobra.NoArgs, RunE: showHelp}
	command.AddCommand(
		&cobra.Command{
			Use: "up", Short: "Apply every migration that is missing and load the location catalog", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return migrateUp(cmd.Context(), cmd.OutOrStdout()) },
		},
		&cobra.Command{
			Use: "status", Short: "List the migrations and which of them the database has", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return migrateStatus(cmd.Context(), cmd.OutOrStdout()) },
		},
	)
	return command
}

// migrationLockTimeout is how long a migration waits for a table that somebody uses. Meanwhile
// every other use of that table waits behind it, so it is less than a request may take. A migration
// that fails has changed nothing, or has left an index that its next run replaces.
const migrationLockTimeout = 5 * time.Second

func migrateUp(ctx context.Context, out io.Writer) error {
	database, err := openDatabaseWith(ctx, db.Options{LockTimeout: migrationLockTimeout})
	if err != nil {
		return err
	}
	defer database.Close()
	applied, err := database.Migrate(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	locations, err := loadCatalog(ctx, database)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d migrations applied, %d locations loaded in %s\n", applied, locations,
		time.Since(began).Round(time.Millisecond))
	return err
}

func loadCatalog(ctx context.Context, database *db.DB) (locations int, err error) {
	countries, places := catalog.Embedded()
	return len(places), database.LoadCatalog(ctx, countries, places)
}

func migrateStatus(ctx context.Context, out io.Writer) error {
	database, err := openDatabase(ctx)
	if err != nil {
		return err
	}
	defer database.Close()
	migrations, err := database.Migrations(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "VERSION\tMIGRATION\tAPPLIED")
	for _, migration := range migrations {
		applied := "no"
		if migration.Applied {
			applied = migration.AppliedAt.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\n", migration.Version, cmp.Or(migration.Name, "(of a later release)"), applied)
	}
	return table.Flush()
}
