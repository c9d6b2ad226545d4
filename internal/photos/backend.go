package photos

import (
	"context"
	"io"
	"time"
)

// backend is where files are stored: a directory or a bucket. It knows nothing of photos. The path
// of a file is its name, or the name of a folder, a slash and its name.
type backend interface {
	// prepare is called at start-up, so that one that can never be used is detected there.
	prepare() error
	// write stores a file in whole or not at all.
	write(ctx context.Context, path string, content []byte) error
	// open returns fs.ErrNotExist for a missing file.
	open(ctx context.Context, path string) (*File, error)
	// remove deletes a file. A missing one is not an error.
	remove(ctx context.Context, path string) error
	// move gives a file another path. Its time becomes now, or the server's own. A missing file is not
	// an error: another process has moved it.
	move(ctx context.Context, from, to string, now time.Time) error
	// list returns the files of a folder, or those outside of any folder. A missing folder has none.
	list(ctx context.Context, folder string) ([]storedFile, error)
	// checkWritable stores a small file and deletes it, or knows that it would work.
	checkWritable(ctx context.Context) error
}

// storedFile is a file as it is listed.
type storedFile struct {
	name     string
	size     int64
	modified time.Time
}

// File is an open photo or thumbnail.
type File struct {
	io.ReadSeekCloser
	Modified time.Time
}

// newBackend makes the backend of a location, without using it.
func newBackend(location Location, timeout time.Duration) (backend, error) {
	if location.Bucket == "" {
		return directory(location.Directory), nil
	}
	return newBucket(location, timeout)
}
