package dev

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"despacho/internal/filelock"
)

// buildLock is a file lock that keeps a second process from doing the same work.
type buildLock struct {
	// file is what is locked, in the directory that the work fills.
	file string
	// what is the name of the work's result in messages.
	what     string
	interval time.Duration
	progress func(string)
}

// take waits for the lock. The kernel releases it when its holder dies.
func (l buildLock) take(ctx context.Context) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(l.file), 0o755); err != nil {
		return nil, fmt.Errorf("a place for %s: %w", l.what, err)
	}
	began := time.Now()
	lastReport := began.Add(-l.interval)
	release, err = filelock.Wait(ctx, l.file, func() {
		if time.Since(lastReport) >= l.interval {
			lastReport = time.Now()
			l.progress(fmt.Sprintf("another process is getting %s: waiting for it, %s", l.what, elapsed(began)))
		}
	})
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("locking the place of %s: %w", l.what, err)
	}
	return release, err
}

// LockFile waits until no other process has the file locked. what is the name of the work in
// messages; progress is called while it waits.
func LockFile(ctx context.Context, file, what string, progress func(string)) (release func(), err error) {
	return buildLock{file: file, what: what, interval: progressInterval, progress: progress}.take(ctx)
}
