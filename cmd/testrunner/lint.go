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
	"strings"
	"time"

	"despacho/dev"
)

// The linters are run by version: as tools of the module their dependencies would become the
// module's.
const (
	staticcheck = "honnef.co/go/tools/cmd/staticcheck@v0.8.1"
	govulncheck = "golang.org/x/vuln/cmd/govulncheck@v1.8.0"
)

// workflowcheck is where the checker of the workflows is compiled to.
const workflowcheck = "bin/workflowcheck"

// linter is a command that fails, or prints something where quiet is set, when it finds a problem.
type linter struct {
	name    string
	command []string
	quiet   bool
	// build is the command that compiles the linter first. It may be empty.
	build []string
	// unable returns why the linter cannot run; it is then skipped, not failed. It may be nil.
	unable func(context.Context) error
}

func linters() []linter {
	return []linter{
		{name: "gofmt", command: []string{gofmt(), "-l", "."}, quiet: true},
		{name: "vet", command: []string{"go", "vet", "./..."}},
		{name: "staticcheck", command: []string{"go", "run", staticcheck, "./..."}},
		// It checks the files of deploy, in a module of its own: the code that reads them is no
		// dependency of the service. The test cache does not notice changes outside of that module.
		{name: "deploy", command: []string{"go", "-C", "test/deploy", "test", "-count=1", "./..."}},
		{
			name:    "workflowcheck",
			build:   []string{"go", "-C", "test/workflowcheck", "build", "-o", "../../" + workflowcheck},
			command: []string{"go", "vet", "-vettool=" + workflowcheck, "./workflows/..."},
		},
		{name: "govulncheck", command: []string{"go", "run", govulncheck, "./..."}, unable: vulnerabilitiesUnreachable},
	}
}

// vulnerabilitiesUnreachable returns why govulncheck's database cannot be reached, for example
// without internet access. govulncheck itself finds out only after analysing the whole program.
func vulnerabilitiesUnreachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	database := cmp.Or(os.Getenv("GOVULNDB"), "https://vuln.go.dev")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, database+"/index/db.json", nil)
	if err != nil || request.URL.Scheme == "file" {
		return nil // govulncheck reports the problem itself
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// gofmt is in the go command's directory, which is not always on PATH.
func gofmt() string {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "gofmt"
	}
	return filepath.Join(strings.TrimSpace(string(root)), "bin", "gofmt")
}

// lint runs the linters one after the other.
func lint(ctx context.Context, result *row, variables []string, strict bool, out io.Writer) {
	for _, l := range linters() {
		if l.unable != nil && (!strict || expectedSkips[testID{"lint", l.name}] != "") {
			if err := l.unable(ctx); err != nil {
				result.skipped++
				fmt.Fprintf(out, "skip  lint %s: %v\n", l.name, err)
				continue
			}
		}
		began := time.Now()
		var output bytes.Buffer
		var err error
		if len(l.build) > 0 {
			err = execute(ctx, l.build, variables, &output)
		}
		if err == nil {
			err = execute(ctx, l.command, variables, &output)
		}
		took := time.Since(began)
		result.took += took
		if err == nil && (!l.quiet || output.Len() == 0) {
			result.passed++
			fmt.Fprintf(out, "ok    lint %s (%s)\n", l.name, rounded(took))
			continue
		}
		result.failed++
		fmt.Fprintf(out, "FAIL  lint %s (%s)\n%s%v\n", l.name, rounded(took), output.Bytes(), err)
	}
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
