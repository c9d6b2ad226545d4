package dev

import (
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	// temporalCLIVersion is the Temporal CLI that is downloaded.
	temporalCLIVersion = "v1.9.1"
	// temporalDev is its name in messages.
	temporalDev = "the Temporal development server"
	// temporalDevPackages is roughly how many packages are compiled where nothing can be downloaded.
	temporalDevPackages = 1800
	// temporalDownloads is where Temporal's own SDKs get their dev server from.
	temporalDownloads = "https://temporal.download"
	// progressInterval is the interval of progress messages.
	progressInterval = 5 * time.Second
)

// temporalDevSource is the program that is compiled. It is not the CLI, which from version 1.6 on
// requires a module that only a clone of its repository has.
//
//go:embed devserver/main.go
var temporalDevSource []byte

// FindTemporalDev returns the path of a program that takes the arguments of `temporal server
// start-dev`: the Temporal CLI on PATH, else the program in binDir, which is the CLI, downloaded,
// or, where the internet is closed, the development server compiled from Go modules. progress is
// called with what is going on, at least every five seconds.
func FindTemporalDev(ctx context.Context, binDir string, progress func(string)) (string, error) {
	return temporalDevFinder{
		binDir:      binDir,
		downloads:   temporalDownloads,
		infoTimeout: infoTimeout,
		interval:    progressInterval,
		progress:    progress,
	}.find(ctx)
}

// temporalDevFinder is where the program may come from; tests point it at servers of their own.
type temporalDevFinder struct {
	binDir    string
	downloads string
	// infoTimeout bounds the request that asks which archive to download.
	infoTimeout time.Duration
	interval    time.Duration
	progress    func(string)
}

func (s temporalDevFinder) find(ctx context.Context) (string, error) {
	if path, err := exec.LookPath("temporal"); err == nil {
		return filepath.Abs(path)
	}
	binDir, err := filepath.Abs(s.binDir)
	if err != nil {
		return "", err
	}
	// The version is part of the name: a program of another version is not taken for this one.
	path := filepath.Join(binDir, "temporal-dev-"+TemporalServerVersion)
	return path, installation{
		what: temporalDev, name: "temporal-dev", binDir: binDir, programs: map[string]string{"temporal": path},
		interval: s.interval, progress: s.progress,
	}.ensure(ctx, s.obtain)
}

// obtain downloads the CLI or compiles the development server.
func (s temporalDevFinder) obtain(ctx context.Context, workDir string) error {
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
		what: temporalDev, module: temporalModule, packages: []string{"temporal.go"},
		files: map[string][]byte{"temporal.go": temporalDevSource},
		size:  temporalDevPackages, interval: s.interval, progress: s.progress,
	}
	if err := build.into(ctx, workDir); err != nil {
		return fmt.Errorf("the Temporal CLI is not on PATH and could not be downloaded (%w), "+
			"and its development server could not be compiled: %w", downloadErr, err)
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
