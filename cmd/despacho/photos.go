package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"despacho/internal/config"
	"despacho/internal/db"
	"despacho/internal/photos"
)

func photosCommand() *cobra.Command {
	command := &cobra.Command{Use: "photos", Short: "Look after delivery-proof photos", Args: cobra.NoArgs, RunE: showHelp}
	command.AddCommand(photosMoveCommand())
	return command
}

func photosMoveCommand() *cobra.Command {
	var from, to string
	var deleteSource bool
	command := &cobra.Command{
		Use:   "move",
		Short: "Copy the photos from PHOTOS_FALLBACK to PHOTOS while the service runs",
		Long: `Copy the photos from PHOTOS_FALLBACK to PHOTOS while the service runs: from a directory to object storage, back, or between two of either.

Every process has both places first, so that photos are found in either. The command can be interrupted and repeated; what is there already is
not copied again. Each copy is read and compared. --delete-source deletes from the old place what the new one has, after
comparing both: when every process has the new place as PHOTOS. docs/operations.md has the steps.`,
		Example: `  despacho photos move --from /var/lib/despacho/files --to 's3://fotos?region=sa-east-1'`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load()
			if err != nil {
				return err
			}
			transfer := photos.Transfer{
				Timeout: cfg.Timeouts.Bucket, DeleteSource: deleteSource,
				Progress: func(done photos.Transferred) { fmt.Fprintln(cmd.ErrOrStderr(), describeTransfer(done)) },
				Failed:   func(name string, err error) { fmt.Fprintf(cmd.ErrOrStderr(), "%s: %v\n", name, err) },
			}
			if from = cmp.Or(from, cfg.PhotosFallback); from == "" {
				return errors.New("from where? --from, or PHOTOS_FALLBACK")
			}
			if transfer.From, err = photos.ParseLocation(from); err != nil {
				return fmt.Errorf("--from %w", err)
			}
			if transfer.To, err = photos.ParseLocation(cmp.Or(to, cfg.PhotoOptions().Location)); err != nil {
				return fmt.Errorf("--to %w", err)
			}
			return withDatabase(cmd.Context(), func(ctx context.Context, database *db.DB) error {
				transfer.Lookup = database.KnownPhotos
				done, err := transfer.Run(ctx)
				_, printErr := fmt.Fprintln(cmd.OutOrStdout(), describeTransfer(done))
				return errors.Join(err, printErr)
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&from, "from", "", "the old place, a directory or s3://<bucket>, instead of PHOTOS_FALLBACK")
	flags.StringVar(&to, "to", "", "the new place, instead of PHOTOS")
	flags.BoolVar(&deleteSource, "delete-source", false, "delete from the old place what the new one has")
	return command
}

func describeTransfer(done photos.Transferred) string {
	return fmt.Sprintf("copied: %d, there already: %d, erased: %d, deleted from the old place: %d, failed: %d",
		done.Copied, done.Present, done.Erased, done.Deleted, done.Failed)
}
