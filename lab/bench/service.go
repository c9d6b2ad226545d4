package bench

import (
	"context"
	"errors"
	"path/filepath"

	"despacho/lab/cluster"
)

// service is an api process and a worker process with their own database and task queue.
type service struct {
	stack       *stack
	databaseURL string
	queue       string
	api, worker *cluster.Child
}

func (s *stack) startService(ctx context.Context, databaseURL, queue string) (*service, error) {
	v := &service{stack: s, databaseURL: databaseURL, queue: queue}
	var err error
	if v.worker, err = v.start(ctx, cluster.Worker); err != nil {
		return nil, err
	}
	s.onClose(v.worker.Stop)
	if v.api, err = v.start(ctx, cluster.API); err != nil {
		return nil, err
	}
	s.onClose(v.api.Stop)
	return v, nil
}

// stop stops the processes before the stack is closed.
func (v *service) stop(ctx context.Context) error {
	err := v.api.Stop(ctx)
	if v.worker != nil {
		err = errors.Join(err, v.worker.Stop(ctx))
	}
	return err
}

func (v *service) start(ctx context.Context, command string) (*cluster.Child, error) {
	return v.stack.program().Start(ctx, command, map[string]string{"DATABASE_URL": v.databaseURL, "TEMPORAL_TASK_QUEUE": v.queue})
}

// lab is program for the lab binary.
func (s *stack) lab() *cluster.Program {
	program := s.program()
	program.Binary = s.options.Lab
	return program
}

// program is the binary and the environment of every process of the run.
func (s *stack) program() *cluster.Program {
	return &cluster.Program{Binary: s.options.Binary, Dir: s.dir, APILog: s.apiLog, Variables: map[string]string{
		"TEMPORAL_ADDRESS": s.temporalAddress, "FILES_DIR": filepath.Join(s.dir, "files"),
		"SECRET_KEY":         "a throwaway key of the benchmark's own",
		"WEBHOOK_ALLOW_NETS": cluster.Loopback + "/32", "WEBHOOK_CA_FILE": s.certificates.CAFile,
		// Limits by client address stay on; the harness pretends to be many clients.
		"TRUSTED_PROXIES": cluster.Loopback,
		// As in docker-compose.yml.
		"LOG_FORMAT": "json",
		// No balancer needs to be told before a process goes.
		"DRAIN_DELAY": "0s",
	}}
}
