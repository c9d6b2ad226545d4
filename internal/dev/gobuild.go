package dev

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// temporalModule is the go.mod that Temporal's programs are compiled with.
//
//go:embed temporal.mod
var temporalModule []byte

// goBuild compiles programs in a module of their own.
type goBuild struct {
	// what is the name of the programs in messages.
	what string
	// module is the go.mod.
	module []byte
	// packages are the programs: packages of required modules, or the names of files.
	packages []string
	// files are written beside the go.mod: name → content.
	files map[string][]byte
	// size is roughly how many packages they consist of; the compiler does not report it.
	size     int
	interval time.Duration
	progress func(string)
}

// into leaves the programs in directory, which must be absolute: `go install` takes no other.
func (b goBuild) into(ctx context.Context, directory string) error {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("the `go` command, which compiles %s, is not on PATH", b.what)
	}
	if err := b.writeModule(directory); err != nil {
		return err
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

func (b goBuild) writeModule(directory string) error {
	errs := []error{os.WriteFile(filepath.Join(directory, "go.mod"), b.module, 0o600)}
	for name, content := range b.files {
		errs = append(errs, os.WriteFile(filepath.Join(directory, name), content, 0o600))
	}
	return errors.Join(errs...)
}

// buildEnv is our environment without the settings that make sense for the caller's own build
// alone: flags such as -mod=vendor, a workspace or another target would break or misdirect this
// one.
func buildEnv(gobin string) []string {
	return append(os.Environ(),
		"GOBIN="+gobin,
		"CGO_ENABLED=0",
		// -mod=mod: the module leaves out the indirect requirements and go.sum, which go then fills
		// in, checked against the checksum database as for `go install` of a version.
		"GOFLAGS=-buildvcs=false -mod=mod",
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
	// The package of files that are named has no path.
	linking := w.latest == "command-line-arguments" || slices.Contains(w.build.packages, w.latest)
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
