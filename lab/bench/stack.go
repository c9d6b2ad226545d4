package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"despacho/dev"
	"despacho/workflows"
)

// The Temporal servers to measure on: one on PostgreSQL, as in production, and the development
// server.
const (
	profileServer = "server"
	profileDev    = "dev"
)

// stack is the servers and the service of one profile. Everything listens on loopback and is
// removed afterwards.
type stack struct {
	options Options
	scale   scale
	profile string

	dir             string
	apiLog          *os.File
	postgres        *dev.Postgres
	temporalAddress string
	temporal        client.Client
	certificates    *dev.Certificates
	receiver        *receiver
	tenants         *tenants
	// main is the service of most studies.
	main *service

	// closers stop what was started; they run in reverse order.
	closers []func(context.Context) error
}

// startStack starts the servers and the service. The caller must close the stack, also when there
// is an error.
func startStack(ctx context.Context, options Options, sc scale, profile string) (*stack, error) {
	s := &stack{options: options, scale: sc, profile: profile}
	for _, step := range []func(context.Context) error{
		s.makeDirectory, s.startPostgres, s.startTemporal, s.startBareWorker, s.prepareTemplate, s.startMain,
	} {
		if err := step(ctx); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *stack) makeDirectory(context.Context) error {
	directory, err := os.MkdirTemp("", "despacho-bench-")
	if err != nil {
		return err
	}
	s.dir = directory
	s.onClose(func(context.Context) error { return os.RemoveAll(directory) })
	if s.apiLog, err = os.Create(filepath.Join(directory, "api.log")); err != nil {
		return err
	}
	s.onClose(func(context.Context) error { return s.apiLog.Close() })
	if s.certificates, err = dev.LoadCertificates(filepath.Join(directory, "certs")); err != nil {
		return err
	}
	s.receiver, err = startReceiver(s.certificates)
	if err != nil {
		return err
	}
	s.onClose(s.receiver.Stop)
	return nil
}

func (s *stack) startPostgres(ctx context.Context) error {
	s.options.log("starting PostgreSQL")
	// Commit times are what webhook arrivals are measured from.
	settings := map[string]string{"track_commit_timestamp": "on"}
	if s.options.Durable {
		settings["fsync"], settings["synchronous_commit"], settings["full_page_writes"] = "on", "on", "on"
	}
	var err error
	if s.postgres, err = dev.StartPostgres(ctx, dev.PostgresOptions{Settings: settings}); err != nil {
		return err
	}
	s.onClose(s.postgres.Stop)
	return nil
}

func (s *stack) startTemporal(ctx context.Context) error {
	server, err := s.startTemporalServer(ctx)
	if err != nil {
		return err
	}
	s.onClose(server.Stop)
	s.temporalAddress = server.Address
	if s.temporal, err = client.Dial(client.Options{
		HostPort: server.Address,
		Logger:   sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)), // it would mix with the figures
		// The same settings as the service's client, so that only the service's work differs.
		ConnectionOptions: client.ConnectionOptions{GrpcCompression: &client.GrpcCompressionNone{}},
	}); err != nil {
		return err
	}
	s.onClose(func(context.Context) error { s.temporal.Close(); return nil })
	return nil
}

func (s *stack) startTemporalServer(ctx context.Context) (*dev.Temporal, error) {
	if s.profile == profileDev {
		cli, err := dev.FindTemporalCLI(ctx, s.options.BinDir, s.options.log)
		if err != nil {
			return nil, err
		}
		s.options.log("starting Temporal's development server")
		return dev.StartTemporal(ctx, dev.TemporalOptions{
			CLI: cli, DBFile: filepath.Join(s.dir, "temporal.db"), SearchAttributes: workflows.SearchAttributes(),
		})
	}
	programs, err := dev.FindTemporalServer(ctx, s.options.BinDir, s.options.log)
	if err != nil {
		return nil, err
	}
	s.options.log("starting the Temporal server on PostgreSQL")
	return dev.StartTemporalServer(ctx, dev.TemporalServerOptions{
		Programs: programs, PostgresURL: s.postgres.URL, SearchAttributes: workflows.SearchAttributes(),
	})
}

func (s *stack) startMain(ctx context.Context) error {
	s.options.log("starting the service")
	address, err := s.newDatabase(ctx, "bench_main")
	if err != nil {
		return err
	}
	if s.main, err = s.startService(ctx, address, "main"); err != nil {
		return err
	}
	return s.main.registerReceiver(ctx)
}

func (s *stack) onClose(undo func(context.Context) error) { s.closers = append(s.closers, undo) }

// close stops whatever was started.
func (s *stack) close(ctx context.Context) error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i](ctx))
	}
	s.closers = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("not stopped cleanly: %w", err)
	}
	return nil
}
