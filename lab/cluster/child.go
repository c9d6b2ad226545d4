// Package fleet runs processes of the despacho program itself, as many as wanted, and speaks to
// them as clients and receivers do. What measures the service and what breaks it both stand on it.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"despacho/dev"
)

// Loopback is where everything listens.
const Loopback = "127.0.0.1"

// The commands of which a service has processes.
const (
	API    = "api"
	Worker = "worker"
)

// readyTimeout bounds how long a process may take to become ready; readyStep is how often it is
// asked.
const (
	readyTimeout = time.Minute
	readyStep    = 2 * time.Millisecond
)

// Program is a compiled despacho and what all of its processes get to know.
type Program struct {
	// Binary is the file, Dir where its processes work.
	Binary, Dir string
	// Variables are the environment of every process; of ours they get nothing that could change
	// how they work.
	Variables map[string]string
	// APILog gets what apis print that nobody listens to, a line for every request; nil has us read
	// it and throw it away.
	APILog *os.File
}

// Child is a running despacho process.
type Child struct {
	*dev.Process
	// Address is where an api answers, Admin where /metrics and the profiles are.
	Address, Admin string
	// Ready is how long it took from its start until it could be used.
	Ready time.Duration

	began         time.Time
	command       string
	workerStarted chan struct{} // closed when a worker says that it has started
}

// FreeAddress is a loopback address that nobody listens on.
func FreeAddress() (string, error) {
	port, err := dev.FreePort(Loopback)
	return net.JoinHostPort(Loopback, strconv.Itoa(port)), err
}

// Start starts a process and waits until it is ready.
func (p *Program) Start(ctx context.Context, command string, variables map[string]string) (*Child, error) {
	c, err := p.Launch(command, variables, nil)
	if err != nil {
		return nil, err
	}
	if err := c.AwaitReady(ctx); err != nil {
		return nil, errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
	}
	return c, nil
}

// Launch starts a process and waits for nothing. An address that the variables do not give is a
// free one. log gets what the process prints.
func (p *Program) Launch(command string, variables map[string]string, log io.Writer) (*Child, error) {
	c := &Child{Address: variables["HTTP_ADDR"], Admin: variables["ADMIN_ADDR"], command: command, workerStarted: make(chan struct{})}
	for _, address := range []*string{&c.Address, &c.Admin} {
		if *address != "" {
			continue
		}
		var err error
		if *address, err = FreeAddress(); err != nil {
			return nil, err
		}
	}
	environment := maps.Clone(p.Variables)
	maps.Copy(environment, variables)
	environment["HTTP_ADDR"], environment["ADMIN_ADDR"] = c.Address, c.Admin
	c.began = time.Now()
	var err error
	c.Process, err = dev.Start(dev.Command{
		Name: "despacho " + command, Path: p.Binary, Args: []string{command}, Dir: p.Dir, Env: p.environment(environment),
		Log: &logWatcher{text: []byte("worker started"), seen: c.workerStarted, log: log}, Grace: stopGrace, File: p.fileFor(command, log),
	})
	return c, err
}

// fileFor is where a process writes by itself; nil has it write to us.
func (p *Program) fileFor(command string, log io.Writer) *os.File {
	if command == API && log == nil {
		return p.APILog
	}
	return nil
}

// Serve starts despacho with arguments of its own that make it answer on an address, and waits
// until a GET of path does.
func (p *Program) Serve(ctx context.Context, address, path string, arguments ...string) (*Child, error) {
	c := &Child{Address: address}
	var err error
	c.Process, err = dev.Start(dev.Command{
		Name: "despacho " + arguments[0], Path: p.Binary, Args: arguments, Dir: p.Dir, Env: p.environment(nil),
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("%s does not answer within %s", address, readyTimeout))
	defer cancel()
	if err := c.awaitResponse(ctx, path); err != nil {
		return nil, errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
	}
	return c, nil
}

// stopGrace is longer than a process takes to drain.
const stopGrace = 30 * time.Second

// Run runs a command that ends by itself.
func (p *Program) Run(ctx context.Context, variables map[string]string, arguments ...string) error {
	child, err := dev.Start(dev.Command{
		Name: "despacho " + arguments[0], Path: p.Binary, Args: arguments, Dir: p.Dir, Env: p.environment(variables),
	})
	if err != nil {
		return err
	}
	return child.Wait(ctx)
}

func (p *Program) environment(variables map[string]string) []string {
	list := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.Dir}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		list = append(list, name+"="+variables[name])
	}
	return list
}

// UntilReady waits until an api answers /readyz, or a worker takes tasks.
func (c *Child) AwaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("despacho %s was not ready within %s", c.command, readyTimeout))
	defer cancel()
	if c.command == Worker {
		select {
		case <-c.workerStarted:
		case <-c.Done():
			return c.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	} else if err := c.awaitResponse(ctx, readyPath); err != nil {
		return err
	}
	c.Ready = time.Since(c.began)
	return nil
}

func (c *Child) awaitResponse(ctx context.Context, path string) error {
	for {
		if responds(ctx, c.Address, path) {
			return nil
		}
		select {
		case <-c.Done():
			return c.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(readyStep):
		}
	}
}

const readyPath = "/readyz"

// Ready asks an api as a balancer does whether it wants requests.
func Ready(ctx context.Context, address string) bool { return responds(ctx, address, readyPath) }

func responds(ctx context.Context, address, path string) bool {
	probe := NewConnection(address)
	defer probe.Close()
	_, err := probe.Expect(ctx, http.StatusOK, Request{Method: http.MethodGet, Path: path})
	return err == nil
}
