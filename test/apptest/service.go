// Package apptest boots the whole service for tests: real HTTP, a real worker on a real Temporal,
// SQLite and PostgreSQL.
package apptest

import (
	"context"
	"encoding/pem"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"despacho/internal/app"
	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/historycodec"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/poll"
	"despacho/test/testenv"
	"despacho/worker"
	"despacho/workflows"
)

// Service is a running service.
type Service struct {
	BaseURL string
	App     *app.App
	Config  *config.Config
	// Temporal is a client of the test's own.
	Temporal client.Client

	// Defect is for a service of the test's own.
	Defect Defect

	statements *statementCount
	stopWorker func()
}

// Options change how a service is booted.
type Options struct {
	// Clock is the system's unless set.
	Clock clock.Clock
	// NoWorker starts no worker.
	NoWorker bool
	// TemporalAddress replaces the test server's, for tests without a reachable Temporal.
	TemporalAddress string
	// Namespace is Temporal's; empty is the default one.
	Namespace string
	// TaskQueue joins services that work together; empty is one of its own.
	TaskQueue string
	// BuildID is the version of the worker's code; empty is a worker without versioning.
	BuildID string
	// WorkerOnly is the part that the worker serves; empty serves both.
	WorkerOnly worker.Part
	// ShortLinkHosts are followed like the known hosts of short map links.
	ShortLinkHosts []string
	// Configure changes the configuration before the service starts.
	Configure func(*config.Config)
}

// Boot runs a service of the test's own.
func Boot(t testing.TB, databaseURL string, options Options) *Service {
	t.Helper()
	testenv.SkipIfShort(t)
	dir := t.TempDir()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	cfg := newConfig(t, databaseURL, dir, listener.Addr().String(), options)
	address := options.TemporalAddress
	if address == "" {
		address = testenv.Temporal(t)
	}
	temporal := client.Options{HostPort: address, Namespace: options.Namespace}
	a, err := app.Open(context.Background(), cfg, cfg.Logger(logs), app.Options{
		Clock: options.Clock, Temporal: &temporal, WebhookCAFiles: []string{receiverAuthority(t, dir)},
		ShortLinkHosts: options.ShortLinkHosts, Resolver: loopbackResolver, BuildID: options.BuildID,
		WorkerOnly: options.WorkerOnly, SlowStatement: slowStatement(),
	})
	require.NoError(t, err)
	s := &Service{BaseURL: cfg.BaseURL, App: a, Config: cfg, Temporal: dialTemporal(t, cfg, temporal),
		statements: &statementCount{}}
	require.NoError(t, a.DB.Use(s.statements))
	require.NoError(t, a.DB.Use(&s.Defect))
	s.readCatalog(t)
	s.serve(t, listener, !options.NoWorker)
	return s
}

// newConfig is the configuration of a service that serves on an address.
func newConfig(t testing.TB, databaseURL, dir, address string, options Options) *config.Config {
	t.Helper()
	cfg, err := config.Load()
	require.NoError(t, err)
	cfg.DatabaseURL, cfg.SecretKey, cfg.FilesDir = databaseURL, "apptest-apptest-apptest-apptest-", filepath.Join(dir, "files")
	cfg.WebhookAllowNets = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	cfg.TaskQueue = options.TaskQueue
	if cfg.TaskQueue == "" {
		cfg.TaskQueue = testenv.TaskQueue(t)
	}
	cfg.ShutdownTimeout, cfg.DrainDelay = poll.Deadline, 0
	cfg.Timeouts = LongTimeouts()
	cfg.MaxConnectionsPerAddress = 0 // all tests have one address
	// The tests of a package share a service and an address. A test about these limits sets them.
	cfg.Limits.SignInsPerAddress, cfg.PanelUserLimit, cfg.PanelOperatorLimit = math.MaxInt32, math.MaxInt32, math.MaxInt32
	cfg.SetHTTPAddr(address)
	if options.Configure != nil {
		options.Configure(cfg)
	}
	cfg.LogLevel = logLevel()
	return cfg
}

