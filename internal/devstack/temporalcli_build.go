package devstack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// temporalCLIPackages is how many packages the CLI is made of, roughly; the compiler does not say.
const temporalCLIPackages = 1300

// compile builds the CLI from Go modules into directory.
func (s cliSource) compile(ctx context.Context, directory string) error {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return errors.New("the `go` command is not on PATH; install Go, or the Temporal CLI (https://docs.temporal.io/cli)")
	}
	s.progress("compiling the Temporal CLI from Go modules: this takes minutes, once")
	began, watch := time.Now(), &buildWatch{}
	build, err := Start(Command{
		Name: "go install " + temporalCLIPackage,
		Path: goCommand,
		Args: []string{"install", "-v", temporalCLIPackage},
		Dir:  directory,
		Env:  buildEnv(directory),
		Log:  watch,
	})
	if err != nil {
		return err
	}
	stop := reportEvery(s.interval, func() {
		s.progress(fmt.Sprintf("compiling the Temporal CLI: %s, %s", watch, elapsed(began)))
	})
	defer stop()
	return build.Wait(ctx)
}

// buildEnv is our environment without the settings that make sense for the caller's own build alone: flags such as
// -mod=vendor, a workspace or another target would break or misdirect this one.
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

// buildWatch reads the output of `go install -v`: one line for every module fetched and every package compiled.
type buildWatch struct {
	mu                sync.Mutex
	partial           []byte
	modules, packages int
	latest            string
}

func (w *buildWatch) Write(output []byte) (int, error) {
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

func (w *buildWatch) read(line string) {
	if module, ok := strings.CutPrefix(line, "go: downloading "); ok {
		w.modules++
		w.latest = module
	} else if line != "" && !strings.ContainsAny(line, " \t") {
		w.packages++
		w.latest = line
	}
}

// String says how far the build is.
func (w *buildWatch) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.modules == 0 && w.packages == 0:
		return "starting"
	case w.packages == 0:
		return fmt.Sprintf("%d modules fetched (%s)", w.modules, w.latest)
	case strings.HasPrefix(temporalCLIPackage, w.latest+"@"):
		return "linking"
	default:
		return fmt.Sprintf("%d of about %d packages (%s)", w.packages, temporalCLIPackages, w.latest)
	}
}
