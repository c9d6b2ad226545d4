package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Unversioned is the build ID of workers without a version: development builds, and releases before
// versioning.
const Unversioned = ""

const unversionedName = "unversioned"

// VersionName is a build ID as it is shown to people.
func VersionName(buildID string) string { return cmp.Or(buildID, unversionedName) }

// ParseVersion returns the build ID of a VersionName.
func ParseVersion(name string) string {
	if name == unversionedName {
		return Unversioned
	}
	return name
}

// Deployment is the Temporal Worker Deployment of one installation. Its routing decides which
// version's workers get tasks.
type Deployment struct {
	temporal  client.Client
	taskQueue string
	// pollerTimeout is how much older than the latest poll of any worker a worker's own latest poll
	// may be; a worker whose poll is older is gone.
	pollerTimeout time.Duration
}

// pollerTimeout is longer than a long poll, after which a worker polls again.
const pollerTimeout = 90 * time.Second

// NewDeployment returns the deployment of the workers of a task queue.
func NewDeployment(temporal client.Client, taskQueue string) *Deployment {
	return &Deployment{temporal: temporal, taskQueue: taskQueue, pollerTimeout: pollerTimeout}
}

// Name is the name of the task queue, which every installation in a namespace has for itself.
// Temporal reserves two characters.
func (d *Deployment) Name() string {
	return strings.NewReplacer(".", "-", ":", "-").Replace(d.taskQueue)
}

// options are those of a worker of this deployment. Every workflow is auto-upgraded: its next task
// goes to the current version. An order waits for days and its moves are answered in seconds, so it
// must not depend on the workers of the release that it began with.
func (d *Deployment) options(buildID string) worker.DeploymentOptions {
	if buildID == Unversioned {
		return worker.DeploymentOptions{}
	}
	return worker.DeploymentOptions{
		UseVersioning:             true,
		Version:                   worker.WorkerDeploymentVersion{DeploymentName: d.Name(), BuildID: buildID},
		DefaultVersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
	}
}

// check returns an error if Temporal does not offer Worker Deployment Versioning. It describes a
// version because that is the read-only call that fails where the namespace has it disabled.
func (d *Deployment) check(ctx context.Context, buildID string) error {
	_, err := d.handle().DescribeVersion(ctx, client.WorkerDeploymentDescribeVersionOptions{BuildID: buildID})
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return nil // the version is new
	}
	return err
}

// Routing is the routing configuration of a deployment.
type Routing struct {
	// Current is the build ID of the version that gets the tasks, and Ramping of the one that gets
	// Percentage of them; both may be Unversioned. Without a ramp Percentage is zero.
	Current, Ramping string
	Percentage       float32
	// Decided reports whether the current version was ever set.
	Decided bool
	// Versions are all versions that the deployment knows, the latest first.
	Versions []Version

	conflictToken []byte
}

// Version is one version of a deployment.
type Version struct {
	BuildID   string
	CreatedAt time.Time
	// Drainage tells for a version that is neither current nor ramping whether open workflows are
	// pinned to it.
	Drainage client.WorkerDeploymentVersionDrainageStatus
}

// Knows reports whether the deployment knows a version. Temporal learns of one from its workers'
// polls, some time after it counts those workers.
func (r *Routing) Knows(buildID string) bool {
	return slices.ContainsFunc(r.Versions, func(v Version) bool { return v.BuildID == buildID })
}

// ErrNoDeployment means that no versioned worker has polled yet.
var ErrNoDeployment = errors.New("no worker with a version has polled the task queue yet")

// Routing reads the routing configuration.
func (d *Deployment) Routing(ctx context.Context) (*Routing, error) {
	described, err := d.handle().Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return nil, ErrNoDeployment
	}
	if err != nil {
		return nil, err
	}
	config := described.Info.RoutingConfig
	routing := &Routing{
		Current: buildIDOf(config.CurrentVersion), Ramping: buildIDOf(config.RampingVersion), Percentage: config.RampingVersionPercentage,
		Decided: !config.CurrentVersionChangedTime.IsZero(), conflictToken: described.ConflictToken,
	}
	for _, version := range described.Info.VersionSummaries {
		routing.Versions = append(routing.Versions, Version{
			BuildID: version.Version.BuildID, CreatedAt: version.CreateTime, Drainage: version.DrainageStatus,
		})
	}
	slices.SortFunc(routing.Versions, func(a, b Version) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return routing, nil
}

