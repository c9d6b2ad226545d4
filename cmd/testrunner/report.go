package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// testEvent is one line of `go test -json`.
type testEvent struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

// testID identifies a test, or without a test the package's own output.
type testID struct{ pkg, test string }

// testReport reads `go test -json`, prints one line per package and the output of failed tests, and
// counts. A test with subtests is only counted itself if it fails on its own.
type testReport struct {
	out io.Writer
	// strict makes an unexpected skip a failure.
	strict  bool
	partial []byte

	packages map[string]*packageResult
	// failure is why the command failed when no test did.
	failure  string
	output   map[testID]*strings.Builder
	parents  map[testID]bool
	failedIn map[testID]bool // parents with a subtest that failed
}

// packageResult is the result of one package.
type packageResult struct {
	counts
	took  time.Duration
	ended bool
}

func newTestReport(out io.Writer, strict bool) *testReport {
	return &testReport{
		out: out, strict: strict,
		packages: map[string]*packageResult{},
		output:   map[testID]*strings.Builder{},
		parents:  map[testID]bool{},
		failedIn: map[testID]bool{},
	}
}

// Write reads the command's output, which may arrive in partial lines.
func (r *testReport) Write(p []byte) (int, error) {
	r.partial = append(r.partial, p...)
	for {
		line, rest, found := bytes.Cut(r.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		r.partial = rest
		var event testEvent
		if json.Unmarshal(line, &event) != nil {
			fmt.Fprintf(r.out, "%s\n", line) // output of the go command itself, such as "go: downloading ..."
			continue
		}
		r.read(event)
	}
}

// finish ends the report of a command. One that failed when no test did fails every package that it
// did not run.
func (r *testReport) finish(err error) {
	if len(r.partial) > 0 {
		fmt.Fprintf(r.out, "%s\n", r.partial)
		r.partial = nil
	}
	if err != nil {
		r.failure = fmt.Sprintf("go test did not end well: %v", err)
	}
}

// addTo adds the results of each suite's packages to its row.
func (r *testReport) addTo(rows []row, chosen []suite) {
	failed := 0
	for i, s := range chosen {
		for _, path := range s.packages {
			result := r.packages[path]
			if result == nil || !result.ended {
				rows[i].fail(cmp.Or(r.failure, "go test said nothing of "+path))
				continue
			}
			rows[i].add(result.counts)
			rows[i].took += result.took
		}
		failed += rows[i].failed
	}
	if r.failure != "" && failed == 0 {
		rows[len(rows)-1].fail(r.failure)
	}
}

func (r *testReport) read(event testEvent) {
	id := testID{event.Package, event.Test}
	switch event.Action {
	case "build-output":
		fmt.Fprint(r.out, event.Output)
	case "run":
		for parent := range ancestors(id) {
			r.parents[parent] = true
		}
	case "output":
		if r.output[id] == nil {
			r.output[id] = &strings.Builder{}
		}
		r.output[id].WriteString(event.Output)
	case "pass", "fail", "skip":
		if event.Test == "" {
			r.endPackage(event)
		} else {
			r.endTest(id, event.Action)
		}
	}
}

func (r *testReport) endTest(id testID, action string) {
	output := r.takeOutput(id)
	tally := r.resultOf(id.pkg)
	switch {
	case action == "fail":
		if !r.failedIn[id] {
			tally.failed++
		}
		for parent := range ancestors(id) {
			r.failedIn[parent] = true
		}
		if !r.failedIn[id] || strings.Count(output, "\n") > 1 {
			fmt.Fprintf(r.out, "FAIL  %s %s\n%s", id.pkg, id.test, output)
		}
	case r.parents[id]:
	case action == "skip" && r.strict && expectedSkips[id] == "":
		tally.failed++
		fmt.Fprintf(r.out, "FAIL  %s %s: skipped, which is not expected: %s\n", id.pkg, id.test, firstLine(output))
	case action == "skip":
		tally.skipped++
		fmt.Fprintf(r.out, "skip  %s %s: %s\n", id.pkg, id.test, firstLine(output))
	default:
		tally.passed++
	}
}

func (r *testReport) endPackage(event testEvent) {
	tally := r.resultOf(event.Package)
	tally.ended, tally.took = true, time.Duration(event.Elapsed*float64(time.Second))
	output := r.takeOutput(testID{event.Package, ""})
	if event.Action == "fail" {
		// A panic or a timeout ends the package before its tests: their output is part of the
		// failure.
		for _, id := range r.unfinished(event.Package) {
			fmt.Fprintf(r.out, "FAIL  %s %s (did not end)\n%s", id.pkg, id.test, r.takeOutput(id))
		}
		if tally.failed == 0 {
			tally.failed++
		}
		fmt.Fprintf(r.out, "%sFAIL  %s (%.1fs)\n", output, event.Package, event.Elapsed)
	} else if ran := tally.passed + tally.skipped; ran > 0 && tally.failed == 0 {
		fmt.Fprintf(r.out, "ok    %s (%.1fs, %d tests)\n", event.Package, event.Elapsed, ran)
	}
}

func (r *testReport) resultOf(pkg string) *packageResult {
	if r.packages[pkg] == nil {
		r.packages[pkg] = &packageResult{}
	}
	return r.packages[pkg]
}

func (r *testReport) unfinished(pkg string) (left []testID) {
	for id := range r.output {
		if id.pkg == pkg {
			left = append(left, id)
		}
	}
	slices.SortFunc(left, func(a, b testID) int { return strings.Compare(a.test, b.test) })
	return left
}

// takeOutput returns and forgets a test's output, without the testing package's own lines.
func (r *testReport) takeOutput(id testID) string {
	output := r.output[id]
	delete(r.output, id)
	if output == nil {
		return ""
	}
	var own strings.Builder
	for line := range strings.Lines(output.String()) {
		if !strings.HasPrefix(line, "=== ") {
			own.WriteString(line)
		}
	}
	return own.String()
}

// ancestors yields every possible parent: a subtest's own name may contain slashes.
func ancestors(id testID) func(func(testID) bool) {
	return func(yield func(testID) bool) {
		for i, c := range id.test {
			if c == '/' && !yield(testID{id.pkg, id.test[:i]}) {
				return
			}
		}
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
