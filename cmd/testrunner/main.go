// Command testrunner runs the project's linters and tests. It installs what they need where
// possible, starts the servers they share, and prints a table of the results. Arguments select
// suites; without any, all run. With CI=true an incomplete suite or an unexpected skip is a
// failure. `previous` and a commit run the tests of that commit on the migrations of this tree;
// `generate` makes the generated files of the clients.
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
	"sync"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	passed, err := command(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrunner:", err)
	}
	if err != nil || !passed {
		os.Exit(1)
	}
}

func command(ctx context.Context, arguments []string, out io.Writer) (passed bool, err error) {
	if err := applySettings(); err != nil {
		return false, err
	}
	if len(arguments) > 0 && arguments[0] == "previous" {
		return testPrevious(ctx, strings.Join(arguments[1:], ""), out)
	}
	if len(arguments) > 0 && arguments[0] == "generate" {
		err := generate(ctx, arguments[1:], out)
		return err == nil, err
	}
	return run(ctx, arguments, out)
}

func run(ctx context.Context, names []string, out io.Writer) (passed bool, err error) {
	began := time.Now()
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
	out = &lockedWriter{writer: out}
	env := prepare(ctx, chosen, out)
	defer env.stop()
	rows, err := runSuites(ctx, chosen, env, out)
	if err != nil {
		return false, err
	}
	return summarize(rows, time.Since(began), out), nil
}

// runSuites runs the linters and, at the same time, the tests of the suites that can run.
func runSuites(ctx context.Context, chosen []suite, env *environment, out io.Writer) ([]row, error) {
	ctx, cancel := context.WithCancel(ctx)
	rows := make([]row, len(chosen))
	variables := env.variables // those of the servers follow, which no linter needs
	var linting sync.WaitGroup
	defer linting.Wait()
	defer cancel()
	for i, s := range chosen {
		rows[i].suite = s.name
		if s.lints {
			linting.Go(func() { lint(ctx, linters(), &rows[i], variables, env.strict, out) })
		}
	}
	if err := env.startServers(ctx, out); err != nil {
		return nil, err
	}
	raced, plain, ofLab := testRun{dir: ".", race: true}, testRun{dir: "."}, testRun{dir: labModule, race: true}
	for i, s := range chosen {
		reason := env.missingFor(s)
		switch {
		case s.lints:
		case reason != "" && env.strict:
			rows[i].fail("could not run: " + reason)
		default:
			if reason != "" {
				fmt.Fprintf(out, "not all of %s can run: %s\n", s.name, reason)
			}
			run := &raced
			switch {
			case s.owns == labModule:
				run = &ofLab
			case s.withoutRace:
				run = &plain
			}
			run.packages = append(run.packages, s.packages...)
		}
	}
	runs := slices.DeleteFunc([]testRun{raced, plain, ofLab}, func(r testRun) bool { return len(r.packages) == 0 })
	if len(runs) > 0 {
		goTest(ctx, runs, env, out).addTo(rows, chosen)
	}
	linting.Wait()
	if ctx.Err() != nil {
		for i := range rows {
			rows[i].fail("interrupted")
		}
	}
	return rows, nil
}

// lockedWriter serializes the output of the linters, the tests and the heartbeat.
type lockedWriter struct {
	mu     sync.Mutex
	writer io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writer.Write(p)
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

// enterModule changes to the module's root, which all paths are relative to.
func enterModule(ctx context.Context) error {
	gomod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("go env GOMOD: %w", err)
	}
	return os.Chdir(filepath.Dir(strings.TrimSpace(string(gomod))))
}

// labModule is the directory of the lab, a module of its own whose tests are a suite.
const labModule = "test/lab"

func listPackages(ctx context.Context) ([]string, error) {
	var packages []string
	for _, dir := range []string{".", labModule} {
		output, err := exec.CommandContext(ctx, "go", "list", "-C", dir, "-e", "./...").Output()
		if err != nil {
			return nil, fmt.Errorf("go list ./... in %s: %w", dir, err)
		}
		packages = append(packages, strings.Fields(string(output))...)
	}
	return packages, nil
}
