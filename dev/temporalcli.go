package dev

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	// temporalCLIPackage is what is compiled where nothing can be downloaded: the newest CLI that
	// `go install` accepts.
	temporalCLIPackage  = "github.com/temporalio/cli/cmd/temporal@v1.5.1"
	temporalCLIPackages = 1300
	// temporalCLI is its name in messages.
	temporalCLI = "the Temporal CLI"
	// temporalDownloads is where Temporal's own SDKs get their dev server from.
	temporalDownloads = "https://temporal.download"
	// progressInterval is the interval of progress messages.
	progressInterval = 5 * time.Second
)

// FindTemporalCLI returns the path of the Temporal CLI: the one on PATH, else binDir/temporal,
// which is downloaded or, where the internet is closed, compiled from Go modules. progress is
// called with what is going on, at least every five seconds.
func FindTemporalCLI(ctx context.Context, binDir string, progress func(string)) (string, error) {
	return cliSource{
		binDir:      binDir,
		downloads:   temporalDownloads,
		infoTimeout: infoTimeout,
		interval:    progressInterval,
		progress:    progress,
	}.find(ctx)
}

// cliSource is where the CLI may come from; tests point it at servers of their own.
type cliSource struct {
	binDir    string
	downloads string
	// infoTimeout bounds the request that asks which archive to download.
	infoTimeout time.Duration
	interval    time.Duration
	progress    func(string)
}

func (s cliSource) find(ctx context.Context) (string, error) {
	if path, err := exec.LookPath("temporal"); err == nil {
		return filepath.Abs(path)
	}
	binDir, err := filepath.Abs(s.binDir)
	if err != nil {
		return "", err
	}
	path := filepath.Join(binDir, "temporal")
	return path, installation{
		what: temporalCLI, name: "temporal", binDir: binDir, programs: map[string]string{"temporal": path}, interval: s.interval, progress: s.progress,
	}.ensure(ctx, s.obtain)
}

// obtain downloads the CLI or compiles it.
func (s cliSource) obtain(ctx context.Context, workDir string) error {
	s.progress("the Temporal CLI is not on PATH: looking for a prebuilt one")
	program := filepath.Join(workDir, "temporal")
	downloadErr := s.download(ctx, program)
	if downloadErr == nil {
		downloadErr = tryRunning(ctx, program)
	}
	if downloadErr == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.progress(fmt.Sprintf("no prebuilt Temporal CLI (%v)", downloadErr))
	build := goBuild{
		what: temporalCLI, packages: []string{temporalCLIPackage}, size: temporalCLIPackages, interval: s.interval, progress: s.progress,
	}
	if err := build.into(ctx, workDir); err != nil {
		return fmt.Errorf("the Temporal CLI is not on PATH, could not be downloaded (%w) and could not be compiled: %w", downloadErr, err)
	}
	return nil
}

// tryRunning fails for a program that was built for another platform.
func tryRunning(ctx context.Context, program string) error {
	if output, err := exec.CommandContext(ctx, program, "--version").CombinedOutput(); err != nil {
		return fmt.Errorf("the program obtained does not run: %w: %s", err, output)
	}
	return nil
}

// Every calls report at each interval until stop is called.
func Every(interval time.Duration, report func()) (stop func()) {
	ticker := time.NewTicker(interval)
	finished, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ticker.C:
				report()
			case <-finished:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(finished)
		<-ended
	}
}

func elapsed(since time.Time) time.Duration { return time.Since(since).Round(time.Second) }
