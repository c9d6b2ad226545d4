package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"despacho/internal/dev"
)

const (
	// testTimeout bounds one package's tests, slowed down by the race detector on a busy machine.
	testTimeout = "40m"
	// heartbeat is the longest time without output while packages compile.
	heartbeat = 30 * time.Second
	// testsAtOnce is more than the processors of a small machine: tests mostly wait for servers,
	// timers and browsers. With more packages at once they would wait for minutes for the one Temporal
	// server that they share.
	packagesAtOnce = 2
	testsAtOnce    = 6
)

// slowest packages are started first, so that the run does not end waiting for one of them.
var slowest = []string{
	module + "test/lab/chaos", module + "internal/webhooks", module + "worker", module + "api", module + "test/browser", module + "internal/panel",
	module + "test/attacks", module + "cmd/despacho", module + "workflows", module + "internal/db", module + "activities", module + "internal/orders",
}

// uninstrumented packages are compiled without the race detector, which makes them many times
// slower (a password's hash 28 times). They compute on data of their caller's, or have tests of
// their own; their callers stay instrumented. The first is SQLite, C translated to Go.
var uninstrumented = []string{
	"modernc.org/...", "golang.org/x/crypto/...", "golang.org/x/image/...", "image/...", "compress/...", "crypto/internal/fips140/...",
	"hash/...", "math/...", "strconv", "internal/strconv", "unicode/...",
}

// uninstrumentedSync are uninstrumented packages that use sync.Map or sync.Once. Their functions
// are not inlined (-l): inlined into such a package, the atomic operations of these two would be
// hidden from the race detector, which would then report races that are none. For the same reason
// no package is listed that uses sync/atomic itself.
var uninstrumentedSync = []string{
	"encoding/base64", "encoding/binary", "encoding/csv", "encoding/hex", "encoding/json", "fmt", "html/...", "net/url", "reflect",
	"regexp/...", "text/...", "github.com/goccy/go-yaml/...", "github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgconn/...",
	"github.com/jackc/pgx/v5/pgproto3", "github.com/jackc/pgx/v5/pgtype", "github.com/jackc/pgx/v5/stdlib",
	"github.com/stretchr/testify/...", "go.temporal.io/api/.../v1", "go.yaml.in/...", "golang.org/x/net/http2/hpack",
	"golang.org/x/text/...", "google.golang.org/protobuf/encoding/...", "google.golang.org/protobuf/internal/encoding/...",
	"google.golang.org/protobuf/internal/order", "google.golang.org/protobuf/internal/strs", "google.golang.org/protobuf/proto", "gorm.io/...",
}

// raceFlags compile with the race detector. It also checks conversions of unsafe.Pointer, which
// the module does not use.
func raceFlags() []string {
	flags := []string{"-race", "-gcflags=all=-d=checkptr=0"}
	for _, pattern := range uninstrumented {
		flags = append(flags, "-gcflags="+pattern+"=-race=false")
	}
	for _, pattern := range uninstrumentedSync {
		flags = append(flags, "-gcflags="+pattern+"=-race=false -l")
	}
	return flags
}

// testRun is what one `go test` runs.
type testRun struct {
	dir      string // of the module
	packages []string
	skip     string // matches the names of tests that do not run
	race     bool   // with the race detector
}

// command is a single `go test` for all packages, so that some compile while others run.
func (r testRun) command() []string {
	command := []string{
		"go", "test", "-C=" + r.dir, "-skip=" + r.skip, "-json", "-count=1", "-timeout=" + testTimeout,
		fmt.Sprintf("-p=%d", packagesAtOnce), fmt.Sprintf("-parallel=%d", testsAtOnce),
		"-vet=off",    // the suite lint runs all of vet
		"-ldflags=-s", // linking takes half the time without debug information and symbols
	}
	if r.race {
		command = append(command, raceFlags()...)
	}
	return append(command, slowestFirst(r.packages)...)
}

// slowestFirst puts the slowest packages first.
func slowestFirst(packages []string) []string {
	rank := func(path string) int {
		if i := slices.Index(slowest, path); i >= 0 {
			return i
		}
		return len(slowest)
	}
	ordered := slices.Clone(packages)
	slices.SortStableFunc(ordered, func(a, b string) int { return rank(a) - rank(b) })
	return ordered
}

// goTest runs tests one after the other, with the race detector only where there is a C compiler.
func goTest(ctx context.Context, runs []testRun, env *environment, out io.Writer) *testReport {
	began := time.Now()
	report := newTestReport(out, env.strict)
	stop := dev.Every(heartbeat, func() { fmt.Fprintf(out, "...   still running, %s\n", rounded(time.Since(began))) })
	defer stop()
	for _, run := range runs {
		run.race = run.race && env.missing[compiler] == ""
		variables := env.variables
		if run.race {
			variables = append(slices.Clone(variables), "CGO_ENABLED=1")
		}
		report.finish(execute(ctx, run.command(), variables, report))
	}
	return report
}
