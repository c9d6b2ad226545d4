package photos

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// directory is a backend on a disk.
type directory string

func (d directory) path(path string) string {
	return filepath.Join(string(d), filepath.FromSlash(path))
}

func (d directory) prepare() error { return os.MkdirAll(string(d), 0o750) }

// write writes a temporary file and renames it, so that a full disk or a crash leaves no partial
// photo. Content and name are on the disk when it returns: the row that names the photo, which is
// written next, outlives a power cut.
func (d directory) write(_ context.Context, path string, content []byte) error {
	temporary, err := os.CreateTemp(string(d), uploadPrefix+"*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), d.path(path)); err != nil {
		return err
	}
	return syncFolder(string(d))
}

// syncFolder has the names in a folder written to the disk. Some network file systems cannot be
// asked to and answer EINVAL or ENOTSUP; their servers decide when names are written.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	if err = folder.Sync(); errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, folder.Close())
}

func (d directory) open(_ context.Context, path string) (*File, error) {
	content, err := os.Open(d.path(path))
	if err != nil {
		return nil, err
	}
	info, err := content.Stat()
	if err != nil {
		return nil, errors.Join(err, content.Close())
	}
	return &File{ReadSeekCloser: content, Modified: info.ModTime()}, nil
}

func (d directory) remove(_ context.Context, path string) error {
	return ignoreMissing(os.Remove(d.path(path)))
}

// move sets the time first: a photo that a crash leaves behind in between counts as new.
func (d directory) move(_ context.Context, from, to string, now time.Time) error {
	// The directory itself must be there: the one that a missing disk is mounted to would be filled.
	if err := os.Mkdir(filepath.Dir(d.path(to)), 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := os.Chtimes(d.path(from), now, now); err != nil {
		return ignoreMissing(err)
	}
	return ignoreMissing(os.Rename(d.path(from), d.path(to)))
}

func (d directory) list(_ context.Context, folder string) (files []storedFile, err error) {
	entries, err := os.ReadDir(d.path(folder))
	if err != nil {
		return nil, ignoreMissing(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // removed meanwhile, or a folder
		}
		files = append(files, storedFile{name: entry.Name(), size: info.Size(), modified: info.ModTime()})
	}
	return files, nil
}

func (d directory) checkWritable(context.Context) error {
	file, err := os.CreateTemp(string(d), uploadPrefix+"*")
	if err != nil {
		return err
	}
	_, err = file.WriteString("x")
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
