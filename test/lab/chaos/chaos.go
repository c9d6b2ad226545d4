// Package chaos runs the service as separate processes, puts load on it, injects faults into the
// processes and servers it needs, and checks its invariants afterwards. docs/reliability.md lists
// the invariants and explains the output.
package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"
	"strings"
	"time"
)

// Options configure a run.
type Options struct {
	// Seed decides the faults and the clients' requests.
	Seed uint64
	// Duration is how long faults are injected.
	Duration time.Duration
	// Only is the part to run; empty runs all of them.
	Only string
	// ManyMoves is how often one order is reassigned during the faults; 0 has no such order.
	ManyMoves int
	// Clients is how many clients run concurrently.
	Clients int
	// Pause is how long a process stays stopped by SIGSTOP.
	Pause time.Duration
	// AutoCancelAfter is how long an order may stay registered.
	AutoCancelAfter time.Duration
	// Overload is how long the overload lasts; it asks for ten times what can be served.
	Overload time.Duration
	// MostClients is the largest number of clients in the overload: it bounds what the clients
	// themselves take of the machine.
	MostClients int
	// SlowClients is how many sockets of each slow kind are opened to each api; 0 opens none.
	SlowClients int
	// Soak is how long the load of the soak lasts; 0 skips it.
	Soak time.Duration
	// Slack multiplies the timeouts after which an invariant counts as broken; 0 is 1. Tests set
	// more, because their machine may be busy.
	Slack int

	// Out gets the plan, the progress and the results; JSON is the file for the counters and
	// invariants.
	Out  io.Writer
	JSON string
	// LogDir gets the logs of all processes.
	LogDir string
	// Binary is the despacho program; BinDir is where the Temporal CLI is kept.
	Binary, BinDir string

	progress *log.Logger // writes to Out
}

// The parts of a run.
const (
	partFaults   = "faults"
	partRolling  = "rolling"
	partOverload = "overload"
	partSlow     = "slow"
	partSoak     = "soak"
)

var parts = []string{partFaults, partRolling, partOverload, partSlow, partSoak}

func (o *Options) check() error {
	if o.Only != "" && !slices.Contains(parts, o.Only) {
		return fmt.Errorf("the parts are %s, not %s", strings.Join(parts, ", "), o.Only)
	}
	if o.Duration <= 0 || o.Clients < 1 || o.Pause <= 0 || o.AutoCancelAfter <= 0 || o.Overload < 0 || o.Soak < 0 || o.MostClients < 0 ||
		o.SlowClients < 0 || o.Slack < 0 {
		return errors.New("durations and the number of clients must be positive")
	}
	return nil
}

// scaledTimeout is d, which is enough on an idle machine, times Slack.
func (o *Options) scaledTimeout(d time.Duration) time.Duration {
	return d * time.Duration(max(o.Slack, 1))
}

func (o *Options) wants(part string) bool { return o.Only == "" || o.Only == part }

func (o *Options) logf(format string, args ...any) { o.progress.Printf(format, args...) }

// ErrBroken says that an invariant did not hold.
var ErrBroken = errors.New("a promise was broken")

// Run runs the selected parts and writes the report. It returns ErrBroken when an invariant did not
// hold.
func Run(ctx context.Context, options Options) error {
	if err := options.check(); err != nil {
		return err
	}
	options.progress = log.New(options.Out, "", 0)
	report := newReport(options)
	err := runOnStack(ctx, options, report)
	report.print(options.Out)
	if err = errors.Join(err, report.write(options.JSON)); err != nil {
		return err
	}
	if report.broken() {
		return ErrBroken
	}
	return nil
}

// runOnStack runs the parts that need the service.
func runOnStack(ctx context.Context, options Options, report *report) (err error) {
	s, err := startStack(ctx, options, report)
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	if err != nil {
		return err
	}
	for _, part := range []struct {
		name   string
		wanted bool
		run    func(context.Context, *stack) error
	}{
		{partFaults, options.wants(partFaults), runFaults},
		{partRolling, options.wants(partRolling), runRolling},
		{"promises", options.wants(partFaults) || options.wants(partRolling), func(ctx context.Context, s *stack) error {
			return settleAndCheck(ctx, s, checkSweep)
		}},
		{partOverload, options.wants(partOverload) && options.Overload > 0, runOverload},
		{partSlow, options.wants(partSlow) && options.SlowClients > 0, runSlow},
		{partSoak, options.wants(partSoak) && options.Soak > 0, runSoak},
	} {
		if !part.wanted {
			continue
		}
		options.logf("\n== %s", part.name)
		if err := part.run(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}
