// Package testenv gives tests the real databases, the real Temporal server and the real S3 server
// they run against.
package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/dev"
)

// The variables by which cmd/testrunner shares its servers, so that not every test binary starts
// its own.
const (
	PostgresVariable = "DESPACHO_TEST_POSTGRES"
	TemporalVariable = "DESPACHO_TEST_TEMPORAL"
	S3Variable       = "DESPACHO_TEST_S3"
)

// AxeCore returns the script of axe-core, which test/openapi/install.sh gets from npm.
func AxeCore() ([]byte, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(root, "bin", "npm", "node_modules", "axe-core", "axe.min.js"))
}

// stopTimeout is how long the end of a test binary may wait for its servers.
const stopTimeout = time.Minute

// Main runs a package's tests and stops the servers they started: `func TestMain(m *testing.M) {
// testenv.Main(m) }`. What a package keeps open across its tests is closed first.
func Main(m *testing.M, closeFirst ...func() error) {
	code := m.Run()
	for _, closeOne := range closeFirst {
		if err := closeOne(); err != nil {
			fmt.Fprintln(os.Stderr, "after the tests:", err)
			code = max(code, 1)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := errors.Join(postgresTemplate.drop(ctx), postgresServer.stop(ctx), temporalServer.stop(ctx),
		s3Server.stop(ctx)); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the test servers:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// sharedServer is started by the first test that needs it, unless cmd/testrunner shares one.
type sharedServer struct {
	variable string
	start    func(context.Context) (address string, stop func(context.Context) error, err error)

	once    sync.Once
	address string
	end     func(context.Context) error
	err     error
}

func (s *sharedServer) get() (string, error) {
	s.once.Do(func() {
		if s.address = os.Getenv(s.variable); s.address == "" {
			s.address, s.end, s.err = s.start(context.Background())
		}
	})
	return s.address, s.err
}

func (s *sharedServer) stop(ctx context.Context) error {
	if s.end == nil {
		return nil
	}
	return s.end(ctx)
}

var (
	postgresServer = &sharedServer{variable: PostgresVariable, start: StartPostgres}
	temporalServer = &sharedServer{variable: TemporalVariable, start: StartTemporal}
	s3Server       = &sharedServer{variable: S3Variable, start: StartS3}
)

// StartPostgres starts a PostgreSQL for tests and returns its URL.
func StartPostgres(ctx context.Context) (address string, stop func(context.Context) error, err error) {
	server, err := dev.StartPostgres(ctx, dev.PostgresOptions{})
	if err != nil {
		return "", nil, err
	}
	return server.URL, server.Stop, nil
}

// promptDeletion makes the server delete workflows at once: it waits until its queues have recorded
// how far they are, which they do every half minute by default.
var promptDeletion = map[string]string{
	"history.transferProcessorUpdateAckInterval":   `"500ms"`,
	"history.visibilityProcessorUpdateAckInterval": `"500ms"`,
}

// StartTemporal starts a Temporal server for tests and returns its host:port.
func StartTemporal(ctx context.Context) (address string, stop func(context.Context) error, err error) {
	cli, err := findTemporalCLI(ctx)
	if err != nil {
		return "", nil, err
	}
	server, err := dev.StartTemporal(ctx, dev.TemporalOptions{CLI: cli, SearchAttributes: SearchAttributes,
		DynamicConfig: promptDeletion})
	if err != nil {
		return "", nil, err
	}
	return server.Address, server.Stop, nil
}

// TemporalCLI is the path of the Temporal program, for tests that run a server of their own.
func TemporalCLI(t testing.TB) string {
	t.Helper()
	SkipIfShort(t)
	path, err := findTemporalCLI(t.Context())
	require.NoError(t, err)
	return path
}

// SkipIfShort skips a test that needs more than Go, or takes seconds. All that gives tests a
// server, a browser, a compiled program or the whole service calls it, so that tests themselves
// need not.
func SkipIfShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it needs more than Go, or seconds")
	}
}

// Program is the path of a program, for tests that run it; without it the test is skipped.
func Program(t testing.TB, name string) string {
	t.Helper()
	SkipIfShort(t)
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not on this machine", name)
	}
	return path
}

func findTemporalCLI(ctx context.Context) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	return dev.FindTemporalDev(ctx, filepath.Join(root, "bin"), func(line string) { fmt.Fprintln(os.Stderr, line) })
}

// moduleRoot is the directory of the module despacho, also for tests of a module that requires it.
func moduleRoot() (string, error) {
	directory, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "despacho").Output()
	if err != nil {
		return "", fmt.Errorf("go list -m despacho: %w", err)
	}
	return strings.TrimSpace(string(directory)), nil
}
