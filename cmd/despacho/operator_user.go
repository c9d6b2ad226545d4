package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"despacho/internal/config"
	"despacho/internal/operators"
	"despacho/models"
)

func operatorUserCommand() *cobra.Command {
	command := &cobra.Command{Use: "user", Short: "Look after the people who use the panel", Args: cobra.NoArgs, RunE: showHelp}
	command.AddCommand(operatorUserAddCommand(), operatorUserResetCommand())
	return command
}

func operatorUserAddCommand() *cobra.Command {
	var in operators.NewUser
	var store string
	var grants []string
	var passwordFromStdin bool
	command := &cobra.Command{
		Use:     "add",
		Short:   "Open the panel to somebody; without --password-stdin a password is generated and printed this once",
		Example: `  despacho operator user add --operator "Rayo Envíos" --email ana@rayo.example --name "Ana Torres" --admin`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if store != "" {
				id, err := uuid.Parse(store)
				if err != nil {
					return fmt.Errorf("--store must be a UUID, not %q", store)
				}
				in.StoreID = &id
			}
			for _, grant := range grants {
				in.Grants = append(in.Grants, models.Grant(grant))
			}
			if passwordFromStdin {
				var err error
				if in.Password, err = readPassword(cmd.InOrStdin()); err != nil {
					return err
				}
			}
			return withOperators(cmd, func(ctx context.Context, service *operators.Service) error {
				user, generated, err := service.AddUser(ctx, in)
				if err != nil {
					return err
				}
				return printUser(cmd, user, generated)
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&in.Operator, "operator", "", "id or name of the operator")
	flags.StringVar(&in.Email, "email", "", "e-mail to sign in with")
	flags.StringVar(&in.Name, "name", "", "name of the person")
	flags.StringVar(&store, "store", "", "id of the store the user works for (default none: the operator's own)")
	flags.BoolVar(&in.Admin, "admin", false, "make the user an administrator of the operator")
	flags.StringSliceVar(&grants, "grants", nil,
		"what the user may do besides reading: counter, dispatch, cash, settings (default counter; an administrator may do everything)")
	flags.BoolVar(&passwordFromStdin, "password-stdin", false, "read the password from the first line of standard input")
	requireFlags(command, "operator", "email", "name")
	return command
}

func operatorUserResetCommand() *cobra.Command {
	var email string
	var secondFactor bool
	command := &cobra.Command{
		Use:     "reset",
		Short:   "End a user's sessions and password, and print a link, this once, with which the user chooses another within a day",
		Example: `  despacho operator user reset --email ana@rayo.example --second-factor`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load()
			if err != nil {
				return err
			}
			// Before the password ends: a link that leads nowhere would leave the user without one.
			if err := cfg.RequireBaseURL(); err != nil {
				return err
			}
			return withOperators(cmd, func(ctx context.Context, service *operators.Service) error {
				if secondFactor {
					if err := service.ResetUserSecondFactor(ctx, email); err != nil {
						return err
					}
				}
				reset, err := service.ResetUser(ctx, email)
				if err != nil {
					return err
				}
				return printReset(cmd, reset, cfg.BaseURL)
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&email, "email", "", "e-mail of the user")
	flags.BoolVar(&secondFactor, "second-factor", false, "remove the user's second factor as well")
	requireFlags(command, "email")
	return command
}

func readPassword(in io.Reader) (string, error) {
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the password: %w", err)
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", errors.New("there is no password on standard input")
	}
	return line, nil
}
