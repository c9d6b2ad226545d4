package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"despacho/internal/devstack"
)

// The linters are run by version instead of being tools of the module, whose dependencies they would become.
const (
	staticcheck   = "honnef.co/go/tools/cmd/staticcheck@v0.8.1"
	workflowcheck = "go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0"
	govulncheck   = "golang.org/x/vuln/cmd/govulncheck@v1.8.0"
)

// linter is a command that fails, or prints anything where quiet is set, when the code is not as it should be.
type linter struct {
	name    string
	command []string
	quiet   bool
	// unableWhen is what it prints when it could not look at all, as where the internet is closed: that is skipped, not failed.
	unableWhen string
}

func linters(packages []string) []linter {
	list := []linter{
		{name: "gofmt", command: []string{gofmt(), "-l", "."}, quiet: true},
		{name: "vet", command: []string{"go", "vet", "./..."}},
		{name: "staticcheck", command: []string{"go", "run", staticcheck, "./..."}},
	}
	if slices.Contains(packages, module+"workflows") {
		list = append(list, linter{name: "workflowcheck", command: []string{"go", "run", workflowcheck, "./workflows/..."}})
	}
	// GOVULNDB names another database than the public one.
	return append(list, linter{name: "govulncheck", command: []string{"go", "run", govulncheck, "./..."}, unableWhen: "fetching vulnerabilities"})
}

// gofmt is beside the go command and not always on PATH.
func gofmt() string {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "gofmt"
	}
	return filepath.Join(strings.TrimSpace(string(root)), "bin", "gofmt")
}

func lint(ctx context.Context, s suite, env *environment, out io.Writer) (result counts) {
	for _, l := range linters(s.packages) {
		began := time.Now()
		var output bytes.Buffer
		err := execute(ctx, l.command, env.variables, &output)
		if err == nil && (!l.quiet || output.Len() == 0) {
			result.passed++
			fmt.Fprintf(out, "ok    %-14s %s\n", l.name, rounded(time.Since(began)))
			continue
		}
		if l.unableWhen != "" && strings.Contains(output.String(), l.unableWhen) {
			result.skipped++
			fmt.Fprintf(out, "skip  %-14s %s: its database cannot be reached\n", l.name, rounded(time.Since(began)))
			continue
		}
		result.failed++
		fmt.Fprintf(out, "FAIL  %-14s %s\n%s", l.name, rounded(time.Since(began)), output.Bytes())
		if output.Len() == 0 {
			fmt.Fprintln(out, err)
		}
	}
	return result
}

// execute runs a command to its end; it is stopped, with all it started, when ctx ends.
func execute(ctx context.Context, command, env []string, output io.Writer) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	child, err := devstack.Start(devstack.Command{
		Name: strings.Join(command[:min(3, len(command))], " "), Path: path, Args: command[1:], Env: env, Log: output,
	})
	if err != nil {
		return err
	}
	return child.Wait(ctx)
}
