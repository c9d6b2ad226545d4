// Package filelock has locks between the processes of one machine.
package filelock

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// ErrHeld means that somebody else has the lock.
var ErrHeld = errors.New("the file is locked")

// pollInterval is the time between attempts: the kernel's own wait cannot be cancelled.
const pollInterval = 100 * time.Millisecond

// Try takes the lock of a file, which is made if there is none and stays when the lock is released.
// The kernel releases the lock of a process that dies.
func Try(path string) (release func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return func() { file.Close() }, nil
	}
	file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrHeld
	}
	return nil, &os.PathError{Op: "flock", Path: path, Err: err}
}

// Wait is Try that waits for as long as somebody else has the lock. waiting is called after each
// attempt.
func Wait(ctx context.Context, path string, waiting func()) (release func(), err error) {
	for {
		release, err := Try(path)
		if !errors.Is(err, ErrHeld) {
			return release, err
		}
		waiting()
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pollInterval):
		}
	}
}
