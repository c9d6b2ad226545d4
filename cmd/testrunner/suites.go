package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gotest.tools/gotestsum/testjson"
)

// module is the prefix of every package of the project.
const module = "despacho/"

// suite is the packages below a directory, with a row of their own in the table. They run in this
// order, the slowest first, so that the run does not end waiting for one of them.
type suite struct {
	name string
	dir  string // the suite without one has all other packages
	// outside: the suite drives from outside what others test with the race detector, which makes
	// tests two to four times slower, and runs without it.
	outside bool
}

var suites = []suite{
	{name: "webhooks", dir: "internal/webhooks"}, {name: "worker", dir: "worker"}, {name: "api", dir: "api"},
	{name: "commands", dir: "cmd"}, {name: "workflows", dir: "workflows"}, {name: "db", dir: "internal/db"},
	{name: "activities", dir: "activities"}, {name: "orders", dir: "internal/orders"}, {name: "units"},
	{name: "browser", dir: "test/browser", outside: true}, {name: "panel", dir: "internal/panel", outside: true},
	{name: "attacks", dir: "test/attacks", outside: true}, {name: "clients", dir: "test/clients", outside: true},
	{name: "lab", dir: "test/lab"}, {name: "deploy", dir: "test/deploy", outside: true},
}

// otherModules are suites that are modules of their own.
var otherModules = []string{"test/lab", "test/deploy"}

// suiteOf is the index of the suite that a package belongs to.
func suiteOf(path string) int {
	path = strings.TrimPrefix(path, module) + "/"
	i := slices.IndexFunc(suites, func(s suite) bool { return s.dir != "" && strings.HasPrefix(path, s.dir+"/") })
	if i < 0 {
		i = slices.IndexFunc(suites, func(s suite) bool { return s.dir == "" })
	}
	return i
}

// listPackages returns all packages with tests, in the order in which they run.
func listPackages(ctx context.Context) ([]string, error) {
	var packages []string
	for _, dir := range append([]string{"."}, otherModules...) {
		const tested = "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}"
		output, err := exec.CommandContext(ctx, "go", "list", "-C", dir, "-f", tested, "./...").Output()
		if err != nil {
			return nil, fmt.Errorf("go list ./... in %s: %w", dir, err)
		}
		packages = append(packages, strings.Fields(string(output))...)
	}
	slices.SortStableFunc(packages, func(a, b string) int { return suiteOf(a) - suiteOf(b) })
	return packages, nil
}

// testRun is one `go test`: for many packages, so that some compile while others run.
type testRun struct {
	name     string
	dir      string // of the module
	race     bool
	packages []string
}

func testRuns(packages []string) []testRun {
	runs := []testRun{{name: "raced", dir: ".", race: true}, {name: "outside", dir: "."}}
	for _, dir := range otherModules {
		runs = append(runs, testRun{name: filepath.Base(dir), dir: dir, race: !suites[suiteOf(dir)].outside})
	}
	for _, path := range packages {
		s := suites[suiteOf(path)]
		i := slices.IndexFunc(runs, func(r testRun) bool { return r.dir == s.dir })
		if i < 0 {
			i = slices.IndexFunc(runs, func(r testRun) bool { return r.race != s.outside })
		}
		runs[i].packages = append(runs[i].packages, path)
	}
	return runs
}

// run has gotestsum, which is program, run the tests and adds what it counted to the rows. A few
// tests that fail without a race run once more, alone: on a busy machine, one of thousands may not
// get in time what it waits for. Subtests and what holds them count among the six.
func (r testRun) run(ctx context.Context, program, results string, rows []row) error {
	file := filepath.Join(results, r.name+".json")
	failed := execute(ctx, r.dir, append([]string{program, "--format=pkgname", "--format-hide-empty-pkg", "--jsonfile=" + file,
		"--rerun-fails=1", "--rerun-fails-max-failures=6", "--rerun-fails-run-root-test", "--rerun-fails-abort-on-data-race",
		"--packages=" + strings.Join(r.packages, " "), "--"}, r.flags()...)...)
	if failed != nil {
		failed = fmt.Errorf("the tests of %s: %w", r.name, failed)
	}
	written, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("%w; %w", failed, err)
	}
	defer written.Close()
	execution, err := testjson.ScanTestOutput(testjson.ScanConfig{Stdout: written})
	if err != nil {
		return err
	}
	for _, path := range r.packages {
		rows[suiteOf(path)].add(execution, path, strict())
	}
	return failed
}

const (
	// testTimeout bounds one package's tests, slowed down by the race detector on a busy machine.
	testTimeout = 40 * time.Minute
	// testsAtOnce is more than the processors of a small machine: tests mostly wait for servers,
	// timers and browsers. With more packages at once they would wait for minutes for the one
	// Temporal server that they share.
	packagesAtOnce = 2
	testsAtOnce    = 6
)

func (r testRun) flags() []string {
	flags := []string{
		"-count=1", fmt.Sprintf("-timeout=%s", testTimeout), fmt.Sprintf("-p=%d", packagesAtOnce),
		fmt.Sprintf("-parallel=%d", testsAtOnce),
		"-vet=off",    // the linters run all of vet
		"-ldflags=-s", // linking takes half the time without debug information and symbols
	}
	if r.race {
		flags = append(flags, raceFlags()...)
	}
	return flags
}
