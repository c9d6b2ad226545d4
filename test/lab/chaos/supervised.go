package chaos

import (
	"context"
	"os"
	"sync"
	"time"

	"despacho/test/lab/cluster"
)

// supervised is an api or a worker that is restarted whenever it ends, as a process supervisor
// does.
type supervised struct {
	name, command string
	program       *cluster.Program
	variables     map[string]string
	report        *report
	log           *os.File

	mu    sync.Mutex
	child *cluster.Child
	ready bool
	// expected says that the run ended the process; downtime is how long until its restart.
	expected bool
	downtime time.Duration
}

// startTimeout bounds a start on a busy machine.
const startTimeout = 2 * time.Minute

// restartDelay is the wait before a process that ended by itself is started again.
const restartDelay = 300 * time.Millisecond

func (s *stack) newProcess(name, command string) (*supervised, error) {
	p := &supervised{name: name, command: command, program: s.program, report: s.report, variables: map[string]string{}}
	for _, variable := range []string{"HTTP_ADDR", "ADMIN_ADDR"} {
		address, err := cluster.FreeAddress()
		if err != nil {
			return nil, err
		}
		p.variables[variable] = address
	}
	var err error
	p.log, err = s.createLog(name)
	return p, err
}

// run restarts the process until ctx ends.
func (p *supervised) run(ctx context.Context) {
	for ctx.Err() == nil {
		_ = cluster.Sleep(ctx, p.runOnce(ctx))
	}
}

// runOnce runs the process until it ends and returns the wait before its restart.
func (p *supervised) runOnce(ctx context.Context) time.Duration {
	child, err := p.program.Launch(p.command, p.variables, p.log)
	if err != nil {
		p.report.violate(invariantAlive, p.name, "%v", err)
		return restartDelay
	}
	p.report.checked(invariantAlive, 1)
	p.mu.Lock()
	p.child, p.ready, p.expected, p.downtime = child, false, false, 0
	p.mu.Unlock()
	if child.AwaitReady(ctx) == nil {
		p.mu.Lock()
		p.ready = true
		p.mu.Unlock()
	}
	select {
	case <-child.Done():
	case <-ctx.Done():
		child.Resume()
		if err := child.Stop(context.WithoutCancel(ctx)); err != nil {
			p.report.violate(invariantAlive, p.name, "%v", err)
		}
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.expected:
		return p.downtime
	case p.ready:
		p.report.violate(invariantAlive, p.name, "%v", child.Err())
	default:
		// It cannot start without the database; it is started again.
		p.report.count("starts that failed while PostgreSQL was away")
	}
	return restartDelay
}

// current is the latest process, and whether it is ready.
func (p *supervised) current() (*cluster.Child, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.child, p.ready
}

// expectEnd marks the process's coming end as the run's doing.
func (p *supervised) expectEnd(down time.Duration) *cluster.Child {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected, p.downtime = true, down
	return p.child
}

// kill ends the process with SIGKILL; it is restarted after the downtime.
func (p *supervised) kill(down time.Duration) { p.expectEnd(down).Kill() }

// replace stops the process gracefully and returns when its successor is ready.
func (p *supervised) replace(ctx context.Context) error {
	old := p.expectEnd(0)
	if err := old.Stop(ctx); err != nil {
		return err
	}
	return p.awaitReady(ctx, old)
}

// awaitReady waits until a process other than old is ready.
func (p *supervised) awaitReady(ctx context.Context, old *cluster.Child) error {
	return cluster.Poll(ctx, startTimeout, p.name+" is not ready", func() (bool, error) {
		child, ready := p.current()
		return child != old && ready, nil
	})
}
