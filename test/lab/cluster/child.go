// Package cluster is what bench and chaos share: the servers that a service needs, processes of the
// despacho binary, an HTTP client and a webhook receiver.
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

	"despacho/internal/dev"
)

// Loopback is the address that everything listens on.
const Loopback = "127.0.0.1"

// The commands that a service consists of.
const (
	API    = "api"
	Worker = "worker"
)

// readyTimeout bounds how long a process may take to become ready; readyStep is the interval of the
// probes.
const (
	readyTimeout = time.Minute
	readyStep    = 2 * time.Millisecond
)

// Program is a despacho binary and the environment of its processes.
type Program struct {
	// Binary is the file, Dir the working directory of its processes.
	Binary, Dir string
	// Variables are the environment of every process, which inherits only PATH.
	Variables map[string]string
	// APILog gets the output of apis started without a log, a line for every request; nil reads and
	// discards it.
	APILog *os.File
}

// Child is a running despacho process.
type Child struct {
	*dev.Process
	// Address is the api's HTTP_ADDR, Admin the ADMIN_ADDR.
	Address, Admin string
	// Ready is the time from the start until it was ready.
	Ready time.Duration

	began         time.Time
	command       string
	workerStarted chan struct{} // closed when a worker logs that it has started
}

// FreeAddress is a loopback address that is not in use.
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

// Launch starts a process without waiting for it. An address that the variables do not set is a
// free one. log gets the process's output.
func (p *Program) Launch(command string, variables map[string]string, log io.Writer) (*Child, error) {
	c := &Child{Address: variables["HTTP_ADDR"], Admin: variables["ADMIN_ADDR"], command: command,
		workerStarted: make(chan struct{})}
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
		Log: &logWatcher{text: []byte("worker started"), seen: c.workerStarted, log: log}, Grace: stopGrace,
		File: p.fileFor(command, log),
	})
	return c, err
}

// fileFor is the file that a process writes its output to directly; nil is a pipe to this process.
func (p *Program) fileFor(command string, log io.Writer) *os.File {
	if command == API && log == nil {
		return p.APILog
	}
	return nil
}

// Serve starts the binary with arguments that make it listen on an address, and waits until a GET
// of path is answered 200.
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

// AwaitReady waits until an api answers /readyz, or a worker takes tasks.
func (c *Child) AwaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout,
		fmt.Errorf("despacho %s was not ready within %s", c.command, readyTimeout))
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

// Ready reports whether an api answers its readiness probe.
func Ready(ctx context.Context, address string) bool { return responds(ctx, address, readyPath) }

func responds(ctx context.Context, address, path string) bool {
	probe := NewConnection(address)
	defer probe.Close()
	_, err := probe.Expect(ctx, http.StatusOK, Request{Method: http.MethodGet, Path: path})
	return err == nil
}
