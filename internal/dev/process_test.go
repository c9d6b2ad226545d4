package dev

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/test/poll"
)

// pollEvery is how often a test looks whether what it waits for has happened.
const pollEvery = 10 * time.Millisecond

// writeProgram keeps other tests from forking meanwhile: a child would hold the file open for
// writing for a moment, and the kernel starts no program that somebody may still write.
func writeProgram(t *testing.T, path, script string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte(script), 0o755))
}

// output collects what a child or progress prints while a test reads it.
type output struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}

// line is a progress function.
func (o *output) line(text string) { fmt.Fprintln(o, text) }

func shell(script string) Command {
	return Command{Name: "the script", Path: "/bin/sh", Args: []string{"-c", script}}
}

// startShell runs a script that says "ready" when it is.
func startShell(t *testing.T, script string, grace time.Duration, signal syscall.Signal) (*Process, *output) {
	t.Helper()
	log := &output{}
	command := shell(script)
	command.Log, command.Grace, command.StopSignal = log, grace, signal
	p, err := Start(command)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Stop(context.Background()) })
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "ready") }, poll.Deadline, pollEvery)
	return p, log
}

// processGone counts a zombie as gone: not every machine's init reaps the orphans it is given.
func processGone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return syscall.Kill(pid, 0) == syscall.ESRCH || err == nil && strings.Contains(string(stat), ") Z ")
}

func TestProcess_stopAsksFirst(t *testing.T) {
	t.Parallel()
	p, log := startShell(t, `trap 'echo goodbye; exit 0' TERM; echo ready; while :; do sleep 0.05; done`, poll.Deadline, 0)
	require.NoError(t, p.Stop(t.Context()))
	require.Contains(t, log.String(), "goodbye")
	require.NoError(t, p.Err(), "a child that was stopped has not failed")
	require.NoError(t, p.Stop(t.Context()), "stopping twice is stopping once")
}

func TestProcess_aChildThatIgnoresTheSignalIsKilledWithItsGroup(t *testing.T) {
	t.Parallel()
	p, log := startShell(t, `trap '' TERM; sleep 600 & echo "$! ready"; while :; do sleep 0.05; done`, 100*time.Millisecond, 0)
	grandchild, err := strconv.Atoi(strings.Fields(log.String())[0])
	require.NoError(t, err)

	require.ErrorContains(t, p.Stop(t.Context()), "the script did not end when asked and was killed")
	require.Eventually(t, func() bool { return processGone(grandchild) }, poll.Deadline, pollEvery)
	require.True(t, processGone(p.cmd.Process.Pid))
}

func TestProcess_whatTheChildLeavesBehindIsKilled(t *testing.T) {
	t.Parallel()
	p, log := startShell(t, `trap 'exit 0' TERM; sleep 600 & echo "$! ready"; while :; do sleep 0.05; done`, poll.Deadline, 0)
	left, err := strconv.Atoi(strings.Fields(log.String())[0])
	require.NoError(t, err)
	require.NoError(t, p.Stop(t.Context()))
	require.Eventually(t, func() bool { return processGone(left) }, poll.Deadline, pollEvery)
}

func TestProcess_stopGivesUpWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	p, _ := startShell(t, `trap '' TERM; echo ready; while :; do sleep 0.05; done`, time.Hour, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, p.Stop(ctx), "was killed")
}

func TestProcess_anEndNobodyAskedForIsSeen(t *testing.T) {
	t.Parallel()
	p, err := Start(shell("echo one; echo 'the reason' >&2; exit 3"))
	require.NoError(t, err)
	select {
	case <-p.Done():
	case <-time.After(poll.Deadline):
		t.Fatal("the end of the child was not noticed")
	}
	require.EqualError(t, p.Err(), "the script ended by itself (exit status 3); its last lines:\none\nthe reason")
}

func TestProcess_wait(t *testing.T) {
	t.Parallel()
	run := func(script string) *Process {
		p, err := Start(shell(script))
		require.NoError(t, err)
		return p
	}
	require.NoError(t, run("exit 0").Wait(t.Context()))
	require.EqualError(t, run("echo why; exit 2").Wait(t.Context()), "the script failed (exit status 2); its last lines:\nwhy")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	hung := run("sleep 600")
	require.ErrorIs(t, hung.Wait(ctx), context.Canceled)
	require.True(t, processGone(hung.cmd.Process.Pid))
}

func TestTranscript_keepsWholeLinesOfTheEnd(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	kept := &outputTail{log: &log}
	for i := range 2000 {
		_, _ = kept.Write([]byte("line " + strconv.Itoa(i) + "\n"))
	}
	lines := strings.Split(kept.lastLines(), "\n")
	require.Equal(t, "line 1999", lines[len(lines)-1])
	require.Regexp(t, `^line \d{4}$`, lines[0])
	require.Equal(t, 2000, strings.Count(log.String(), "\n"), "the log gets everything")
}
