package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"despacho/dev"
	"despacho/test/testenv"
)

// environment is what the suites run in: the servers they share and what the machine lacks.
type environment struct {
	// strict makes a suite that cannot run in full a failure.
	strict bool
	// variables are the environment of every command. What is compiled with -trimpath does not
	// depend on the clone's path, so that a fresh clone finds it in the build cache.
	variables []string
	missing   map[need]string
	servers   []func(context.Context) error
}

// prepare installs and starts what the chosen suites need.
func prepare(ctx context.Context, chosen []suite, out io.Writer) (*environment, error) {
	needed := map[need]bool{}
	for _, s := range chosen {
		for _, n := range s.needs {
			needed[n] = true
		}
	}
	env := &environment{
		strict:    os.Getenv("CI") == "true",
		variables: append(os.Environ(), "GOFLAGS="+goFlags(ctx)),
		missing:   install(ctx, slices.Sorted(maps.Keys(needed)), out),
	}
	if err := env.startServers(ctx, needed, out); err != nil {
		env.stop()
		return nil, err
	}
	return env, nil
}

// goFlags are the machine's own and -trimpath.
func goFlags(ctx context.Context) string {
	flags, err := exec.CommandContext(ctx, "go", "env", "GOFLAGS").Output()
	if err != nil {
		return "-trimpath"
	}
	return strings.TrimSpace(string(flags)) + " -trimpath"
}

func (e *environment) startServers(ctx context.Context, needed map[need]bool, out io.Writer) error {
	if needed[postgres] && e.missing[postgres] == "" {
		began := time.Now()
		server, err := dev.StartPostgres(ctx, dev.PostgresOptions{})
		if err != nil {
			return err
		}
		e.shareServer(testenv.PostgresVariable, server.URL, server.Stop)
		fmt.Fprintf(out, "PostgreSQL is ready after %s\n", rounded(time.Since(began)))
	}
	if needed[temporal] {
		cli, err := dev.FindTemporalCLI(ctx, "bin", func(line string) { fmt.Fprintln(out, line) })
		if err != nil {
			return err
		}
		began := time.Now()
		server, err := dev.StartTemporal(ctx, dev.TemporalOptions{CLI: cli, SearchAttributes: testenv.SearchAttributes})
		if err != nil {
			return err
		}
		e.shareServer(testenv.TemporalVariable, server.Address, server.Stop)
		fmt.Fprintf(out, "Temporal is ready after %s\n", rounded(time.Since(began)))
	}
	return nil
}

// shareServer passes a server's address to the tests.
func (e *environment) shareServer(variable, address string, stop func(context.Context) error) {
	e.variables = append(e.variables, variable+"="+address)
	e.servers = append(e.servers, stop)
}

// missingFor says what keeps a suite from running in full; empty when nothing does.
func (e *environment) missingFor(s suite) string {
	var reasons []string
	for _, n := range s.needs {
		if reason := e.missing[n]; reason != "" {
			reasons = append(reasons, fmt.Sprintf("%s: %s", n, reason))
		}
	}
	return strings.Join(reasons, "; ")
}

func (e *environment) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var errs []error
	for _, stop := range e.servers {
		errs = append(errs, stop(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the servers:", err)
	}
}
