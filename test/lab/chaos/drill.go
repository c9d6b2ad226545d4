package chaos

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"despacho/test/lab/cluster"
)

// drilledAutoCancel is longer than a drill: the timer cancels nothing.
const drilledAutoCancel = 24 * time.Hour

// drills are the ways to copy a PostgreSQL, by name.
var drills = map[string]func() postgresMethod{
	"base-backup":   func() postgresMethod { return baseBackup{} },
	"point-in-time": func() postgresMethod { return &pointInTime{} },
}

// Drill does under load what docs/operations.md describes: it makes copies of the service, loses
// the original and restores the copy. It checks the promises and returns ErrBroken when one did not
// hold.
func Drill(ctx context.Context, options Options) error {
	options.AutoCancelAfter = drilledAutoCancel
	names := slices.Sorted(maps.Keys(drills))
	switch {
	case options.Only != "" && drills[options.Only] == nil:
		return fmt.Errorf("the drills are %s, not %s", strings.Join(names, ", "), options.Only)
	case options.Duration <= 0 || options.Clients < 1:
		return errors.New("the duration and the number of clients must be positive")
	case options.Only != "":
		names = []string{options.Only}
	}
	options.progress = log.New(options.Out, "", 0)
	report, logs := newReport(options), options.LogDir
	var err error
	for _, name := range names {
		options.logf("\n== %s", name)
		options.LogDir = filepath.Join(logs, name)
		if err = runDrill(ctx, options, report, name); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
			break
		}
	}
	report.print(options.Out)
	if err = errors.Join(err, report.write(options.JSON)); err != nil {
		return err
	}
	if report.broken() {
		return ErrBroken
	}
	return nil
}

// drill is one copy that is made and restored.
type drill struct {
	*stack
	name string
	// backupBegan is when the copy was begun: what was acknowledged before is in it. endsAt is the
	// point in time that it is restored to, zero where it is the end of the copy.
	backupBegan, endsAt time.Time
}

func runDrill(ctx context.Context, options Options, report *report, name string) (err error) {
	base := &stack{options: options, report: report, ledger: &ledger{}, processes: map[string]*supervised{}}
	if err := os.MkdirAll(options.LogDir, 0o755); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, base.Close(ctx)) }()
	if err := base.Open("despacho-drill-"); err != nil {
		return err
	}
	if base.receivers, err = startReceivers(base.Certificates); err != nil {
		return err
	}
	base.OnClose(base.receivers.receiver.Stop)
	original, err := startInstallation(ctx, base, drills[name]())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, original.close(ctx)) }()
	d := &drill{stack: base, name: name}
	if err := d.copyUnderLoad(ctx, original); err != nil {
		return err
	}
	if err := original.loseAll(ctx); err != nil {
		return err
	}
	began := time.Now()
	restored, err := original.restore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restored.close(ctx)) }()
	program := restored.program(nil)
	if err := program.Run(ctx, program.Variables, "reconcile", "--after-restore"); err != nil {
		return err
	}
	base.options.logf("the copy was restored in %s", time.Since(began).Round(10*time.Millisecond))
	return d.check(ctx, restored)
}

// copyUnderLoad makes the copy while clients work, before and after.
func (d *drill) copyUnderLoad(ctx context.Context, original *installation) error {
	if err := original.serve(ctx, nil); err != nil {
		return err
	}
	if err := d.registerWebhooks(ctx); err != nil {
		return err
	}
	clients := d.startLoad(ctx, firstClient, scenarios)
	defer clients.stop()
	if err := cluster.Sleep(ctx, d.options.Duration); err != nil {
		return err
	}
	began := time.Now()
	d.backupBegan = began
	if err := original.backup(ctx); err != nil {
		return err
	}
	d.options.logf("the copy was made under load in %s", time.Since(began).Round(10*time.Millisecond))
	if err := cluster.Sleep(ctx, d.options.Duration/2); err != nil {
		return err
	}
	var err error
	if d.endsAt, err = original.chooseTarget(ctx); err != nil {
		return err
	}
	if err := cluster.Sleep(ctx, d.options.Duration/4); err != nil {
		return err
	}
	clients.stop()
	clients.working.Wait()
	d.options.logf("%d orders were acknowledged, %d of them before the copy", len(d.ledger.acknowledged()),
		len(d.acknowledgedBefore(d.copiedUntil())))
	return nil
}

// copiedUntil is the time before which everything that was acknowledged is in the copy.
func (d *drill) copiedUntil() time.Time {
	if d.endsAt.IsZero() {
		return d.backupBegan
	}
	return d.endsAt
}

// acknowledgedBefore are the orders that were acknowledged before a time.
func (d *drill) acknowledgedBefore(at time.Time) (list []*trackedOrder) {
	for _, tracked := range d.ledger.acknowledged() {
		if tracked.acknowledgedAt.Before(at) {
			list = append(list, tracked)
		}
	}
	return list
}

// processGroup is the processes of a service that a drill has started.
type processGroup struct {
	children []*cluster.Child
	starts   int
	probing  sync.WaitGroup
	endProbe context.CancelFunc
}

// add starts a process and waits until it is ready.
func (g *processGroup) add(
	ctx context.Context, s *stack, program *cluster.Program, name, command string,
) (*cluster.Child, error) {
	g.starts++
	log, err := s.createLog(fmt.Sprintf("%s-%d", name, g.starts))
	if err != nil {
		return nil, err
	}
	child, err := program.Launch(command, nil, log)
	if err != nil {
		return nil, err
	}
	g.children = append(g.children, child)
	return child, child.AwaitReady(ctx)
}

// probe has a balancer watch the api.
func (g *processGroup) probe(ctx context.Context, s *stack, address string) error {
	var probing context.Context
	probing, g.endProbe = context.WithCancel(context.WithoutCancel(ctx))
	s.balancer = startBalancer(probing, &g.probing, []string{address})
	return s.awaitBalancer(ctx)
}

// end ends the processes: asked to, or with kill -9.
func (g *processGroup) end(ctx context.Context, kill bool) error {
	if g.endProbe != nil {
		g.endProbe()
		g.probing.Wait()
	}
	var errs []error
	for _, child := range slices.Backward(g.children) {
		if kill {
			child.Kill()
			continue
		}
		errs = append(errs, child.Stop(ctx))
	}
	g.children = nil
	return errors.Join(errs...)
}

// forInstallation is a stack for another installation with the same clients, receivers and report.
func (s *stack) forInstallation() *stack {
	return &stack{
		options: s.options, report: s.report, ledger: s.ledger, receivers: s.receivers, operator: s.operator,
		processes: map[string]*supervised{},
		Stack:     cluster.Stack{Certificates: s.Certificates},
	}
}
