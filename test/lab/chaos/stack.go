package chaos

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"despacho/internal/dev"
	"despacho/test/lab/cluster"
)

// stack is the service and the servers it needs: a durable PostgreSQL, a Temporal server that keeps
// its state in a file, two api processes, two workers, and a webhook receiver.
type stack struct {
	cluster.Stack
	options Options
	report  *report

	program     *cluster.Program
	databaseURL string
	disk        *disk
	receivers   *receivers
	operator    *operator
	processes   map[string]*supervised
	balancer    *balancer
	ledger      *ledger
}

// startStack starts everything. The caller must close the stack, also when there is an error.
func startStack(ctx context.Context, options Options, report *report) (*stack, error) {
	s := &stack{options: options, report: report, processes: map[string]*supervised{}, ledger: &ledger{}}
	for _, step := range []func(context.Context) error{
		s.open, s.startPostgres, s.startTemporal, s.prepareDatabase, s.startProcesses, s.registerWebhooks,
	} {
		if err := step(ctx); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *stack) open(ctx context.Context) error {
	if err := s.Open("despacho-chaos-"); err != nil {
		return err
	}
	if err := os.MkdirAll(s.options.LogDir, 0o755); err != nil {
		return err
	}
	var err error
	if s.disk, err = newDisk(ctx, s.FilesDir()); err != nil {
		return err
	}
	s.OnClose(s.disk.close)
	s.options.logf("a full disk is %s", s.disk.describe())
	if s.receivers, err = startReceivers(s.Certificates); err != nil {
		return err
	}
	s.OnClose(s.receivers.receiver.Stop)
	return nil
}

func (s *stack) startPostgres(ctx context.Context) error {
	log, err := s.createLog(databaseServer)
	if err != nil {
		return err
	}
	return s.StartPostgres(ctx, dev.PostgresOptions{Durable: true, Log: log})
}

func (s *stack) startTemporal(ctx context.Context) error {
	log, err := s.createLog(temporalServer)
	if err != nil {
		return err
	}
	return s.StartDevTemporal(ctx, s.options.BinDir, func(line string) { s.options.logf("%s", line) }, log)
}

// createLog is the file for a process's output.
func (s *stack) createLog(process string) (*os.File, error) {
	return os.Create(filepath.Join(s.options.LogDir, process+".log"))
}

func (s *stack) prepareDatabase(ctx context.Context) error {
	s.program = s.Program(s.options.Binary, map[string]string{
		"AUTO_CANCEL_AFTER": s.options.AutoCancelAfter.String(),
	})
	var err error
	if s.databaseURL, err = s.CreateDatabase(ctx, "despacho", s.program); err != nil {
		return err
	}
	s.program.Variables["DATABASE_URL"] = s.databaseURL
	s.operator, err = seedOperator(ctx, s.databaseURL)
	return err
}

// startProcesses starts and supervises the processes, and a balancer in front of them.
func (s *stack) startProcesses(ctx context.Context) error {
	supervising, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	s.OnClose(func(context.Context) error { stop(); running.Wait(); return nil })
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
