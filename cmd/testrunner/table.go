package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"gotest.tools/gotestsum/testjson"
)

// expectedSkips are the tests that may be skipped with CI=true, each with its reason.
var expectedSkips = map[string]string{
	"despacho/internal/riderpage TestDecoder_isTheOneOnNPM": "npm or its registry may be missing",
	"despacho/test/browser TestAccessibility_ofEveryPage":   "Node 20, npm or its registry may be missing",
	"despacho/test/browser TestRider_everyScreen":           "Node 20, npm or its registry may be missing",
	"despacho/test/browser TestScreenshots":                 "it writes the pictures of the README and runs with `make screenshots` alone",
}

// row is a suite's row in the table.
type row struct {
	suite                   string
	passed, failed, skipped int
	// took is the sum of the times of the suite's packages, which run in parallel with others.
	took time.Duration
}

// rowsOf returns the rows of the suites. Those without packages have none.
func rowsOf(packages []string) []row {
	rows := make([]row, len(suites))
	for _, path := range packages {
		rows[suiteOf(path)].suite = suites[suiteOf(path)].name
	}
	return rows
}

// add counts the tests of a package, and prints those that failed and passed when they ran again. A
// package that failed without a test, or of which nothing was heard, is a failure, and so is, where
// strict, a skipped test that nobody expects.
func (r *row) add(execution *testjson.Execution, path string, strict bool) {
	tests := execution.Package(path)
	if tests == nil {
		r.failed++
		return
	}
	passed := map[testjson.TestName]bool{}
	for _, test := range tests.Passed {
		passed[test.Test] = true
	}
	failed := 0
	for _, test := range testjson.FilterFailedUnique(tests.Failed) {
		if passed[test.Test] {
			fmt.Printf("AGAIN %s %s failed, and passed when it ran again\n", path, test.Test)
		} else {
			failed++
		}
	}
	if tests.Result() != testjson.ActionPass {
		failed = max(failed, 1)
	}
	r.passed, r.failed, r.took = r.passed+len(passed), r.failed+failed, r.took+tests.Elapsed()
	for _, skipped := range tests.Skipped {
		name := path + " " + skipped.Test.Name()
		if strict && expectedSkips[name] == "" {
			fmt.Printf("FAIL  %s was skipped, which is not expected\n", name)
			r.failed++
		} else {
			r.skipped++
		}
	}
}

// printTable reports whether everything passed.
func printTable(out io.Writer, rows []row, took time.Duration) bool {
	rows = slices.DeleteFunc(rows, func(r row) bool { return r.suite == "" })
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "\nSUITE\tRESULT\tTIME\tPASSED\tFAILED\tSKIPPED")
	var passed, failed, skipped int
	for _, r := range rows {
		result := "passed"
		switch {
		case r.failed > 0:
			result = "FAILED"
		case r.passed+r.skipped == 0:
			result = "NOT RUN"
			failed++
		case r.passed == 0:
			result = "skipped"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\n", r.suite, result, r.took.Round(100*time.Millisecond), r.passed, r.failed,
			r.skipped)
		passed, failed, skipped = passed+r.passed, failed+r.failed, skipped+r.skipped
	}
	table.Flush()
	fmt.Fprintf(out, "\nall of it, side by side: %s\n\n%d passed, %d failed, %d skipped\n", took.Round(time.Second), passed,
		failed, skipped)
	return failed == 0
}
