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

func (d directory) prepare() error { return makeDirectories(string(d), syncFolder) }

// makeDirectories creates a directory and those above it that are missing, and has their names
// written to the disk: a photo that is synced in a directory without a name is lost in a power cut.
func makeDirectories(path string, sync func(path string) error) error {
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	above := filepath.Dir(path)
	if err := makeDirectories(above, sync); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o750); err != nil {
		// Another process may have made it meanwhile; a link that leads nowhere is no directory.
		if info, statErr := os.Stat(path); statErr != nil || !info.IsDir() {
			return err
		}
	}
	return sync(above)
}

// write writes a temporary file and renames it, so that a full disk or a crash leaves no partial
// photo. Content and name are on the disk when it returns: the row that names the photo, which is
// written next, outlives a power cut.
func (d directory) write(_ context.Context, path string, content []byte) error {
	if err := d.makeFolder(path); err != nil {
		return err
	}
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
	return syncFolder(filepath.Dir(d.path(path)))
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

// makeFolder creates the folder of a path, if it has one. The directory itself must be there: the
// one that a missing disk is mounted to would be filled otherwise.
func (d directory) makeFolder(path string) error {
	folder := filepath.Dir(d.path(path))
	if folder == filepath.Clean(string(d)) {
		return nil
	}
	err := os.Mkdir(folder, 0o750)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return syncFolder(string(d))
}

func (d directory) open(_ context.Context, path string) (*File, error) {
	file, err := os.Open(d.path(path))
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &File{ReadSeekCloser: file, Modified: info.ModTime()}, nil
}

func (d directory) remove(_ context.Context, path string) error {
	return ignoreMissing(os.Remove(d.path(path)))
}

// move sets the time first: a photo that a crash leaves behind in between counts as new.
func (d directory) move(_ context.Context, from, to string, now time.Time) error {
	if err := d.makeFolder(to); err != nil {
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
