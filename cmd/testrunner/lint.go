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

// The linters are run by version instead of being tools of the module, whose dependencies they
// would become.
const (
	staticcheck   = "honnef.co/go/tools/cmd/staticcheck@v0.8.1"
	workflowcheck = "go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0"
	govulncheck   = "golang.org/x/vuln/cmd/govulncheck@v1.8.0"
)

// linter is a command that fails, or with quiet set prints anything, when it has findings.
type linter struct {
	name    string
	command []string
	quiet   bool
	// unable says why the linter cannot run, which is a skip and not a failure; nil always can.
	unable func(context.Context) error
}

func linters() []linter {
	return []linter{
		{name: "gofmt", command: []string{gofmt(), "-l", "."}, quiet: true},
		{name: "vet", command: []string{"go", "vet", "./..."}},
		{name: "staticcheck", command: []string{"go", "run", staticcheck, "./..."}},
		{name: "workflowcheck", command: []string{"go", "run", workflowcheck, "./workflows/..."}},
		{name: "govulncheck", command: []string{"go", "run", govulncheck, "./..."}, unable: vulnerabilitiesUnreachable},
	}
}

// vulnerabilitiesUnreachable says why govulncheck's database cannot be asked, as where the internet
// is closed. govulncheck itself finds out only after it has analysed the whole program.
func vulnerabilitiesUnreachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	database := cmp.Or(os.Getenv("GOVULNDB"), "https://vuln.go.dev")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, database+"/index/db.json", nil)
	if err != nil || request.URL.Scheme == "file" {
		return nil // govulncheck itself says what is wrong with it
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// gofmt is beside the go command and not always on PATH.
func gofmt() string {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "gofmt"
	}
	return filepath.Join(strings.TrimSpace(string(root)), "bin", "gofmt")
}

// lint runs the linters one after the other.
func lint(ctx context.Context, result *row, env *environment, out io.Writer) {
	for _, l := range linters() {
		if l.unable != nil && (!env.strict || expectedSkips[testID{"lint", l.name}] != "") {
			if err := l.unable(ctx); err != nil {
				result.skipped++
				fmt.Fprintf(out, "skip  lint %s: %v\n", l.name, err)
				continue
			}
		}
		began := time.Now()
		var output bytes.Buffer
		err := execute(ctx, l.command, env.variables, &output)
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

// execute runs a command to its end; it is stopped, with all it started, when ctx ends.
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
