package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"despacho/test/testenv"
)

// environment has the servers that the suites share, and what the machine is missing.
type environment struct {
	// strict makes an incomplete suite a failure.
	strict bool
	// variables are the environment of every command. With -trimpath the build cache does not
	// depend on the clone's path; the tag is that of the shipped binary.
	variables []string
	needed    map[need]bool
	missing   map[need]string
	servers   []func(context.Context) error
}

// settings make tests, compilers and servers quicker. A variable of the caller's replaces each of
// them.
var settings = map[string]string{
	// A program with the race detector ends at once; by default it stays a second to report races
	// that are found while it ends.
	"GORACE": "atexit_sleep_ms=0",
	// The garbage collector takes a tenth of the time of linking and testing. It runs less often
	// while a process is small.
	"GOGC": "400", "GOMEMLIMIT": "1500MiB",
}

// applySettings sets them for all processes that this one starts.
func applySettings() error {
	for name, value := range settings {
		if _, set := os.LookupEnv(name); set {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// prepare installs what the chosen suites need.
func prepare(ctx context.Context, chosen []suite, out io.Writer) *environment {
	needed := map[need]bool{}
	for _, s := range chosen {
		for _, n := range s.needs {
			needed[n] = true
		}
	}
	e := &environment{
		strict:    os.Getenv("CI") == "true",
		variables: append(os.Environ(), "GOFLAGS="+goFlags(ctx)),
		needed:    needed,
		missing:   install(ctx, slices.Sorted(maps.Keys(needed)), out),
	}
	if needed[chromium] {
		e.addAxe(ctx, out)
	}
	return e
}

// addAxe names axe-core to the tests. Where it cannot be had, the test that needs it is skipped.
func (e *environment) addAxe(ctx context.Context, out io.Writer) {
	skip, err := installNodeTools(ctx)
	if err != nil {
		skip = err.Error()
	}
	if skip != "" {
		fmt.Fprintf(out, "pages are not checked with axe-core: %s\n", skip)
		return
	}
	e.variables = append(e.variables, testenv.AxeVariable+"="+filepath.Join(nodeToolsDir(), "node_modules", "axe-core", "axe.min.js"))
}

// goFlags are the machine's GOFLAGS and those of every build.
func goFlags(ctx context.Context) string {
	const always = "-trimpath -tags=nomsgpack"
	flags, err := exec.CommandContext(ctx, "go", "env", "GOFLAGS").Output()
	if err != nil {
		return always
	}
	return strings.TrimSpace(string(flags)) + " " + always
}

// startServers starts the servers that the tests share; an environment variable has each address.
func (e *environment) startServers(ctx context.Context, out io.Writer) error {
	for _, server := range []struct {
		need     need
		variable string
		start    func(context.Context) (address string, stop func(context.Context) error, err error)
		// optional: tests that need it are skipped without it.
		optional bool
	}{
		{need: postgres, variable: testenv.PostgresVariable, start: testenv.StartPostgres},
		{need: temporal, variable: testenv.TemporalVariable, start: testenv.StartTemporal},
		{need: objectStorage, variable: testenv.S3Variable, start: testenv.StartS3, optional: true},
	} {
		if !e.needed[server.need] || e.missing[server.need] != "" {
			continue
		}
		began := time.Now()
		address, stop, err := server.start(ctx)
		if err != nil && server.optional && ctx.Err() == nil {
			e.missing[server.need] = err.Error()
			continue
		}
		if err != nil {
			return err
		}
		e.variables = append(e.variables, server.variable+"="+address)
		e.servers = append(e.servers, stop)
		fmt.Fprintf(out, "%s is ready after %s\n", server.need, rounded(time.Since(began)))
	}
	return nil
}

// missingFor returns what keeps a suite from running in full, or an empty string.
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
