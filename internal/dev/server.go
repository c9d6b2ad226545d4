package dev

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

const (
	// startTimeout is reached only by a hang: a busy machine may take many seconds where an idle
	// one takes half a second.
	startTimeout = 3 * time.Minute
	// readyPoll is how often a server that starts is asked whether it is ready.
	readyPoll = 20 * time.Millisecond
)

// Server is a child process that serves: it is ready some time after its start, and can be
// restarted.
type Server struct {
	command Command
	// ready is tried until it succeeds.
	ready func(context.Context) error
	// directory is removed when the server has ended; empty is none.
	directory string
	process   *Process
}

// start runs the preparations, then the server, and returns when it is ready. A failure leaves
// neither the process nor the directory behind. ctx bounds the start alone.
func (s *Server) start(ctx context.Context, preparations ...func(context.Context) error) error {
	ctx, cancel := s.withStartTimeout(ctx)
	defer cancel()
	for _, step := range append(preparations, s.launch) {
		if err := step(ctx); err != nil {
			return errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
		}
	}
	return nil
}

func (s *Server) withStartTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("%s was not ready within %s", s.command.Name, startTimeout))
}

// launch starts the process and returns when it is ready, or has ended, or ctx has.
func (s *Server) launch(ctx context.Context) error {
	var err error
	if s.process, err = Start(s.command); err != nil {
		return err
	}
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		err := s.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.process.Done():
			return s.process.Err()
		case <-ctx.Done():
			return s.process.withLastLines(errors.Join(context.Cause(ctx), err).Error())
		case <-ticker.C:
		}
	}
}

// Done is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.process.Done() }

// Err says why a server ended that was not stopped.
func (s *Server) Err() error { return s.process.Err() }

// Kill ends the server and all it started as a crash would; Restart brings it back with the same
// data at the same address.
func (s *Server) Kill() { s.process.Kill() }

// Pause stops the server and all it started with SIGSTOP; Resume continues them.
func (s *Server) Pause() { s.process.Pause() }

// Resume ends a pause.
func (s *Server) Resume() { s.process.Resume() }

// Restart starts a server that has ended. ctx bounds the start alone.
func (s *Server) Restart(ctx context.Context) error {
	ctx, cancel := s.withStartTimeout(ctx)
	defer cancel()
	for {
		err := s.launch(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		// Shared memory that a dying session of PostgreSQL still holds keeps the new server from
		// starting for a moment.
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(readyPoll):
		}
	}
}

// Stop ends the server and removes its directory.
func (s *Server) Stop(ctx context.Context) error {
	var err error
	if s.process != nil {
		err = s.process.Stop(ctx)
	}
	return errors.Join(err, os.RemoveAll(s.directory))
}
