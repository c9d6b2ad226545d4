package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// counts are numbers of tests by result.
type counts struct{ passed, failed, skipped int }

func (c *counts) add(other counts) {
	c.passed += other.passed
	c.failed += other.failed
	c.skipped += other.skipped
}

// String is the last line of the output.
func (c counts) String() string {
	line := fmt.Sprintf("%d passed, %d failed", c.passed, c.failed)
	if c.skipped > 0 {
		line += fmt.Sprintf(", %d skipped", c.skipped)
	}
	return line
}

// row is a suite's row in the table.
type row struct {
	counts
	suite string
	// took is the sum of the times of the suite's packages or linters, which run in parallel with
	// others.
	took    time.Duration
	problem string // why it did not finish
}

// fail records why a suite did not finish.
func (r *row) fail(problem string) {
	if r.problem == "" {
		r.failed++
	}
	r.problem = problem
}

// summarize prints the table and reports whether everything passed.
func summarize(rows []row, took time.Duration, out io.Writer) bool {
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "SUITE\tRESULT\tTIME\tTESTS RUN\tSKIPPED")
	var total counts
	for _, r := range rows {
		result := "passed"
		if r.failed > 0 {
			result = "FAILED"
		}
		if r.problem != "" {
			result += " (" + r.problem + ")"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\n", r.suite, result, rounded(r.took), r.ran(), r.skipped)
		total.add(r.counts)
	}
	table.Flush()
	fmt.Fprintf(out, "\nall of it, side by side: %s\n", rounded(took))
	fmt.Fprintf(out, "\n%s\n", total)
	return total.failed == 0
}

// ran does not count the failure that stands for a suite that did not run.
func (r row) ran() int {
	if r.problem != "" {
		return r.passed + r.failed - 1
	}
	return r.passed + r.failed
}

func rounded(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
