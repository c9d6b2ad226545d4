package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/operators"
	"despacho/internal/panel/coveragefile"
	"despacho/models"
)

// maxTableFile is what the panel takes as well: more than a file of operators.MaxCoverageRows
// rows has.
const maxTableFile = 2 << 20

func operatorInitCommand() *cobra.Command {
	var setup operators.Setup
	var basePrice, coverageFile string
	command := &cobra.Command{
		Use:   "init <name>",
		Short: "Take an operator in with all that its first order needs: an administrator, a store with a key, and coverage",
		Long: `Take an operator in with all that its first order needs: an administrator, a store with a key, and coverage.

The password and the keys are printed this once. It makes all of it or, if something is wrong, nothing.

The file of --coverage is CSV, as the panel reads and writes it: a column ubigeo, id or lugar, and a column precio, empty for
the base price. A place is covered with everything in it.`,
		Example: `  despacho operator init "Rayo Envíos" --email ana@rayo.example --person "Ana Torres" --store "Zapatería Sol" --coverage cobertura.csv`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			setup.Operator.Name = args[0]
			if setup.Operator.BasePrice, err = parseBasePrice(basePrice); err != nil {
				return err
			}
			content, err := readTableFile(coverageFile, cmd.InOrStdin())
			if err != nil {
				return fmt.Errorf("--coverage: %w", err)
			}
			return withDatabase(cmd.Context(), func(ctx context.Context, database *db.DB) error {
				if setup.Coverage, err = readCoverage(ctx, database, content); err != nil {
					return err
				}
				made, err := newOperators(database).SetUp(ctx, setup)
				if err != nil {
					return err
				}
				return printSetup(cmd, made)
			})
		},
	}
	addOperatorFlags(command, &setup.Operator, &basePrice, models.PlanPro)
	flags := command.Flags()
	flags.StringVar(&setup.Admin.Email, "email", "", "e-mail that the administrator signs in to the panel with")
	flags.StringVar(&setup.Admin.Name, "person", "", "name of the administrator")
	flags.StringVar(&setup.Store, "store", "", "name of the operator's first store")
	flags.StringVar(&coverageFile, "coverage", "", "CSV file of the places that the operator covers; - reads standard input")
	requireFlags(command, "email", "person", "store", "coverage")
	return command
}

// readTableFile reads a file, or standard input. One that is too large is refused: a part of it
// could end in the middle of a price.
func readTableFile(name string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	content, err := io.ReadAll(io.LimitReader(in, maxTableFile+1))
	if err == nil && len(content) > maxTableFile {
		err = fmt.Errorf("the file has more than %d MiB", maxTableFile>>20)
	}
	return content, err
}

// readCoverage prepares the rows of a coverage file, which are about the operator's country.
func readCoverage(
	ctx context.Context, database *db.DB, content []byte,
) (func(*models.Operator) ([]operators.CoverageRow, error), error) {
	index, err := db.NewCatalogCache(database).Index(ctx)
	if err != nil {
		return nil, err
	}
	return func(operator *models.Operator) ([]operators.CoverageRow, error) {
		rows, err := coveragefile.Read(index, operator, content)
		if err == nil {
			var coverage []operators.CoverageRow
			if coverage, err = coveragefile.Coverage(rows); err == nil {
				return coverage, nil
			}
		}
		return nil, fmt.Errorf("--coverage: %s", apperror.From(err).Message)
	}, nil
}
