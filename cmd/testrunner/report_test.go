package main

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type reportTest struct {
	events   string
	err      error
	strict   bool
	expected counts
	shown    []string
	hidden   []string
}

// pkg is the package that the events speak of.
func (test reportTest) pkg() string {
	if strings.Contains(test.events, "despacho/test/browser") {
		return "despacho/test/browser"
	}
	return "despacho/a"
}

func TestTestReport(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]reportTest{
		"a package that passes is one line": {
			events: `{"Action":"run","Package":"despacho/a","Test":"TestOne"}
{"Action":"output","Package":"despacho/a","Test":"TestOne","Output":"=== RUN   TestOne\n"}
{"Action":"output","Package":"despacho/a","Test":"TestOne","Output":"    a_test.go:1: chatter\n"}
{"Action":"pass","Package":"despacho/a","Test":"TestOne"}
{"Action":"pass","Package":"despacho/a","Elapsed":0.3}
`,
			expected: counts{passed: 1},
			shown:    []string{"ok    despacho/a (0.3s, 1 tests)\n"},
			hidden:   []string{"chatter", "=== RUN"},
		},
		"a failing subtest is shown in full and counted once": {
			events: `{"Action":"run","Package":"despacho/a","Test":"TestOne"}
{"Action":"run","Package":"despacho/a","Test":"TestOne/good"}
{"Action":"run","Package":"despacho/a","Test":"TestOne/bad/one"}
{"Action":"output","Package":"despacho/a","Test":"TestOne/good","Output":"    a_test.go:1: chatter\n"}
{"Action":"output","Package":"despacho/a","Test":"TestOne/bad/one","Output":"    a_test.go:2: want 1\n"}
{"Action":"output","Package":"despacho/a","Test":"TestOne/bad/one","Output":"    a_test.go:3: got 2\n"}
{"Action":"output","Package":"despacho/a","Test":"TestOne","Output":"--- FAIL: TestOne (0.00s)\n"}
{"Action":"pass","Package":"despacho/a","Test":"TestOne/good"}
{"Action":"fail","Package":"despacho/a","Test":"TestOne/bad/one"}
{"Action":"fail","Package":"despacho/a","Test":"TestOne"}
{"Action":"fail","Package":"despacho/a","Elapsed":1}
`,
			err:      errors.New("exit status 1"),
			expected: counts{passed: 1, failed: 1},
			shown:    []string{"FAIL  despacho/a TestOne/bad/one\n    a_test.go:2: want 1\n    a_test.go:3: got 2\n", "FAIL  despacho/a (1.0s)\n"},
			hidden:   []string{"chatter", "--- FAIL: TestOne"},
		},
		"a parent that fails by itself counts": {
			events: `{"Action":"run","Package":"despacho/a","Test":"TestOne"}
{"Action":"run","Package":"despacho/a","Test":"TestOne/good"}
{"Action":"pass","Package":"despacho/a","Test":"TestOne/good"}
{"Action":"output","Package":"despacho/a","Test":"TestOne","Output":"    a_test.go:9: the clean-up failed\n"}
{"Action":"fail","Package":"despacho/a","Test":"TestOne"}
{"Action":"fail","Package":"despacho/a"}
`,
			err:      errors.New("exit status 1"),
			expected: counts{passed: 1, failed: 1},
			shown:    []string{"the clean-up failed"},
		},
		"a skipped test says why": {
			events: `{"Action":"run","Package":"despacho/a","Test":"TestOne"}
{"Action":"output","Package":"despacho/a","Test":"TestOne","Output":"=== RUN   TestOne\n"}
{"Action":"output","Package":"despacho/a","Test":"TestOne","Output":"    a_test.go:1: no PostgreSQL\n"}
{"Action":"skip","Package":"despacho/a","Test":"TestOne"}
{"Action":"pass","Package":"despacho/a"}
`,
			expected: counts{skipped: 1},
			shown:    []string{"skip  despacho/a TestOne: a_test.go:1: no PostgreSQL\n"},
		},
		"with CI=true a skip that nobody expects is a failure": {
			events: `{"Action":"run","Package":"despacho/a","Test":"TestOne"}
{"Action":"output","Package":"despacho/a","Test":"TestOne","Output":"    a_test.go:1: too busy\n"}
{"Action":"skip","Package":"despacho/a","Test":"TestOne"}
{"Action":"pass","Package":"despacho/a"}
`,
			strict:   true,
			expected: counts{failed: 1},
			shown:    []string{"FAIL  despacho/a TestOne: skipped, which is not expected: a_test.go:1: too busy\n"},
			hidden:   []string{"ok    despacho/a"},
		},
		"with CI=true an expected skip is a skip": {
			events: `{"Action":"run","Package":"despacho/test/browser","Test":"TestScreenshots"}
{"Action":"skip","Package":"despacho/test/browser","Test":"TestScreenshots"}
{"Action":"pass","Package":"despacho/test/browser"}
`,
			strict:   true,
			expected: counts{skipped: 1},
		},
		"a package that does not build is a failure": {
			events: `{"ImportPath":"despacho/a","Action":"build-output","Output":"a/a.go:1:1: undefined: x\n"}
{"ImportPath":"despacho/a","Action":"build-fail"}
{"Action":"output","Package":"despacho/a","Output":"FAIL\tdespacho/a [build failed]\n"}
{"Action":"fail","Package":"despacho/a","FailedBuild":"despacho/a"}
`,
			err:      errors.New("exit status 1"),
			expected: counts{failed: 1},
			shown:    []string{"a/a.go:1:1: undefined: x", "[build failed]"},
		},
		"what was said before a panic is shown": {
			events: `{"Action":"run","Package":"despacho/a","Test":"TestOne"}
{"Action":"output","Package":"despacho/a","Test":"TestOne","Output":"panic: boom\n"}
{"Action":"output","Package":"despacho/a","Output":"FAIL\tdespacho/a\t0.1s\n"}
{"Action":"fail","Package":"despacho/a"}
`,
			err:      errors.New("exit status 2"),
			expected: counts{failed: 1},
			shown:    []string{"TestOne (did not end)\npanic: boom\n"},
		},
		"the go command's own words pass through": {
			events:   "go: downloading example.com/x v1.0.0\n{not json}\nno newline at the end",
			err:      errors.New("exit status 1"),
			expected: counts{failed: 1},
			shown:    []string{"go: downloading example.com/x v1.0.0\n", "{not json}\n", "no newline at the end\n"},
		},
		"a package without tests is not mentioned": {
			events: `{"Action":"output","Package":"despacho/a","Output":"?   \tdespacho/a\t[no test files]\n"}
{"Action":"skip","Package":"despacho/a"}
`,
			hidden: []string{"despacho/a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			report := newTestReport(&out, test.strict)
			for piece := range strings.SplitAfterSeq(test.events, ",") { // in pieces, as a pipe brings them
				_, err := report.Write([]byte(piece))
				require.NoError(t, err)
			}
			report.finish(test.err)
			rows := make([]row, 1)
			report.addTo(rows, []suite{{packages: []string{test.pkg()}}})
			require.Equal(t, test.expected, rows[0].counts)
			for _, text := range test.shown {
				require.Contains(t, out.String(), text)
			}
			for _, text := range test.hidden {
				require.NotContains(t, out.String(), text)
			}
		})
	}
}

