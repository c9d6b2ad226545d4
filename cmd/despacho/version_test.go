package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/worker"
)

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
