package chaos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	temporalclient "go.temporal.io/sdk/client"

	"despacho/dev"
	"despacho/lab/cluster"
	"despacho/workflows"
)

// database is the name of the service's database.
const database = "despacho"

// stack is the service and the servers it needs: a durable PostgreSQL, a Temporal server that keeps
// its state in a file, two api processes, two workers, and a webhook receiver. Everything listens
// on loopback and is removed afterwards.
type stack struct {
	options Options
	report  *report

	dir      string
	program  *cluster.Program
	postgres *dev.Postgres
	temporal *temporal
	// workflows is a Temporal client; it reconnects by itself.
	workflows temporalclient.Client
	disk      *disk
	receivers *receivers
	tenant    *tenant
	processes map[string]*supervised
	balancer  *balancer
	ledger    *ledger

	// closers stop what was started; they run in reverse order.
	closers []func(context.Context) error
}

// startStack starts everything. The caller must close the stack, also when there is an error.
func startStack(ctx context.Context, options Options, report *report) (*stack, error) {
	s := &stack{options: options, report: report, processes: map[string]*supervised{}, ledger: &ledger{}}
	for _, step := range []func(context.Context) error{
		s.makeDirectory, s.startPostgres, s.startTemporal, s.describeProgram, s.prepareDatabase, s.startProcesses, s.registerWebhooks,
	} {
		if err := step(ctx); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *stack) makeDirectory(ctx context.Context) error {
	var err error
	if s.dir, err = os.MkdirTemp("", "despacho-chaos-"); err != nil {
		return err
	}
	s.onClose(func(context.Context) error { return os.RemoveAll(s.dir) })
	if err := os.MkdirAll(s.options.LogDir, 0o755); err != nil {
		return err
	}
	if s.disk, err = newDisk(ctx, filepath.Join(s.dir, "files")); err != nil {
		return err
	}
	s.onClose(s.disk.close)
	s.options.logf("a full disk is %s", s.disk.describe())
	return nil
}

func (s *stack) startPostgres(ctx context.Context) error {
	log, err := os.Create(filepath.Join(s.options.LogDir, databaseServer+".log"))
	if err != nil {
		return err
	}
	// What was acknowledged must survive kill -9.
	durable := map[string]string{"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
	if s.postgres, err = dev.StartPostgres(ctx, dev.PostgresOptions{Settings: durable, Log: log}); err != nil {
		return err
	}
	s.onClose(s.postgres.Stop)
	return nil
}

func (s *stack) startTemporal(ctx context.Context) error {
	cli, err := dev.FindTemporalCLI(ctx, s.options.BinDir, func(line string) { s.options.logf("%s", line) })
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(s.options.LogDir, temporalServer+".log"))
	if err != nil {
		return err
	}
	s.temporal, err = startTemporal(ctx, dev.TemporalOptions{
		CLI: cli, DBFile: filepath.Join(s.dir, "temporal.db"), SearchAttributes: workflows.SearchAttributes(), Log: log,
	})
	if err != nil {
		return err
	}
	s.onClose(s.temporal.stop)
	s.workflows, err = temporalclient.NewLazyClient(temporalclient.Options{HostPort: s.temporal.server.Address, Logger: discardLogger{}})
	if err != nil {
		return err
	}
	s.onClose(func(context.Context) error { s.workflows.Close(); return nil })
	return nil
}

func (s *stack) describeProgram(context.Context) error {
	certificates, err := dev.LoadCertificates(filepath.Join(s.dir, "certs"))
	if err != nil {
		return err
	}
	if s.receivers, err = startReceivers(certificates); err != nil {
		return err
	}
	s.onClose(s.receivers.receiver.Stop)
	s.program = &cluster.Program{Binary: s.options.Binary, Dir: s.dir, Variables: map[string]string{
		"DATABASE_URL": s.databaseURL(), "TEMPORAL_ADDRESS": s.temporal.server.Address, "FILES_DIR": s.disk.dir,
		"SECRET_KEY":         "a throwaway key of the fault run's own",
		"WEBHOOK_ALLOW_NETS": cluster.Loopback + "/32", "WEBHOOK_CA_FILE": certificates.CAFile,
		"AUTO_CANCEL_AFTER": s.options.AutoCancelAfter.String(),
		"MAX_REQUESTS":      strconv.Itoa(maxRequests), "LOG_FORMAT": "json",
	}}
	return nil
}

func (s *stack) databaseURL() string {
	address, err := url.Parse(s.postgres.URL)
	if err != nil {
		panic(err) // the URL has been used to connect
	}
	address.Path = "/" + database
	return address.String()
}

func (s *stack) prepareDatabase(ctx context.Context) error {
	if err := execute(ctx, s.postgres.URL, "CREATE DATABASE "+database); err != nil {
		return err
	}
	if err := s.program.Run(ctx, map[string]string{"DATABASE_URL": s.databaseURL()}, "migrate", "up"); err != nil {
		return err
	}
	var err error
	s.tenant, err = seedTenant(ctx, s.databaseURL())
	return err
}

// startProcesses starts and supervises the processes, and a balancer in front of them.
func (s *stack) startProcesses(ctx context.Context) error {
	supervising, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	s.onClose(func(context.Context) error { stop(); running.Wait(); return nil })
	var addresses []string
	for _, name := range slices.Concat(workerNames, apiNames) {
		command := cluster.Worker
		if slices.Contains(apiNames, name) {
			command = cluster.API
		}
		p, err := s.newProcess(name, command)
		if err != nil {
			return err
		}
		s.processes[name] = p
		if command == cluster.API {
			addresses = append(addresses, p.variables["HTTP_ADDR"])
		}
		running.Go(func() { p.run(supervising) })
	}
	for _, p := range s.processes {
		if err := p.awaitReady(ctx, nil); err != nil {
			return err
		}
	}
	s.balancer = startBalancer(supervising, &running, addresses)
	return s.awaitBalancer(ctx)
}

func (s *stack) onClose(undo func(context.Context) error) { s.closers = append(s.closers, undo) }

// close stops whatever was started.
func (s *stack) close(ctx context.Context) error {
	var errs []error
	for _, undo := range slices.Backward(s.closers) {
		errs = append(errs, undo(ctx))
	}
	s.closers = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("not stopped cleanly: %w", err)
	}
	return nil
}

// temporal is a development server that can be killed and restarted with its state.
type temporal struct {
	options dev.TemporalOptions
	server  *dev.Temporal
}

func startTemporal(ctx context.Context, options dev.TemporalOptions) (*temporal, error) {
	server, err := dev.StartTemporal(ctx, options)
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(server.Address)
	if err != nil {
		return nil, err
	}
	options.Port, err = strconv.Atoi(port) // a restart listens on the same port
	return &temporal{options: options, server: server}, err
}

func (t *temporal) restart(ctx context.Context) error {
	server, err := dev.StartTemporal(ctx, t.options)
	if err == nil {
		t.server = server
	}
	return err
}

func (t *temporal) stop(ctx context.Context) error { return t.server.Stop(ctx) }

// discardLogger keeps the Temporal SDK's log out of the output.
type discardLogger struct{}

func (discardLogger) Debug(string, ...any) {}
func (discardLogger) Info(string, ...any)  {}
func (discardLogger) Warn(string, ...any)  {}
func (discardLogger) Error(string, ...any) {}
