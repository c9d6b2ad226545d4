package bench

import (
	"cmp"
	"context"
	"errors"

	"despacho/test/lab/cluster"
)

// service is an api process and a worker process with their own database and task queue.
type service struct {
	stack       *stack
	databaseURL string
	queue       string
	temporal    string // its address; empty is the stack's
	api, worker *cluster.Child
}

func (s *stack) startService(ctx context.Context, databaseURL, queue string) (*service, error) {
	v := &service{stack: s, databaseURL: databaseURL, queue: queue}
	return v, v.startBoth(ctx)
}

// startBoth starts the worker and the api.
func (v *service) startBoth(ctx context.Context) (err error) {
	if v.worker, err = v.start(ctx, cluster.Worker); err != nil {
		return err
	}
	v.stack.OnClose(v.worker.Stop)
	if v.api, err = v.start(ctx, cluster.API); err != nil {
		return err
	}
	v.stack.OnClose(v.api.Stop)
	return nil
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
	return v.stack.program().Start(ctx, command, map[string]string{
		"DATABASE_URL": v.databaseURL, "TEMPORAL_TASK_QUEUE": v.queue,
		"TEMPORAL_ADDRESS": cmp.Or(v.temporal, v.stack.Temporal.Address),
	})
}

// lab is program for the lab binary.
func (s *stack) lab() *cluster.Program {
	program := s.program()
	program.Binary = s.options.Lab
	return program
}

// program is the binary and the environment of every process of the run.
func (s *stack) program() *cluster.Program {
	program := s.Program(s.options.Binary, map[string]string{
		// Limits by client address stay on; the clients pretend to be many.
		"TRUSTED_PROXIES": cluster.Loopback,
		// No load balancer has to learn that a process stops.
		"DRAIN_DELAY": "0s",
	})
	program.APILog = s.apiLog
	return program
}
