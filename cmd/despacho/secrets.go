package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"despacho/internal/app"
)

func secretsCommand() *cobra.Command {
	command := &cobra.Command{Use: "secrets", Short: "Look after what SECRET_KEY encrypts", Args: cobra.NoArgs, RunE: showHelp}
	command.AddCommand(&cobra.Command{
		Use:   "rotate",
		Short: "Encrypt with SECRET_KEY what SECRET_KEY_OLD encrypted",
		Long: `Encrypt with SECRET_KEY what SECRET_KEY_OLD encrypted: webhook secrets, second factors and the document numbers of orders.

First give every process the new key as SECRET_KEY_OLD, so that each can read what another has encrypted with it. Then give them
the new key as SECRET_KEY and the previous one as SECRET_KEY_OLD, and restart them all. Then run this command once with
the same environment. After it SECRET_KEY_OLD can be removed; the addresses of photos that
it signed work until then, or until PHOTO_URL_TTL is over. What neither key opens, such as what a lost key encrypted, is left
as it is: the command names the first and fails, and the rest is done.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd.Context(), func(ctx context.Context, a *app.App) error {
				changed, err := a.ReencryptSecrets(ctx)
				_, printErr := fmt.Fprintf(cmd.OutOrStdout(), "re-encrypted: %d\n", changed)
				return errors.Join(err, printErr)
			})
		},
	})
	return command
}
