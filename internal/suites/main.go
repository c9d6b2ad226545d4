// Command suites runs the project's checks and tests: it installs what they need where that is possible, starts the
// servers they share, runs one suite after another and ends with a table of what ran. Names as arguments choose suites;
// without any, all run. With CI=true a suite that could not run in full is a failure.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	passed, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
	}
	if err != nil || !passed {
		os.Exit(1)
	}
}

func run(ctx context.Context, names []string, out io.Writer) (passed bool, err error) {
	if err := enterModule(ctx); err != nil {
		return false, err
	}
	packages, err := listPackages(ctx)
	if err != nil {
		return false, err
	}
	chosen, err := choose(assign(packages), names)
	if err != nil {
		return false, err
	}
	env, err := prepare(ctx, chosen, out)
	if err != nil {
		return false, err
	}
	defer env.stop()

	var rows []row
	for _, s := range chosen {
		rows = append(rows, runSuite(ctx, s, env, out))
	}
	return summarize(rows, out), nil
}

// runSuite runs one suite; what could not run says why.
func runSuite(ctx context.Context, s suite, env *environment, out io.Writer) row {
	fmt.Fprintf(out, "\n== %s\n", s.name)
	began := time.Now()
	result := row{suite: s.name}
	switch reason := env.lacking(s); {
	case ctx.Err() != nil:
		result.problem = "interrupted"
	case reason != "" && env.strict:
		result.problem = "could not run: " + reason
	default:
		if reason != "" {
			fmt.Fprintf(out, "not all of it can run: %s\n", reason)
		}
		result.counts = s.run(ctx, s, env, out)
		if ctx.Err() != nil {
			result.problem = "interrupted"
		}
	}
	if result.problem != "" {
		result.failed++
		fmt.Fprintln(out, result.problem)
	}
	result.took = time.Since(began)
	return result
}

// choose keeps the suites that were named, in their usual order.
func choose(all []suite, names []string) ([]suite, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []suite
	for _, s := range all {
		if slices.Contains(names, s.name) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) != len(names) {
		var known []string
		for _, s := range all {
			known = append(known, s.name)
		}
		return nil, fmt.Errorf("the suites are %s, not %s", strings.Join(known, ", "), strings.Join(names, ", "))
	}
	return chosen, nil
}

// enterModule goes to the module's root, where every path below starts.
func enterModule(ctx context.Context) error {
	gomod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("go env GOMOD: %w", err)
	}
	return os.Chdir(filepath.Dir(strings.TrimSpace(string(gomod))))
}

func listPackages(ctx context.Context) ([]string, error) {
	output, err := exec.CommandContext(ctx, "go", "list", "-e", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list ./...: %w", err)
	}
	return strings.Fields(string(output)), nil
}
