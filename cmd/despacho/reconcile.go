package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"despacho/internal/app"
)

// reconcileCommand needs what the api needs: the database and Temporal.
func reconcileCommand() *cobra.Command {
	var afterRestore bool
	command := &cobra.Command{
		Use:   "reconcile",
		Short: "Have the workflow of every open order started, or read its row again",
		Long: `Have the workflow of every open order started, or read its row again. The workers do it within a minute.

With --after-restore the running workflows of this installation are ended before, so that all of them begin anew from their
rows: after a restore the service's database and Temporal's may not be of the same time.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd.Context(), func(ctx context.Context, a *app.App) error {
				if afterRestore {
					ended, err := a.Orders.EndWorkflows(ctx, "despacho reconcile --after-restore")
					if err != nil {
						return fmt.Errorf("%d workflows were ended; run the command again: %w", ended, err)
					}
					if _, err := fmt.Fprintf(cmd.OutOrStdout(), "workflows ended: %d\n", ended); err != nil {
						return err
					}
				}
				count, err := a.Orders.UnconfirmOpenOrders(ctx)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "open orders to be looked at: %d\n", count)
				return err
			})
		},
	}
	command.Flags().BoolVar(&afterRestore, "after-restore", false, "end the running workflows before")
	return command
}