// A command that fails although every package passed must not look like a success, and neither must
// a package of which nothing was heard.
func TestTestReport_keepsAllOutput(t *testing.T) {
	t.Parallel()
	const passes = `{"Action":"run","Package":"despacho/a","Test":"TestOne"}
{"Action":"pass","Package":"despacho/a","Test":"TestOne"}
{"Action":"pass","Package":"despacho/a","Elapsed":1.5}
`
	both := []suite{{name: "units", packages: []string{"despacho/a"}}, {name: "api", packages: []string{"despacho/api"}}}
	for name, test := range map[string]struct {
		err    error
		chosen []suite
		rows   []row
	}{
		"all is well":                     {nil, both[:1], []row{{counts: counts{passed: 1}, took: 1500 * time.Millisecond}}},
		"the command fails":               {errors.New("signal: killed"), both[:1], []row{{counts: counts{passed: 1, failed: 1}, took: 1500 * time.Millisecond, problem: "go test did not end well: signal: killed"}}},
		"nothing was heard of a package":  {nil, both, []row{{counts: counts{passed: 1}, took: 1500 * time.Millisecond}, {counts: counts{failed: 1}, problem: "go test said nothing of despacho/api"}}},
		"the command ends before another": {errors.New("signal: killed"), both, []row{{counts: counts{passed: 1}, took: 1500 * time.Millisecond}, {counts: counts{failed: 1}, problem: "go test did not end well: signal: killed"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, rows := newTestReport(io.Discard, true), make([]row, len(test.chosen))
			_, err := report.Write([]byte(passes))
			require.NoError(t, err)
			report.finish(test.err)
			report.addTo(rows, test.chosen)
			require.Equal(t, test.rows, rows)
		})
	}
}
