package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"despacho/internal/db"
)

func reconcileCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reconcile",
		Short: "Have the workflow of every open order started, or read its row again",
		Long: `Have the workflow of every open order started, or read its row again.

For after a restore in which the service's database and Temporal's are not of the same time. The workers do it within a minute;
what a workflow and its row disagree about, the row decides.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withDatabase(cmd.Context(), func(ctx context.Context, database *db.DB) error {
				count, err := database.UnconfirmOpenOrders(ctx)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "open orders to be looked at: %d\n", count)
				return err
			})
		},
	}
}
