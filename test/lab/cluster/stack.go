package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"despacho/internal/dev"
	"despacho/workflows"
)

// closeTimeout bounds stopping a whole stack.
const closeTimeout = time.Minute

// Stack is the servers that a service needs. Everything listens on loopback and is removed by
// Close.
type Stack struct {
	// Dir is a temporary directory.
	Dir          string
	Certificates *dev.Certificates
	Postgres     *dev.Postgres
	Temporal     *dev.Temporal
	// Client is a Temporal client; it reconnects by itself.
	Client client.Client

	closers []func(context.Context) error
}

// Open makes the directory and the certificates.
func (s *Stack) Open(directoryPattern string) error {
	var err error
	if s.Dir, err = os.MkdirTemp("", directoryPattern); err != nil {
		return err
	}
	s.OnClose(func(context.Context) error { return os.RemoveAll(s.Dir) })
	s.Certificates, err = dev.LoadCertificates(filepath.Join(s.Dir, "certs"))
	return err
}

// StartPostgres starts the database server.
func (s *Stack) StartPostgres(ctx context.Context, options dev.PostgresOptions) error {
	var err error
	if s.Postgres, err = dev.StartPostgres(ctx, options); err != nil {
		return err
	}
	s.OnClose(s.Postgres.Stop)
	return nil
}

// StartDevTemporal starts Temporal's development server, with its state in a file. Its program is
// kept in binDir.
func (s *Stack) StartDevTemporal(ctx context.Context, binDir string, progress func(string), log io.Writer) error {
	cli, err := dev.FindTemporalDev(ctx, binDir, progress)
	if err != nil {
		return err
	}
	server, err := dev.StartTemporal(ctx, dev.TemporalOptions{
		CLI: cli, DBFile: filepath.Join(s.Dir, "temporal.db"), SearchAttributes: workflows.SearchAttributes(), Log: log,
	})
	if err != nil {
		return err
	}
	return s.connect(server)
}

// StartTemporalServer starts the Temporal server on PostgreSQL. Its programs are kept in binDir.
func (s *Stack) StartTemporalServer(ctx context.Context, binDir string, progress func(string)) error {
	programs, err := dev.FindTemporalServer(ctx, binDir, progress)
	if err != nil {
		return err
	}
	server, err := dev.StartTemporalServer(ctx, dev.TemporalServerOptions{
		Programs: programs, PostgresURL: s.Postgres.URL, SearchAttributes: workflows.SearchAttributes(),
	})
	if err != nil {
		return err
	}
	return s.connect(server)
}

func (s *Stack) connect(server *dev.Temporal) error {
	s.Temporal = server
	s.OnClose(server.Stop)
	var err error
	if s.Client, err = DialTemporal(server.Address); err != nil {
		return err
	}
	s.OnClose(func(context.Context) error { s.Client.Close(); return nil })
	return nil
}

// DialTemporal connects to a Temporal server.
func DialTemporal(address string) (client.Client, error) {
	return client.Dial(client.Options{
		HostPort: address,
		Logger:   sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)), // it would mix with the results
		// The same settings as the service's client, so that only the service's work differs.
		ConnectionOptions: client.ConnectionOptions{GrpcCompression: &client.GrpcCompressionNone{}},
	})
}

// SecretKey is the SECRET_KEY of every program.
const SecretKey = "a throwaway key of this run's own"

// Program is a despacho binary with the environment that reaches the stack's servers, and these
// variables.
func (s *Stack) Program(binary string, variables map[string]string) *Program {
	environment := map[string]string{
		"TEMPORAL_ADDRESS": s.Temporal.Address, "FILES_DIR": s.FilesDir(),
		"SECRET_KEY":         SecretKey,
		"WEBHOOK_ALLOW_NETS": Loopback + "/32", "WEBHOOK_CA_FILE": s.Certificates.CAFile,
		"MAX_CONNECTIONS_PER_ADDRESS": "0", // all clients have one address
		// One session does the work of many people.
		"PANEL_USER_LIMIT": "1000000", "PANEL_OPERATOR_LIMIT": "1000000",
		// As in docker-compose.yml.
		"LOG_FORMAT": "json",
	}
	maps.Copy(environment, variables)
	return &Program{Binary: binary, Dir: s.Dir, Variables: environment}
}

// FilesDir is where the service keeps photos.
func (s *Stack) FilesDir() string { return filepath.Join(s.Dir, "files") }

// CreateDatabase creates a database and migrates it with the program's `migrate` command.
func (s *Stack) CreateDatabase(ctx context.Context, name string, program *Program) (databaseURL string, err error) {
	databaseURL = dev.DatabaseURL(s.Postgres.URL, name)
	if err := dev.Execute(ctx, s.Postgres.URL, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	return databaseURL, program.Run(ctx, map[string]string{"DATABASE_URL": databaseURL}, "migrate", "up")
}

// OnClose has Close call stop.
func (s *Stack) OnClose(stop func(context.Context) error) { s.closers = append(s.closers, stop) }

// Close stops whatever was started, the latest first, also when ctx has ended.
func (s *Stack) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	var errs []error
	for _, stop := range slices.Backward(s.closers) {
		errs = append(errs, stop(ctx))
	}
	s.closers = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("not stopped cleanly: %w", err)
	}
	return nil
}
