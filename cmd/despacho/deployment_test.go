package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"despacho/test/closedport"
	"despacho/test/testenv"
	"despacho/worker"
)

// pollAs starts a worker of a version, which gets no tasks.
func pollAs(t *testing.T, taskQueue, buildID string) sdkworker.Worker {
	t.Helper()
	temporal := testenv.DialTemporal(t, client.Options{})
	w := sdkworker.New(temporal, taskQueue, sdkworker.Options{DeploymentOptions: sdkworker.DeploymentOptions{
		UseVersioning:             true,
		Version:                   sdkworker.WorkerDeploymentVersion{DeploymentName: worker.NewDeployment(temporal, taskQueue).Name(), BuildID: buildID},
		DefaultVersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
	}})
	worker.Register(w)
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	return w
}

// statuses are those of all versions.
func statuses(t *testing.T) map[string]string {
	t.Helper()
	statuses := map[string]string{}
	for _, version := range mustPrint[[]versionView](t, "deployment", "status") {
		statuses[version.Version] = version.Status
	}
	return statuses
}

// A roll-out by hand: a ramp, everything, back again.
func TestDeploymentCommand_rollout(t *testing.T) {
	taskQueue := testenv.TaskQueue(t)
	t.Setenv("TEMPORAL_ADDRESS", testenv.Temporal(t))
	t.Setenv("TEMPORAL_TASK_QUEUE", taskQueue)
	require.Equal(t, map[string]string{"unversioned": "current"}, statuses(t))
	for _, line := range [][]string{{"current", "1.0"}, {"ramp", "10", "1.0"}} {
		_, err := despacho(t, "", append(append([]string{"deployment"}, line...), "--wait", "1ms")...)
		require.ErrorContains(t, err, "no worker of version 1.0 runs")
	}

	pollAs(t, taskQueue, "1.0")
	mustPrint[[]versionView](t, "deployment", "current", "1.0")
	pollAs(t, taskQueue, "1.1")
	mustPrint[[]versionView](t, "deployment", "ramp", "12.5", "1.1")
	require.Equal(t, map[string]string{"1.0": "current", "1.1": "ramping 12.5%"}, statuses(t))
	mustPrint[[]versionView](t, "deployment", "ramp", "0")
	require.Equal(t, map[string]string{"1.0": "current", "1.1": "draining"}, statuses(t))
	mustPrint[[]versionView](t, "deployment", "current", "1.1")
	require.Equal(t, map[string]string{"1.0": "draining", "1.1": "current"}, statuses(t))
	mustPrint[[]versionView](t, "deployment", "current", "1.1") // run again, it changes nothing
	mustPrint[[]versionView](t, "deployment", "current", "1.0")
	require.Equal(t, map[string]string{"1.0": "current", "1.1": "draining"}, statuses(t))

	for want, line := range map[string][]string{
		"1.0 is the current version":        {"ramp", "10", "1.0"},
		"from 0 to 100":                     {"ramp", "101", "1.1"},
		`from 0 to 100, not "NaN"`:          {"ramp", "NaN", "1.1"},
		"there is no version 0.9":           {"delete", "0.9"},
		"there is no version ":              {"delete", ""},
		"since it is current":               {"delete", "1.0"},
		"which has no version in Temporal":  {"current"},
		"no worker of version 1.2 runs":     {"current", "1.2", "--wait", "1ms"},
		"no worker of version unversioned ": {"current", "unversioned", "--wait", "1ms"},
	} {
		_, err := despacho(t, "", append([]string{"deployment"}, line...)...)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
	table, err := despacho(t, "", "deployment", "status")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^VERSION\s+STATUS\s+WORKERS\s+OPEN WORKFLOWS\s+FIRST SEEN$`, table)
	require.Regexp(t, `(?m)^1.0\s+current\s+1\s+0\s+20`, table)
}

func TestDeploymentCommand_withoutTemporal(t *testing.T) {
	t.Setenv("TEMPORAL_ADDRESS", closedport.Address(t))
	_, err := despacho(t, "", "deployment", "status")
	require.ErrorContains(t, err, "TEMPORAL_ADDRESS: Temporal does not answer")
}

// A build that nothing identifies has no version, so that changed code goes on with the open
// orders.
func TestBuildID_onlyOfAReleaseOrACommit(t *testing.T) {
	defer func(before string) { release = before }(release)
	release = "1.5.0"
	require.Equal(t, "1.5.0", buildID())
	release = developmentRelease
	require.Equal(t, worker.Unversioned, buildID())
	require.Equal(t, developmentRelease, version())
	release = ""
	require.Equal(t, worker.Unversioned, buildID(), "a test binary has no commit")
}
