// Command testrunner is what `make test` runs: it installs what the tests need where it may, starts
// the servers that they share, has gotestsum run them with the linters beside them, and prints a
// table of the suites. With CI=true a skipped test that nobody expects is a failure.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"despacho/internal/dev"
	"despacho/test/testenv"
)

const (
	// heartbeat is the longest time without output while packages compile.
	heartbeat = 30 * time.Second
	// stopTimeout is how long the servers may take to end.
	stopTimeout = 20 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrunner:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	began := time.Now()
	if err := execute(ctx, "", "test/install.sh"); err != nil {
		return err
	}
	packages, err := listPackages(ctx)
	if err != nil {
		return err
	}
	defer dev.Every(heartbeat, func() { fmt.Printf("still running, %s\n", time.Since(began).Round(time.Second)) })()
	rows := rowsOf(packages)
	lint := row{suite: "lint"}
	var linting sync.WaitGroup
	linting.Go(func() { lint.runLinters(ctx) })
	err = runTests(ctx, packages, rows)
	linting.Wait()
	passed := printTable(os.Stdout, append([]row{lint}, rows...), time.Since(began))
	if err == nil && !passed {
		err = errors.New("not everything passed")
	}
	return err
}

// runLinters prints what the linters say when they are done, not in between what tests say.
func (r *row) runLinters(ctx context.Context) {
	began := time.Now()
	var output bytes.Buffer
	command := exec.CommandContext(ctx, "test/lint.sh")
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	r.took, r.skipped = time.Since(began), strings.Count(output.String(), "\nskip  ")
	r.passed = strings.Count("\n"+output.String(), "\nok    ")
	if err != nil {
		r.failed = max(1, strings.Count("\n"+output.String(), "\nFAIL  "))
	}
	fmt.Print(output.String())
}

// runTests runs all tests on shared servers and counts them in the rows. An error means that some
// did not run or did not pass.
func runTests(ctx context.Context, packages []string, rows []row) error {
	stop, err := startServers(ctx)
	defer stop()
	if err != nil {
		return err
	}
	results, err := os.MkdirTemp("", "despacho-tests-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(results)
	program, err := exec.CommandContext(ctx, "go", "tool", "-n", "gotestsum").Output()
	if err != nil {
		return fmt.Errorf("go tool gotestsum: %w", err)
	}
	var errs []error
	for _, r := range testRuns(packages) {
		errs = append(errs, r.run(ctx, strings.TrimSpace(string(program)), results, rows))
	}
	return errors.Join(errs...)
}

// startServers starts the servers that the tests share, and names their addresses in the
// environment. A server that this machine cannot run is left out: tests that need it are skipped,
// which with CI=true is a failure.
func startServers(ctx context.Context) (stop func(), err error) {
	var stops []func(context.Context) error
	stop = func() {
		ending, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		for _, end := range stops {
			if err := end(ending); err != nil {
				fmt.Fprintln(os.Stderr, "stopping the servers:", err)
			}
		}
	}
	for _, server := range []struct {
		variable string
		start    func(context.Context) (address string, stop func(context.Context) error, err error)
	}{
		{testenv.PostgresVariable, testenv.StartPostgres}, {testenv.TemporalVariable, testenv.StartTemporal}, {testenv.S3Variable, testenv.StartS3},
	} {
		began := time.Now()
		address, end, err := server.start(ctx)
		if err == nil {
			stops = append(stops, end)
			err = os.Setenv(server.variable, address)
			fmt.Printf("%s is %s after %s\n", server.variable, address, time.Since(began).Round(time.Second))
		} else if !strict() && ctx.Err() == nil {
			fmt.Printf("%s is not there: %v\n", server.variable, err)
			continue
		}
		if err != nil {
			return stop, err
		}
	}
	return stop, nil
}

// strict reports whether a test that could not run is a failure.
func strict() bool { return os.Getenv("CI") == "true" }

// execute runs a command in a directory; when ctx ends, it is stopped with all its child processes.
func execute(ctx context.Context, dir string, command ...string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	child, err := dev.Start(dev.Command{Name: command[0], Path: path, Args: command[1:], Env: os.Environ(), Dir: dir, Log: os.Stdout})
	if err != nil {
		return err
	}
	return child.Wait(ctx)
}
