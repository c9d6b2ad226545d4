package dev

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// installation is programs that one process puts into a directory, for all that run them.
type installation struct {
	// what is the name of the programs in messages, name that of the lock and of the directory that
	// they are made in.
	what, name string
	// binDir is absolute: `go install` takes no other.
	binDir string
	// programs are their paths, by the names that they are made under.
	programs map[string]string
	interval time.Duration
	progress func(string)
}

func (i installation) complete() bool {
	for _, path := range i.programs {
		if !isProgram(path) {
			return false
		}
	}
	return true
}

// ensure has obtain make the programs, unless they are there. They are made in a directory beside
// their final place and renamed, so that no process runs half of one.
func (i installation) ensure(ctx context.Context, obtain func(ctx context.Context, workDir string) error) error {
	if i.complete() {
		return nil
	}
	lock := buildLock{file: filepath.Join(i.binDir, "."+i.name+".lock"), what: i.what, interval: i.interval, progress: i.progress}
	release, err := lock.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	if i.complete() { // another process got them meanwhile
		return nil
	}
	workDir, err := os.MkdirTemp(i.binDir, "."+i.name+"-")
	if err != nil {
		return fmt.Errorf("a place for %s: %w", i.what, err)
	}
	defer os.RemoveAll(workDir)
	if err := obtain(ctx, workDir); err != nil {
		return err
	}
	for made, path := range i.programs {
		if err := os.Rename(filepath.Join(workDir, made), path); err != nil {
			return fmt.Errorf("putting %s in place: %w", i.what, err)
		}
	}
	i.progress(i.what + " is ready in " + i.binDir)
	return nil
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