func (d *Deployment) handle() client.WorkerDeploymentHandle {
	return d.temporal.WorkerDeploymentClient().GetHandle(d.Name())
}

func buildIDOf(version *worker.WorkerDeploymentVersion) string {
	if version == nil {
		return Unversioned
	}
	return version.BuildID
}

// SetCurrent gives all tasks to the workers of one version and ends the ramp of another. It fails
// if no worker of the version has polled, or if the routing has changed since it was read.
func (d *Deployment) SetCurrent(ctx context.Context, routing *Routing, buildID string) error {
	token := routing.conflictToken
	// The ramp ends first: a failure in between leaves one version with all tasks.
	if routing.Percentage > 0 && routing.Ramping != buildID {
		ended, err := d.handle().SetRampingVersion(ctx, client.WorkerDeploymentSetRampingVersionOptions{ConflictToken: token})
		if err != nil {
			return err
		}
		token = ended.ConflictToken
	}
	_, err := d.handle().SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: buildID, ConflictToken: token})
	return err
}

// SetRamp gives a percentage of the workflows to the workers of one version; zero ends the ramp.
func (d *Deployment) SetRamp(ctx context.Context, routing *Routing, buildID string, percentage float32) error {
	if percentage == 0 {
		buildID = Unversioned // Temporal ends a ramp that has neither a version nor a percentage
	}
	_, err := d.handle().SetRampingVersion(ctx, client.WorkerDeploymentSetRampingVersionOptions{
		BuildID: buildID, Percentage: percentage, ConflictToken: routing.conflictToken,
	})
	return err
}

// Delete deletes a version that is neither current nor ramping, has no workers and is drained.
func (d *Deployment) Delete(ctx context.Context, buildID string) error {
	_, err := d.handle().DeleteVersion(ctx, client.WorkerDeploymentDeleteVersionOptions{BuildID: buildID})
	return err
}

// Workers counts the running workers by build ID. Their latest polls are compared with each other
// and not with this machine's clock, which may differ from Temporal's.
func (d *Deployment) Workers(ctx context.Context) (map[string]int, error) {
	described, err := d.temporal.DescribeTaskQueue(ctx, d.taskQueue, enums.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return nil, err
	}
	var latest time.Time
	for _, poller := range described.Pollers {
		if at := poller.LastAccessTime.AsTime(); at.After(latest) {
			latest = at
		}
	}
	seen, workers := map[string]bool{}, map[string]int{}
	for _, poller := range described.Pollers {
		if latest.Sub(poller.LastAccessTime.AsTime()) > d.pollerTimeout {
			continue
		}
		buildID := Unversioned
		if options := poller.DeploymentOptions; options.GetWorkerVersioningMode() == enums.WORKER_VERSIONING_MODE_VERSIONED {
			buildID = options.BuildId
		}
		if key := buildID + " " + poller.Identity; !seen[key] {
			seen[key] = true
			workers[buildID]++
		}
	}
	return workers, nil
}

// OpenWorkflows counts the open workflows whose latest task was completed by a version.
func (d *Deployment) OpenWorkflows(ctx context.Context, buildID string) (int64, error) {
	query := fmt.Sprintf("ExecutionStatus = 'Running' AND TaskQueue = '%s' AND TemporalWorkerDeploymentVersion ", d.taskQueue)
	if buildID == Unversioned {
		query += "IS NULL"
	} else {
		query += fmt.Sprintf("= '%s:%s'", d.Name(), buildID)
	}
	counted, err := d.temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: query})
	return counted.GetCount(), err
}
