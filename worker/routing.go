package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/api/serviceerror"

	"despacho/internal/recovered"
	"despacho/workflows"
)

// chooseBuildID returns the build ID that a worker registers with: Unversioned where Temporal has
// no Worker Deployment Versioning or does not permit the worker to use it.
func chooseBuildID(ctx context.Context, d *Deployment, options Options) (string, error) {
	if options.BuildID == Unversioned {
		return Unversioned, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	err := d.check(ctx, options.BuildID)
	var unimplemented *serviceerror.Unimplemented
	var denied *serviceerror.PermissionDenied
	if errors.As(err, &unimplemented) || errors.As(err, &denied) {
		options.Log.Warn("Temporal does not offer Worker Deployment Versioning; this worker runs without it: "+
			"in an upgrade, stop every worker of the previous release before the first of the next one starts", "error", err)
		return Unversioned, nil
	}
	return options.BuildID, err
}

// versionPromoter decides when a worker makes its own version the current one.
type versionPromoter struct {
	deployment *Deployment
	buildID    string
	// makeCurrent is set until the version was made current because the worker was told to do so.
	makeCurrent bool
	log         *slog.Logger
	// interval is the time between two checks of the routing, timeout how long one may take.
	interval, timeout time.Duration
	// checksWithoutWorkers counts the checks in a row that found no worker of the current version.
	checksWithoutWorkers int
}

func newVersionPromoter(d *Deployment, buildID string, options Options) *versionPromoter {
	return &versionPromoter{
		deployment: d, buildID: buildID, makeCurrent: options.MakeCurrent, log: options.Log,
		interval: workflows.ReconcileEvery, timeout: 15 * time.Second,
	}
}

// maxChecksWithoutWorkers is the number of checks after which a current version without workers is
// replaced. One is not enough: a restarted Temporal forgets its pollers.
const maxChecksWithoutWorkers = 2

// run checks the routing when the worker starts and then at every interval: a Temporal that loses
// its database loses the routing.
func (p *versionPromoter) run(ctx context.Context) {
	wait := firstCheck
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		err := recovered.Call(ctx, p.log, func() error { return p.ensureCurrent(ctx) })
		switch {
		case err == nil:
			wait = p.interval
		case ctx.Err() != nil:
			return
		default:
			// A version becomes known to Temporal by its first polls, and of several workers that
			// start at once one sets the routing.
			if wait = min(2*wait, p.interval); wait > quietRetries {
				p.log.Warn("the routing of the worker deployment is not known or not set; trying again", "in", wait, "error", err)
			}
		}
	}
}

const (
	// firstCheck is the time until the first check of the routing, and the first retry's delay.
	firstCheck = 50 * time.Millisecond
	// quietRetries is the delay up to which retries are not logged.
	quietRetries = 2 * time.Second
)

// ensureCurrent makes the version current if it has to be.
func (p *versionPromoter) ensureCurrent(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	routing, err := p.deployment.Routing(ctx)
	if errors.Is(err, ErrNoDeployment) && p.buildID == Unversioned {
		return nil // without a deployment unversioned workers get the tasks
	}
	if err != nil {
		return err
	}
	reason, err := p.reason(ctx, routing)
	if err != nil || reason == "" {
		return err
	}
	if err := p.deployment.SetCurrent(ctx, routing, p.buildID); err != nil {
		return err
	}
	p.makeCurrent, p.checksWithoutWorkers = false, 0
	p.log.Info("this worker's version is now the current one", "version", VersionName(p.buildID), "previous", VersionName(routing.Current), "reason", reason)
	return nil
}

// reason says why the version has to become current, or is empty.
func (p *versionPromoter) reason(ctx context.Context, routing *Routing) (string, error) {
	switch {
	case routing.Current == p.buildID && (routing.Decided || p.buildID == Unversioned):
		p.makeCurrent, p.checksWithoutWorkers = false, 0
		return "", nil
	case !routing.Decided:
		return "the deployment had no current version", nil
	case p.makeCurrent:
		return "the worker was started with --make-current", nil
	}
	workers, err := p.deployment.Workers(ctx)
	if err != nil {
		return "", err
	}
	if workers[routing.Current] > 0 {
		p.checksWithoutWorkers = 0
		if routing.Percentage == 0 || routing.Ramping != p.buildID {
			p.log.Warn("this worker gets no tasks: its version is not the current one; `despacho deployment current` makes it so",
				"version", VersionName(p.buildID), "current", VersionName(routing.Current))
		}
		return "", nil
	}
	if p.checksWithoutWorkers++; p.checksWithoutWorkers < maxChecksWithoutWorkers {
		return "", nil
	}
	return fmt.Sprintf("no worker of %s runs", VersionName(routing.Current)), nil
}
