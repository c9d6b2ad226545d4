package bench

import (
	"context"
	"errors"
	"path/filepath"

	"despacho/lab/cluster"
)

// service is an api and a worker, each a process of its own as in production, on a database and a
// task queue of their own.
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
	s.later(v.worker.Stop)
	if v.api, err = v.start(ctx, cluster.API); err != nil {
		return nil, err
	}
	s.later(v.api.Stop)
	return v, nil
}

// stop ends the processes before the stack does.
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

// lab is program with the lab's own binary.
func (s *stack) lab() *cluster.Program {
	program := s.program()
	program.Binary = s.options.Lab
	return program
}

// program is what every process of the run is told.
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
