package dev

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"despacho/test/poll"

	"github.com/stretchr/testify/require"
)

const actAsParent = "DESPACHO_TEST_ACT_AS_PARENT"

// TestMain lets the test binary stand in for a parent that is killed while its child runs.
func TestMain(m *testing.M) {
	if os.Getenv(actAsParent) == "" {
		os.Exit(m.Run())
	}
	child, err := Start(shell("trap '' TERM HUP; while :; do sleep 0.05; done"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(child.cmd.Process.Pid)
	<-child.Done()
}

func TestProcess_diesWithItsParent(t *testing.T) {
	t.Parallel()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), actAsParent+"=1")
	stdout, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err, line)
	require.False(t, processGone(child))

	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait()
	require.Eventually(t, func() bool { return processGone(child) }, poll.Deadline, pollEvery)
}
