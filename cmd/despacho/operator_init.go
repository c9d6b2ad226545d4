package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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
	var given setupFlags
	command := &cobra.Command{
		Use:   "init [name]",
		Short: "Take an operator in with all that its first order needs: an administrator, a store with a key, and coverage",
		Long: `Take an operator in with all that its first order needs: an administrator, a store with a key, and coverage.

The password and the key are printed this once. Run again, the command creates only what is missing, and sets the prices of
the places in the file. On a terminal it asks for what is not given.

The file of --coverage is CSV, as the panel reads and writes it: a column ubigeo, id or lugar, and a column precio, empty for
the base price. A place is covered with everything in it.`,
		Example: `  despacho operator init "Rayo Envíos" --email ana@rayo.example --person "Ana Torres" --store "Zapatería Sol" --coverage cobertura.csv`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			given.Operator.Name = strings.Join(args, "")
			if err := given.complete(cmd); err != nil {
				return err
			}
			return withDatabase(cmd.Context(), func(ctx context.Context, database *db.DB) error {
				if err := given.readCoverage(ctx, database); err != nil {
					return err
				}
				made, err := newOperators(database).SetUp(ctx, given.Setup)
				if err != nil {
					return err
				}
				return printSetup(cmd, made)
			})
		},
	}
	addOperatorFlags(command, &given.Operator, &given.basePrice, models.PlanPro)
	flags := command.Flags()
	flags.StringVar(&given.Admin.Email, "email", "", "e-mail that the administrator signs in to the panel with")
	flags.StringVar(&given.Admin.Name, "person", "", "name of the administrator")
	flags.StringVar(&given.Store, "store", "", "name of the operator's first store")
	flags.StringVar(&given.coverageFile, "coverage", "",
		"CSV file of the places that the operator covers; - reads standard input")
	return command
}

// setupFlags are the values of operator init, from flags or from a terminal.
type setupFlags struct {
	operators.Setup
	basePrice, coverageFile string
	// coverage is the file's content.
	coverage []byte
}

// isTerminal is replaced in tests.
var isTerminal = func(in io.Reader) bool {
	file, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// complete asks for what is missing, if there is somebody to ask, and reads the file.
func (f *setupFlags) complete(cmd *cobra.Command) (err error) {
	questions := &questions{in: bufio.NewReader(cmd.InOrStdin()), out: cmd.ErrOrStderr(), possible: isTerminal(cmd.InOrStdin()) &&
		f.coverageFile != "-"}
	questions.ask(&f.Operator.Name, "the name", "Name of the operator")
	questions.ask(&f.Admin.Email, "--email", "E-mail of its administrator")
	questions.ask(&f.Admin.Name, "--person", "Name of the administrator")
	questions.ask(&f.Store, "--store", "Name of its first store")
	if f.coverageFile == "" {
		f.coverage = questions.askCoverage()
	}
	if err := errors.Join(questions.problems...); err != nil {
		return err
	}
	if f.Operator.BasePrice, err = parseBasePrice(f.basePrice); err != nil {
		return err
	}
	if f.coverageFile == "" {
		return nil
	}
	if f.coverage, err = readTableFile(f.coverageFile, cmd.InOrStdin()); err != nil {
		return fmt.Errorf("--coverage: %w", err)
	}
	return nil
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

// readCoverage prepares the rows of the file, which are about the operator's country.
func (f *setupFlags) readCoverage(ctx context.Context, database *db.DB) error {
	index, err := db.NewCatalogCache(database).Index(ctx)
	if err != nil {
		return err
	}
	f.Coverage = func(operator *models.Operator) ([]operators.CoverageRow, error) {
		rows, err := coveragefile.Read(index, operator, f.coverage)
		if err == nil {
			var coverage []operators.CoverageRow
			if coverage, err = coveragefile.Coverage(rows); err == nil {
				return coverage, nil
			}
		}
		return nil, fmt.Errorf("--coverage: %s", apperror.From(err).Message)
	}
	return nil
}

// questions asks a person at a terminal.
type questions struct {
	in       *bufio.Reader
	out      io.Writer
	possible bool
	problems []error
}

// ask fills in a missing value.
func (q *questions) ask(value *string, flag, question string) {
	if *value != "" {
		return
	}
	if q.possible {
		fmt.Fprintf(q.out, "%s: ", question)
		*value = q.line()
	}
	if *value == "" {
		q.problems = append(q.problems, fmt.Errorf("%s is missing", flag))
	}
}

// askCoverage asks for the lines of a coverage file.
func (q *questions) askCoverage() []byte {
	var content strings.Builder
	content.WriteString("lugar;precio\n")
	lines := 0
	if q.possible {
		fmt.Fprintln(q.out, "Places that it covers and what a shipment costs there, one a line such as `Lima;12.50`, then an empty line:")
		for line := q.line(); line != ""; line = q.line() {
			content.WriteString(line + "\n")
			lines++
		}
	}
	if lines == 0 {
		q.problems = append(q.problems, errors.New("--coverage is missing"))
	}
	return []byte(content.String())
}

func (q *questions) line() string {
	line, _ := q.in.ReadString('\n') // the end of the input is an empty answer
	return strings.TrimSpace(line)
}
