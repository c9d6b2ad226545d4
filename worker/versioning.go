package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"despacho/internal/recovered"
	"despacho/workflows"
)

// Unversioned is the build ID of workers without a version, as development builds are.
const Unversioned = ""

// deploymentOptions make a worker part of the Worker Deployment of its installation, which has the
// name of the task queue. Every workflow is auto-upgraded: its next task goes to the current
// version. An order waits for days and its moves are answered in seconds, so it must not depend on
// the workers of the release that it began with.
func deploymentOptions(taskQueue, buildID string) worker.DeploymentOptions {
	if buildID == Unversioned {
		return worker.DeploymentOptions{}
	}
	return worker.DeploymentOptions{
		UseVersioning:             true,
		Version:                   worker.WorkerDeploymentVersion{DeploymentName: taskQueue, BuildID: buildID},
		DefaultVersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
	}
}

const (
	// versionCheckTimeout bounds what Temporal is asked about the current version.
	versionCheckTimeout = 15 * time.Second
	// firstVersionCheck is the time until the first check, and the first retry's delay.
	firstVersionCheck = 50 * time.Millisecond
	// quietRetries is the delay up to which retries are not logged: Temporal learns of a version from
	// its workers' first polls, and of several workers that start at once one sets the version.
	quietRetries = 2 * time.Second
)

// keepCurrentVersion makes the worker's version current where no version ever was. Which one
// follows is for the roll-out to decide: a worker cannot know whether it will live. It goes on
// checking, because a Temporal that loses its database loses the current version.
func keepCurrentVersion(ctx context.Context, options Options) {
	for delay := firstVersionCheck; wait(ctx, delay); {
		err := recovered.Call(ctx, options.Log, func() error {
			ctx, cancel := context.WithTimeout(ctx, versionCheckTimeout)
			defer cancel()
			return ensureCurrentVersion(ctx, options.Temporal, options.TaskQueue, options.BuildID, options.Log)
		})
		if err == nil {
			delay = workflows.ReconcileEvery
		} else if delay = min(2*delay, workflows.ReconcileEvery); delay > quietRetries && ctx.Err() == nil {
			options.Log.Warn("the current version of the worker deployment is not known or not set; trying again", "in", delay,
				"error", err)
		}
	}
}

// ensureCurrentVersion makes a version current if none ever was.
func ensureCurrentVersion(ctx context.Context, temporal client.Client, taskQueue, buildID string, log *slog.Logger) error {
	deployment := temporal.WorkerDeploymentClient().GetHandle(taskQueue)
	described, err := deployment.Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	var notFound *serviceerror.NotFound
	if buildID == Unversioned && errors.As(err, &notFound) {
		return nil // without a deployment the workers without a version get the tasks
	}
	if err != nil {
		return err
	}
	routing := described.Info.RoutingConfig
	if routing.CurrentVersionChangedTime.IsZero() {
		if buildID == Unversioned {
			return nil
		}
		_, err := deployment.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{
			BuildID: buildID, ConflictToken: described.ConflictToken,
		})
		if err == nil {
			log.Info("this worker's version is now the current one: no version was", "version", buildID)
		}
		return err
	}
	if current := versionName(routing.CurrentVersion); current != buildID && versionName(routing.RampingVersion) != buildID {
		log.Warn("this worker gets no tasks: its version is not the current one", "version", buildID, "current", current)
	}
	return nil
}

// versionName is the build ID of a version, or Unversioned.
func versionName(version *worker.WorkerDeploymentVersion) string {
	if version == nil {
		return Unversioned
	}
	return version.BuildID
}