// serve runs the API and, if wanted, a worker until the test ends. It returns when both take work.
func (s *Service) serve(t testing.TB, listener net.Listener, withWorker bool) {
	t.Helper()
	serving, stopServing := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	accepts := make(chan struct{})
	accept := sync.OnceFunc(func() { close(accepts) })
	parts.Go(func() {
		defer accept()
		if err := s.App.ServeAPI(serving, acceptingListener{listener, accept}); err != nil {
			s.Config.Logger(logs).Error("api ended", "error", err)
		}
	})
	s.stopWorker = func() {}
	t.Cleanup(func() {
		stopServing()
		parts.Wait()
		s.stopWorker()
		s.App.Close()
	})
	// The API and the worker start at the same time, as those of dev do.
	if withWorker {
		s.StartWorker(t)
	}
	<-accepts
}

// acceptingListener calls accept when it is first asked for a connection: the API has then made
// its directories and registered its metrics.
type acceptingListener struct {
	net.Listener
	accept func()
}

// Accept waits for the next connection.
func (l acceptingListener) Accept() (net.Conn, error) {
	l.accept()
	return l.Listener.Accept()
}

// dialTemporal connects a test to the service's Temporal, with the keys of the service's histories.
func dialTemporal(t testing.TB, cfg *config.Config, options client.Options) client.Client {
	t.Helper()
	keys, err := historycodec.ParseKeys(cfg.HistoryKeys, cfg.HistoryKeyID)
	require.NoError(t, err)
	historycodec.New(keys, workflows.ReconcileScheduleID(cfg.TaskQueue)).Apply(&options)
	return testenv.DialTemporal(t, options)
}

// LongTimeouts are reached only by a hang, so that responses do not depend on how busy the machine
// is. A test about one of them sets it with Options.Configure.
func LongTimeouts() config.Timeouts {
	return config.Timeouts{
		Connect: poll.Deadline, Acquire: poll.Deadline, Request: poll.Deadline, Upload: poll.Deadline, Bulk: poll.Deadline,
		Connection: 2 * poll.Deadline,
		Start:      poll.Deadline, Move: poll.Deadline, MoveDeadline: poll.Deadline, Deadlock: poll.Deadline,
		BulkMove: poll.Deadline, Outcome: poll.Deadline,
		LastPass:  config.DefaultTimeouts().LastPass, // a longer one would outlast its activity
		Readiness: poll.Deadline, Exchange: longExchange, Bucket: poll.Deadline, WorkflowTask: longWorkflowTask,
	}
}

const (
	// longExchange is below the timeout of a webhook activity.
	longExchange = 20 * time.Second
	// longWorkflowTask is three times the default: a busy machine does not reach it, and a task that
	// was lost is given out again soon.
	longWorkflowTask = 30 * time.Second
)

// readCatalog has the service read its catalog, which its first request would: under the race
// detector that takes longer than a test's own short Timeouts.Request.
func (s *Service) readCatalog(t testing.TB) {
	t.Helper()
	_, err := s.App.Orders.Quote(context.Background(), &models.Operator{}, nil, uuid.Nil)
	require.ErrorIs(t, err, orders.ErrNotCovered)
}

// loopbackResolver resolves only this machine's own names, so that no test connects to the outside.
var loopbackResolver = &net.Resolver{
	PreferGo: true,
	Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("tests ask no name servers")
	},
}

// logLevel is all there is, for the search for what should not be logged; for people, with
// DESPACHO_TEST_LOG=1, what matters.
func logLevel() slog.Level {
	if os.Getenv("DESPACHO_TEST_LOG") != "" {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// slowStatement has every statement logged, for the same search; for people, only slow ones.
func slowStatement() time.Duration {
	if os.Getenv("DESPACHO_TEST_LOG") != "" {
		return 0
	}
	return time.Nanosecond
}

// StartWorker runs a worker and returns when it takes tasks.
func (s *Service) StartWorker(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- s.App.RunWorker(ctx, func() { close(started) }) }()
	select {
	case <-started:
	case err := <-ended:
		cancel()
		t.Fatalf("worker did not start: %v", err)
	case <-time.After(poll.Deadline):
		cancel()
		t.Fatalf("worker did not start within %s", poll.Deadline)
	}
	s.stopWorker = func() {
		cancel()
		<-ended
		s.stopWorker = func() {}
	}
}

// StopWorker lets the worker finish its tasks and ends it.
func (s *Service) StopWorker() { s.stopWorker() }

// receiverAuthority writes the certificate that httptest's HTTPS servers present, so that webhooks
// to them are trusted.
func receiverAuthority(t testing.TB, dir string) string {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	file := filepath.Join(dir, "receivers.pem")
	content := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(file, content, 0o600))
	return file
}
