package chaos

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"despacho/lab/cluster"
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

// restartDelay is the wait before a process that ended by itself is started again.
const restartDelay = 300 * time.Millisecond

func (s *stack) newProcess(name, command string) (*supervised, error) {
	m := &supervised{name: name, command: command, program: s.program, report: s.report, variables: map[string]string{}}
	for _, variable := range []string{"HTTP_ADDR", "ADMIN_ADDR"} {
		address, err := cluster.FreeAddress()
		if err != nil {
			return nil, err
		}
		m.variables[variable] = address
	}
	var err error
	m.log, err = os.Create(filepath.Join(s.options.LogDir, name+".log"))
	return m, err
}

// run restarts the process until ctx ends.
func (m *supervised) run(ctx context.Context) {
	for ctx.Err() == nil {
		away := m.runOnce(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(away):
		}
	}
}

// runOnce runs the process until it ends and returns the wait before its restart.
func (m *supervised) runOnce(ctx context.Context) time.Duration {
	child, err := m.program.Launch(m.command, m.variables, m.log)
	if err != nil {
		m.report.violate(invariantAlive, m.name, "%v", err)
		return restartDelay
	}
	m.report.checked(invariantAlive, 1)
	m.mu.Lock()
	m.child, m.ready, m.expected, m.downtime = child, false, false, 0
	m.mu.Unlock()
	if child.AwaitReady(ctx) == nil {
		m.mu.Lock()
		m.ready = true
		m.mu.Unlock()
	}
	select {
	case <-child.Done():
	case <-ctx.Done():
		child.Resume()
		if err := child.Stop(context.WithoutCancel(ctx)); err != nil {
			m.report.violate(invariantAlive, m.name, "%v", err)
		}
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.expected:
		return m.downtime
	case m.ready:
		m.report.violate(invariantAlive, m.name, "%v", child.Err())
	default:
		// It cannot start without the database; it is started again.
		m.report.count("starts that failed while PostgreSQL was away", 1)
	}
	return restartDelay
}

// current is the latest process, and whether it is ready.
func (m *supervised) current() (*cluster.Child, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.child, m.ready
}

// expectEnd marks the process's coming end as the run's doing.
func (m *supervised) expectEnd(down time.Duration) *cluster.Child {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expected, m.downtime = true, down
	return m.child
}

// kill ends the process with SIGKILL; it is restarted after the downtime.
func (m *supervised) kill(down time.Duration) { m.expectEnd(down).Kill() }

// replace stops the process gracefully and returns when its successor is ready.
func (m *supervised) replace(ctx context.Context) error {
	old := m.expectEnd(0)
	if err := old.Stop(ctx); err != nil {
		return err
	}
	return m.awaitReady(ctx, old)
}

// awaitReady waits until a process other than old is ready.
func (m *supervised) awaitReady(ctx context.Context, old *cluster.Child) error {
	return poll(ctx, startTimeout, m.name+" is not ready", func() bool {
		child, ready := m.current()
		return child != old && ready
	})
}
