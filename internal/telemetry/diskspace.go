//go:build linux || darwin

package telemetry

import (
	"os"
	"syscall"
)

// diskSpace is what a process without privileges may still write, and the size of the disk.
func diskSpace(directory string) (free, size uint64, err error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(directory, &disk); err != nil {
		return 0, 0, &os.PathError{Op: "statfs", Path: directory, Err: err}
	}
	block := uint64(disk.Bsize)
	return uint64(disk.Bavail) * block, uint64(disk.Blocks) * block, nil
}
