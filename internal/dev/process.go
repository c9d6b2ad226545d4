// Package dev runs the servers that the service needs on one machine: Temporal, PostgreSQL, a
// certificate authority and a webhook inbox. `despacho dev` and the tests use it; production does
// not.
package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	defaultGrace = 30 * time.Second
	// drainTime is how long the output of a dead child may still be held open by a descendant that
	// left its group.
	drainTime = 2 * time.Second
)

// Command describes a child to start.
type Command struct {
	// Name is the child's name in messages.
	Name string
	Path string
	Args []string
	// Env replaces the environment; nil passes ours through.
	Env []string
	// Dir is the child's working directory; empty is ours.
	Dir string
	// Log gets everything the child prints; nil keeps only the last lines, for errors.
	Log io.Writer
	// File gets the output directly, without a pipe to this process, which costs less: no last
	// lines are kept then.
	File *os.File
	// Credential runs the child as another user; nil as ourselves.
	Credential *syscall.Credential
	// StopSignal asks the child to end; zero is SIGTERM.
	StopSignal syscall.Signal
	// Grace is how long Stop waits before it kills; zero is 30 seconds.
	Grace time.Duration
}

// Process is a running child in its own process group: a Ctrl-C in the terminal reaches only this
// process, which stops its children in the right order.
type Process struct {
	command  Command
	cmd      *exec.Cmd
	output   *outputTail
	stopping atomic.Bool
	done     chan struct{}
	exit     error // how the child ended; read after done is closed
}

// Start starts the child. On Linux it is killed when this process dies, however that happens.
func Start(command Command) (*Process, error) {
	if command.StopSignal == 0 {
		command.StopSignal = syscall.SIGTERM
	}
	if command.Grace == 0 {
		command.Grace = defaultGrace
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", command.Name, err)
	}
	cmd := exec.Command(command.Path, command.Args...)
	cmd.Env, cmd.Dir = command.Env, command.Dir
	output := writer
	if command.File != nil {
		output = command.File
	}
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: command.Credential}
	dieWithParent(cmd.SysProcAttr)

	p := &Process{command: command, cmd: cmd, output: &outputTail{log: command.Log}, done: make(chan struct{})}
	started := make(chan error)
	go p.run(reader, writer, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", command.Name, err)
	}
	return p, nil
}

// run starts the child and returns when it ends, all on one thread: Linux sends the parent-death
// signal when the thread that started the child ends, so that thread has to last as long as the
// child.
func (p *Process) run(reader, writer *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	err := p.cmd.Start()
	writer.Close()
	if err != nil {
		reader.Close()
		started <- err
		return
	}
	started <- nil

	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(p.output, reader)
	}()
	p.exit = p.cmd.Wait()
	p.killGroup() // what the child itself started and left behind
	select {
	case <-drained:
	case <-time.After(drainTime):
	}
	reader.Close()
	<-drained
	close(p.done)
}

// Pid is the child's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says why a child ended that was not stopped, with its last lines; nil while it runs and after
// Stop.
func (p *Process) Err() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	if p.stopping.Load() {
		return nil
	}
	how := "exit status 0"
	if p.exit != nil {
		how = p.exit.Error()
	}
	return p.withLastLines(fmt.Sprintf("%s ended by itself (%s)", p.command.Name, how))
}

// Wait is for a child that ends by itself: it returns nil when that went well. The child is stopped
// if ctx ends first.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.done:
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), p.Stop(context.WithoutCancel(ctx)))
	}
	if p.exit == nil {
		return nil
	}
	return p.withLastLines(fmt.Sprintf("%s failed (%v)", p.command.Name, p.exit))
}

// Stop asks the child to end and waits; what has not ended within the grace time, or when ctx ends,
// is killed with its group.
func (p *Process) Stop(ctx context.Context) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	p.stopping.Store(true)
	if err := p.cmd.Process.Signal(p.command.StopSignal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping %s: %w", p.command.Name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, p.command.Grace)
	defer cancel()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	p.killGroup()
	<-p.done
	return fmt.Errorf("%s did not end when asked and was killed", p.command.Name)
}

// Kill ends the child and all it started at once, as a crash would, and waits until they are gone.
func (p *Process) Kill() {
	p.stopping.Store(true)
	p.signalTree(syscall.SIGKILL)
	<-p.done
}

// Pause stops the child and its descendants with SIGSTOP; Resume continues them.
func (p *Process) Pause() { p.signalTree(syscall.SIGSTOP) }

// Resume ends a pause.
func (p *Process) Resume() { p.signalTree(syscall.SIGCONT) }

// signalTree signals the child before it lists its descendants: a stopped process starts no others,
// so that all are reached. Errors are ignored: a process that has ended needs no signal.
func (p *Process) signalTree(signal syscall.Signal) {
	select {
	case <-p.done:
		return // its pid may have been reused
	default:
	}
	if signal != syscall.SIGCONT {
		_ = syscall.Kill(p.Pid(), syscall.SIGSTOP)
		awaitPaused(p.Pid())
	}
	for _, pid := range append(Descendants(p.Pid()), p.Pid()) {
		_ = syscall.Kill(pid, signal)
	}
}

// killGroup ignores the error: an empty group is what is wanted.
func (p *Process) killGroup() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

func (p *Process) withLastLines(message string) error {
	if lines := p.output.lastLines(); lines != "" {
		return fmt.Errorf("%s; its last lines:\n%s", message, lines)
	}
	return errors.New(message)
}
