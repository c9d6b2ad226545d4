package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"despacho/internal/app"
	"despacho/internal/config"
	"despacho/internal/operators"
	"despacho/internal/phone"
)

// operatorEraseCommand erases a recipient's data. It needs what the api needs: the database,
// Temporal for the histories, and the place of the photos.
func operatorEraseCommand() *cobra.Command {
	var operator, order, number string
	command := &cobra.Command{
		Use:     "erase",
		Short:   "Erase the recipient's data of an ended order, or of all ended orders to a phone",
		Example: `  despacho operator erase --operator "Rayo Envíos" --phone 987654321`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (order == "") == (number == "") {
				return errors.New("say whose data: either --order or --phone")
			}
			return withApp(cmd.Context(), func(ctx context.Context, a *app.App) error {
				owner, err := operators.New(operators.Options{DB: a.DB, Clock: a.Clock()}).Find(ctx, operator)
				if err != nil {
					return err
				}
				if order != "" {
					id, err := uuid.Parse(order)
					if err != nil {
						return fmt.Errorf("--order must be a UUID, not %q", order)
					}
					if _, err := a.Orders.Erase(ctx, owner, id); err != nil {
						return err
					}
					_, err = fmt.Fprintln(cmd.OutOrStdout(), "erased: 1")
					return err
				}
				canonical, valid := phone.Canonical(number, owner.CountryCode)
				if !valid {
					return fmt.Errorf("--phone must be a telephone number, not %q", number)
				}
				// An order that fails keeps no other from being erased: the counts are true either way.
				outcome, err := a.Orders.EraseByPhone(ctx, owner, canonical)
				_, printErr := fmt.Fprintf(cmd.OutOrStdout(), "erased: %d, not ended yet: %d\n", outcome.Erased, outcome.Open)
				return errors.Join(err, printErr)
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&operator, "operator", "", "id or name of the operator")
	flags.StringVar(&order, "order", "", "id of the order")
	flags.StringVar(&number, "phone", "", "phone of the recipient")
	requireFlags(command, "operator")
	return command
}

// withApp runs a command that needs more than the database.
func withApp(ctx context.Context, run func(ctx context.Context, a *app.App) error) error {
	cfg, err := config.Load()
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, cfg, cfg.Logger(os.Stderr), app.Options{})
	if err != nil {
		return err
	}
	defer a.Close()
	return run(ctx, a)
}
