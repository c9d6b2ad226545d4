package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/internal/operators"
	"despacho/models"
)

func operatorCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "operator",
		Short: "Take operators in, change their plan, suspend them, open the panel to their people",
		Args:  cobra.NoArgs,
		RunE:  showHelp,
	}
	command.PersistentFlags().Bool(jsonFlag, false, "print JSON instead of a table")
	command.AddCommand(
		operatorInitCommand(), operatorCreateCommand(), operatorListCommand(), operatorUserCommand(), operatorEraseCommand(),
		operatorChangeCommand("plan <operator id or name> <"+operators.PlanNames("|")+">", "Change an operator's plan",
			func(ctx context.Context, service *operators.Service, args []string) (*models.Operator, error) {
				return service.SetPlan(ctx, args[0], models.Plan(args[1]))
			}),
		operatorChangeCommand("suspend <operator id or name>",
			"Shut the API to an operator and its stores; the panel stays open for reading",
			func(ctx context.Context, service *operators.Service, args []string) (*models.Operator, error) {
				return service.Suspend(ctx, args[0])
			}),
		operatorChangeCommand("resume <operator id or name>", "End an operator's suspension",
			func(ctx context.Context, service *operators.Service, args []string) (*models.Operator, error) {
				return service.Resume(ctx, args[0])
			}),
	)
	return command
}

// requireFlags are for flags that the command has.
func requireFlags(command *cobra.Command, names ...string) {
	for _, name := range names {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}

// showHelp is for a command that only groups subcommands: with it cobra rejects an unknown
// subcommand instead of printing help and succeeding.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// withOperators runs a use case on the database of DATABASE_URL.
func withOperators(cmd *cobra.Command, use func(ctx context.Context, service *operators.Service) error) error {
	return withDatabase(cmd.Context(), func(ctx context.Context, database *db.DB) error {
		return use(ctx, newOperators(database))
	})
}

func newOperators(database *db.DB) *operators.Service {
	return operators.New(operators.Options{DB: database, Clock: clock.System()})
}

// changeOperator runs a use case that returns an operator and prints it.
func changeOperator(cmd *cobra.Command, change func(context.Context, *operators.Service) (*models.Operator, error)) error {
	return withOperators(cmd, func(ctx context.Context, service *operators.Service) error {
		operator, err := change(ctx, service)
		if err != nil {
			return err
		}
		return printOperator(cmd, operator)
	})
}

func operatorCreateCommand() *cobra.Command {
	var in operators.NewOperator
	var basePrice string
	command := &cobra.Command{
		Use:     "create <name>",
		Short:   "Take an operator in, with a main branch and three sizes",
		Example: `  despacho operator create "Rayo Envíos" --plan pro --base-price 12.50`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			var err error
			if in.BasePrice, err = parseBasePrice(basePrice); err != nil {
				return err
			}
			return changeOperator(cmd, func(ctx context.Context, service *operators.Service) (*models.Operator, error) {
				return service.Create(ctx, in)
			})
		},
	}
	addOperatorFlags(command, &in, &basePrice, models.PlanBasic)
	return command
}

func addOperatorFlags(command *cobra.Command, in *operators.NewOperator, basePrice *string, plan models.Plan) {
	flags := command.Flags()
	flags.StringVar(&in.CountryCode, "country", operators.DefaultCountry, "two-letter country code; it decides the currency")
	flags.StringVar(&in.Timezone, "timezone", "", "IANA time zone (default the country's)")
	flags.StringVar((*string)(&in.Plan), "plan", string(plan), operators.PlanNames(", "))
	flags.StringVar(basePrice, "base-price", "",
		"price of a shipment where coverage names none, for example 12.50 (default none)")
}

func parseBasePrice(text string) (*money.Cents, error) {
	if text == "" {
		return nil, nil
	}
	price, err := money.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("--base-price must be an amount up to %s with at most two decimals, not %q", money.Max, text)
	}
	return &price, nil
}

func operatorListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the operators",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withOperators(cmd, func(ctx context.Context, service *operators.Service) error {
				all, err := service.List(ctx)
				if err != nil {
					return err
				}
				return printOperators(cmd, all)
			})
		},
	}
}

// operatorChangeCommand changes the operator that its first argument names, and prints it.
func operatorChangeCommand(
	use, short string, change func(ctx context.Context, service *operators.Service, args []string) (*models.Operator, error),
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(strings.Count(use, "<")),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeOperator(cmd, func(ctx context.Context, service *operators.Service) (*models.Operator, error) {
				return change(ctx, service, args)
			})
		},
	}
}
