package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"despacho/internal/dev"
)

// The linters are run by version: as tools of the module their dependencies would become the
// module's.
const (
	staticcheck = "honnef.co/go/tools/cmd/staticcheck@v0.8.1"
	govulncheck = "golang.org/x/vuln/cmd/govulncheck@v1.8.0"
)

// linter is a command that fails, or prints something where quiet is set, when it finds a problem.
type linter struct {
	name    string
	command []string
	quiet   bool
	// build is the command that compiles the linter first. It may be empty.
	build []string
	// prepare gets what the linter needs. It returns a reason where that cannot be had here: the
	// linter is then skipped, not failed. It may be nil.
	prepare func(context.Context) (skip string, err error)
}

// quietRedocly keeps redocly from reporting its use and from asking for newer versions.
var quietRedocly = []string{"env", "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true"}

func linters() []linter {
	return []linter{
		{name: "gofmt", command: []string{gofmt(), "-l", "."}, quiet: true},
		{name: "vet", command: []string{"go", "vet", "./..."}},
		{name: "vet lab", command: []string{"go", "-C", labModule, "vet", "./..."}},
		{name: "staticcheck", command: []string{"go", "run", staticcheck, "./..."}},
		{name: "staticcheck lab", command: []string{"go", "-C", labModule, "run", staticcheck, "./..."}},
		// It checks the files of deploy, in a module of its own: the code that reads them is no
		// dependency of the service. The test cache does not notice changes outside of that module.
		{name: "deploy", command: []string{"go", "-C", "test/deploy", "test", "-count=1", "./..."}},
		workflowcheck("bin"),
		{name: "vet clients", command: []string{"go", "-C", "clients/go", "vet", "./..."}},
		{name: "clients/go", command: checkGenerated("go")},
		{name: "clients/typescript", command: checkGenerated("typescript"), prepare: installNodeTools},
		{name: "govulncheck", command: []string{"go", "run", govulncheck, "./..."}, prepare: vulnerabilitiesUnreachable},
		{name: "spectral", command: nodeTool("spectral", "lint", "--fail-severity=hint", "--ruleset", nodePackages+"/spectral.yaml", "api/openapi.yaml"), prepare: installNodeTools},
		{name: "redocly", command: slices.Concat(quietRedocly, nodeTool("redocly", "lint", "--config", nodePackages+"/redocly.yaml", "api/openapi.yaml")), prepare: installNodeTools},
	}
}

// workflowcheck is the checker of the workflows, compiled into a directory below this one. It is
// the same program in every clone and at every commit: go vet keeps what it has found by the
// program's hash.
func workflowcheck(directory string) linter {
	return linter{
		name:    "workflowcheck",
		build:   []string{"go", "-C", "test/workflowcheck", "build", "-trimpath", "-buildvcs=false", "-o", "../../" + directory + "/workflowcheck"},
		command: []string{"go", "vet", "-vettool=" + directory + "/workflowcheck", "./workflows/..."},
	}
}

// checkGenerated runs this program on a client's generated files.
func checkGenerated(client string) []string {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	return []string{program, "generate", "--check", client}
}

// vulnerabilitiesUnreachable returns why govulncheck's database cannot be reached, for example
// without internet access. govulncheck itself finds out only after analysing the whole program.
func vulnerabilitiesUnreachable(ctx context.Context) (skip string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	database := cmp.Or(os.Getenv("GOVULNDB"), "https://vuln.go.dev")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, database+"/index/db.json", nil)
	if err != nil || request.URL.Scheme == "file" {
		return "", nil // govulncheck reports the problem itself
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error(), nil
	}
	return "", response.Body.Close()
}

// gofmt is in the go command's directory, which is not always on PATH.
func gofmt() string {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "gofmt"
	}
	return filepath.Join(strings.TrimSpace(string(root)), "bin", "gofmt")
}

// lint runs linters one after the other.
func lint(ctx context.Context, linters []linter, result *row, variables []string, strict bool, out io.Writer) {
	for _, l := range linters {
		began := time.Now()
		var output bytes.Buffer
		skip, err := l.run(ctx, variables, &output)
		took := time.Since(began)
		result.took += took
		switch {
		case skip != "" && strict && expectedSkips[testID{"lint", l.name}] == "":
			result.failed++
			fmt.Fprintf(out, "FAIL  lint %s could not run: %s\n", l.name, skip)
		case skip != "":
			result.skipped++
			fmt.Fprintf(out, "skip  lint %s: %s\n", l.name, skip)
		case err == nil && (!l.quiet || output.Len() == 0):
			result.passed++
			fmt.Fprintf(out, "ok    lint %s (%s)\n", l.name, rounded(took))
		default:
			result.failed++
			fmt.Fprintf(out, "FAIL  lint %s (%s)\n%s%v\n", l.name, rounded(took), output.Bytes(), err)
		}
	}
}

// run prepares the linter and runs it.
func (l linter) run(ctx context.Context, variables []string, output io.Writer) (skip string, err error) {
	if l.prepare != nil {
		if skip, err = l.prepare(ctx); skip != "" || err != nil {
			return skip, err
		}
	}
	if len(l.build) > 0 {
		if err := execute(ctx, l.build, variables, output); err != nil {
			return "", err
		}
	}
	return "", execute(ctx, l.command, variables, output)
}

// execute runs a command; when ctx ends, it is stopped with all its child processes.
func execute(ctx context.Context, command, env []string, output io.Writer) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	child, err := dev.Start(dev.Command{
		Name: strings.Join(command[:min(3, len(command))], " "), Path: path, Args: command[1:], Env: env, Log: output,
	})
	if err != nil {
		return err
	}
	return child.Wait(ctx)
}
