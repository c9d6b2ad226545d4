package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// goBuild compiles programs from other Go modules.
type goBuild struct {
	// what is the name of the programs in messages.
	what string
	// packages are the programs, with their versions.
	packages []string
	// size is roughly how many packages they consist of; the compiler does not report it.
	size     int
	interval time.Duration
	progress func(string)
}

// into leaves the programs in directory, which must be absolute: `go install` takes no other.
func (b goBuild) into(ctx context.Context, directory string) error {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return errors.New("the `go` command is not on PATH; install Go, or the Temporal CLI (https://docs.temporal.io/cli)")
	}
	b.progress(fmt.Sprintf("compiling %s from Go modules: this takes minutes, once", b.what))
	began, watch := time.Now(), &buildProgress{build: b}
	build, err := Start(Command{
		Name: "go install " + strings.Join(b.packages, " "),
		Path: goCommand,
		Args: append([]string{"install", "-v"}, b.packages...),
		Dir:  directory,
		Env:  buildEnv(directory),
		Log:  watch,
	})
	if err != nil {
		return err
	}
	stop := Every(b.interval, func() {
		b.progress(fmt.Sprintf("compiling %s: %s, %s", b.what, watch, elapsed(began)))
	})
	defer stop()
	return build.Wait(ctx)
}

// buildEnv is our environment without the settings that make sense for the caller's own build
// alone: flags such as -mod=vendor, a workspace or another target would break or misdirect this
// one.
func buildEnv(gobin string) []string {
	return append(os.Environ(),
		"GOBIN="+gobin,
		"CGO_ENABLED=0",
		"GOFLAGS=-buildvcs=false", // not empty: that would let `go env -w` settings in
		"GOWORK=off",
		"GO111MODULE=on",
		"GOOS="+runtime.GOOS,
		"GOARCH="+runtime.GOARCH,
	)
}

// buildProgress reads the output of `go install -v`: one line for every module fetched and every
// package compiled.
type buildProgress struct {
	build goBuild

	mu                sync.Mutex
	partial           []byte
	modules, packages int
	latest            string
}

func (w *buildProgress) Write(output []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.partial = append(w.partial, output...)
	for {
		line, rest, found := bytes.Cut(w.partial, []byte("\n"))
		if !found {
			return len(output), nil
		}
		w.partial = rest
		w.read(string(line))
	}
}

func (w *buildProgress) read(line string) {
	if module, ok := strings.CutPrefix(line, "go: downloading "); ok {
		w.modules++
		w.latest = module
	} else if line != "" && !strings.ContainsAny(line, " \t") {
		w.packages++
		w.latest = line
	}
}

// String says how far the build is.
func (w *buildProgress) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	linking := slices.ContainsFunc(w.build.packages, func(program string) bool { return strings.HasPrefix(program, w.latest+"@") })
	switch {
	case w.modules == 0 && w.packages == 0:
		return "starting"
	case w.packages == 0:
		return fmt.Sprintf("%d modules fetched (%s)", w.modules, w.latest)
	case linking:
		return "linking"
	default:
		return fmt.Sprintf("%d of about %d packages (%s)", w.packages, w.build.size, w.latest)
	}
}
