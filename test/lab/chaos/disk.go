package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// disk is the photos' directory, which can be made full. Where a small tmpfs can be mounted, a file
// fills it, so that a write fails half way with ENOSPC; otherwise the directory is replaced by a
// plain file, so that nothing can be written into it.
type disk struct {
	dir     string
	mounted bool
}

// diskSize is more than all the photos of a run.
const diskSize = "64m"

func newDisk(ctx context.Context, dir string) (*disk, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	mount := exec.CommandContext(ctx, "mount", "-t", "tmpfs", "-o", "size="+diskSize, "despacho-chaos", dir)
	return &disk{dir: dir, mounted: mount.Run() == nil}, nil
}

// describe says how the disk is made full.
func (d *disk) describe() string {
	if d.mounted {
		return "a tmpfs of " + diskSize + " that a file fills up"
	}
	return "a directory that gives way to a plain file (no file system may be mounted here)"
}

func (d *disk) fillerFile() string { return filepath.Join(d.dir, "filler") }
func (d *disk) asideDir() string   { return d.dir + ".away" }

func (d *disk) fill() error {
	if !d.mounted {
		return errors.Join(os.Rename(d.dir, d.asideDir()), os.WriteFile(d.dir, nil, 0o600))
	}
	file, err := os.Create(d.fillerFile())
	if err != nil {
		return err
	}
	defer file.Close()
	block := make([]byte, 1<<20)
	for size := len(block); size > 0; {
		switch _, err := file.Write(block[:size]); {
		case errors.Is(err, syscall.ENOSPC):
			size /= 2 // until not one byte fits
		case err != nil:
			return err
		}
	}
	return nil
}

func (d *disk) free() error {
	if !d.mounted {
		return errors.Join(os.Remove(d.dir), os.Rename(d.asideDir(), d.dir))
	}
	return os.Remove(d.fillerFile())
}

func (d *disk) close(ctx context.Context) error {
	if !d.mounted {
		return nil
	}
	if output, err := exec.CommandContext(ctx, "umount", d.dir).CombinedOutput(); err != nil {
		return fmt.Errorf("umount %s: %w: %s", d.dir, err, output)
	}
	return nil
}
