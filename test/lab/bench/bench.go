// Package bench measures the service against minimal baselines, on its own servers, and prints one
// table.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"despacho/test/lab/cluster"
)

// Options configure a run.
type Options struct {
	// Only keeps the rows whose name it matches; nil keeps all.
	Only *regexp.Regexp
	// Rounds is the number of rounds of each measurement; 0 is the scale's own.
	Rounds int
	// Quick takes few and short measurements, to check that everything works.
	Quick bool
	// Out gets the progress and the table.
	Out io.Writer
	// JSON is the file that gets the rows.
	JSON string
	// Binary is the despacho program to measure and Lab the running program, whose baselines are
	// processes of their own; BinDir is where the servers' programs are kept.
	Binary, Lab, BinDir string
}

// longestRun bounds the whole run.
const longestRun = 2 * time.Hour

func (o *Options) log(line string) { fmt.Fprintln(o.Out, line) }

// wants reports whether a row is selected.
func (o *Options) wants(row string) bool {
	return o.Only == nil || o.Only.MatchString(row)
}

// Run measures, prints the table and writes the files. The error says what could not be measured; a
// missed goal is not an error.
func Run(ctx context.Context, options Options) error {
	ctx, cancel := context.WithTimeoutCause(ctx, longestRun, fmt.Errorf("not done within %s", longestRun))
	defer cancel()
	sc := full
	if options.Quick {
		sc = quick
	}
	if options.Rounds > 0 {
		sc.rounds = options.Rounds
	}
	began := time.Now()
	rows, err := measure(ctx, options, sc)
	if len(rows) == 0 {
		return errors.Join(err, errors.New("nothing was measured"))
	}
	fmt.Fprintf(options.Out, "\n%s\n\n%s", machineInfo(ctx, sc, time.Since(began)), markdownTable(rows))
	if ctx.Err() != nil {
		return err // keep the file of the last complete run
	}
	return errors.Join(err, cluster.WriteJSON(options.JSON, rows))
}

// measure runs the selected studies on a stack of their own.
func measure(ctx context.Context, options Options, sc scale) (rows []Row, err error) {
	chosen := options.selected(sc)
	if len(chosen) == 0 {
		return nil, nil
	}
	s, err := startStack(ctx, options, sc)
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, st := range chosen {
		options.log("measuring: " + st.name)
		measured, err := st.run(ctx, s)
		if ctx.Err() != nil {
			return rows, context.Cause(ctx)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", st.name, err))
			measured = st.failed(options, sc, err)
		}
		for _, row := range measured {
			if options.wants(row.Name) {
				rows = append(rows, row)
				options.log("  " + strings.Join(slices.DeleteFunc(row.cells(), func(cell string) bool { return cell == "" }),
					" | "))
			}
		}
	}
	return rows, errors.Join(errs...)
}
