package compose_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// docker stands in for the Docker CLI: it keeps the containers of each service and the current
// version in files, and writes down what changes them. UNHEALTHY, UNKNOWN and DYING say what fails.
const docker = `#!/bin/sh
set -eu
cd "$STATE"
case "$*" in
"compose ps -q "* | "compose ps -aq "*) cat "$4" ;;
"compose run"*"migrate version") echo "despacho $RELEASE go1.26 linux/amd64" ;;
"compose run"*describe*) printf '{\n  "routingConfig": {\n    "currentVersionBuildID": "%s",\n    "rampingVersionBuildID": ""\n  }\n}\n' "$(cat current)" ;;
"compose run"*set-current-version*)
  [ -z "${UNKNOWN:-}" ] || exit 1
  echo "$*" | sed -n "s/.*--build-id '\([^']*\)' --yes/\1/p" > current
  echo "current $(cat current)" >> done ;;
"compose up"*--scale*)
  service=${10}
  scale=${9#*=}
  while [ "$(wc -w < "$service")" -lt "$scale" ]; do echo "$service-$(wc -l < made)" | tee -a made >> "$service"; done
  [ -z "${UNHEALTHY:-}" ] ;;
"compose up"*) echo up >> done ;;
"inspect "*) [ -z "${DYING:-}" ] && echo 0 healthy || echo 1 starting ;;
"stop "*) shift; echo "stop $*" >> done ;;
"rm "*)
  shift
  for container; do sed -i "/^$container\$/d" api worker; done
  case "$*" in -f*) echo "remove $*" >> done ;; esac ;;
esac
`

// rollOut runs deploy/rollout.sh with two workers and one api of 1.4.0, and returns what it has
// done, one thing a line.
func rollOut(t *testing.T, environment ...string) (did []string, err error) {
	t.Helper()
	state, bin := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{
		"worker": "worker-a\nworker-b\n", "api": "api-a\n", "current": "1.4.0\n", "made": "", "done": "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(state, name), []byte(content), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(bin, "docker"), []byte(docker), 0o700))
	command := exec.CommandContext(t.Context(), filepath.Join(root, "deploy/rollout.sh"))
	command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "STATE="+state, "RELEASE=1.5.0", "ROLLOUT_PAUSE=0")
	command.Env = append(command.Env, environment...)
	output, err := command.CombinedOutput()
	t.Log(string(output))
	content, readErr := os.ReadFile(filepath.Join(state, "done"))
	require.NoError(t, readErr)
	return strings.Split(strings.TrimSpace(string(content)), "\n"), err
}

// The workers of the new release get the tasks before those of the previous one stop.
func TestRollout(t *testing.T) {
	t.Parallel()
	did, err := rollOut(t)
	require.NoError(t, err)
	require.Equal(t, []string{"current 1.5.0", "stop worker-a worker-b", "stop api-a", "up"}, did)
	did, err = rollOut(t, "RELEASE=dev")
	require.NoError(t, err)
	require.Equal(t, []string{"stop worker-a worker-b", "stop api-a", "up"}, did, "workers without a version")
}

// New workers that fail are removed, and those of the previous release have the tasks in the end.
func TestRollout_ofAWorkerThatFails(t *testing.T) {
	t.Parallel()
	removed := []string{"remove -f worker-0", "remove -f worker-1"}
	for failure, before := range map[string][]string{
		"UNHEALTHY": nil, "UNKNOWN": nil, "DYING": {"current 1.5.0", "current 1.4.0"},
	} {
		did, err := rollOut(t, failure+"=1")
		require.Error(t, err, failure)
		require.Equal(t, append(before, removed...), did, failure)
	}
}
