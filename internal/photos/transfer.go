package photos

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// transfersAtOnce hides how long a bucket takes for each request.
	transfersAtOnce = 8
	// transferFailures is how many photos may fail before a transfer gives up: a single bad file does
	// not stop it, an outage does.
	transferFailures = 20
)

// Transfer copies photos from one backend to another while the service uses both.
type Transfer struct {
	From, To Location
	// Timeout is how long a bucket may take to answer.
	Timeout time.Duration
	// DeleteSource deletes each photo from its old backend once the copy has been compared with it.
	DeleteSource bool
	// Lookup asks the database which photos were erased meanwhile.
	Lookup Lookup
	// Progress is called every 500 photos, and Failed with every photo that could not be transferred.
	Progress func(Transferred)
	Failed   func(name string, err error)
}

// Transferred is the outcome of a transfer, so far. It counts photos; the thumbnail of each goes
// with it.
type Transferred struct {
	// Copied were written, Present were there already.
	Copied, Present int
	// Erased were found to belong to an erased order, and are now in neither backend.
	Erased int
	// Deleted were deleted from the old backend.
	Deleted int
	// Failed could not be transferred.
	Failed int
}

// Run transfers every photo, those in quarantine to the quarantine. It can be interrupted and
// repeated: what has been copied is not copied again.
func (t Transfer) Run(ctx context.Context) (Transferred, error) {
	var done Transferred
	if t.From.Directory != "" {
		// A directory that is not there has no photos, as after a typing error.
		if _, err := os.Stat(t.From.Directory); err != nil {
			return done, err
		}
	}
	from, err := newBackend(t.From, t.Timeout)
	if err != nil {
		return done, err
	}
	to, err := newBackend(t.To, t.Timeout)
	if err != nil {
		return done, err
	}
	if err := errors.Join(to.prepare(), to.checkWritable(ctx)); err != nil {
		return done, fmt.Errorf("%s: %w", t.To, err)
	}
	if same, err := isSameBackend(ctx, from, to); err != nil || same {
		return done, cmp.Or(err, errors.New("photos are transferred from one place to another: these are the same"))
	}
	for _, folder := range []string{"", quarantine} {
		source, err := listFolder(ctx, from, folder)
		if err != nil {
			return done, fmt.Errorf("%s: %w", t.From, err)
		}
		target, err := listFolder(ctx, to, folder)
		if err != nil {
			return done, fmt.Errorf("%s: %w", t.To, err)
		}
		run := folderTransfer{Transfer: t, from: from, to: to, folder: folder, source: source, target: target, done: &done}
		for batch := range slices.Chunk(slices.Sorted(maps.Keys(source.photos)), sweepBatch) {
			if done != (Transferred{}) {
				t.Progress(done)
			}
			if err := run.transfer(ctx, batch); err != nil {
				return done, err
			}
		}
	}
	if done.Failed > 0 {
		return done, fmt.Errorf("%d photos were not transferred: repeat the command", done.Failed)
	}
	return done, nil
}

// isSameBackend reports whether a file that is written to one backend is found in the other. Two
// locations of one backend need not look alike: a path may be relative or lead over a link, a
// region may be left out. Whatever was deleted from the old backend would be gone from the new one.
func isSameBackend(ctx context.Context, from, to backend) (same bool, err error) {
	name := uploadPrefix + strings.ToLower(rand.Text())
	if err := to.write(ctx, name, []byte("x")); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, to.remove(ctx, name)) }()
	file, err := from.open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, file.Close()
}

// folderTransfer is the transfer of one folder.
type folderTransfer struct {
	Transfer
	from, to       backend
	folder         string
	source, target listing

	mu   sync.Mutex
	done *Transferred
}

// transfer copies some photos, and removes the copies of those that were erased meanwhile: an
// erasure is recorded in the database before the photo is removed from both backends, so that it
// either removes the copy or is found here.
func (t *folderTransfer) transfer(ctx context.Context, names []string) error {
	var copied []string
	err := t.each(ctx, names, func(ctx context.Context, name string) error {
		isThere, err := t.copyPhoto(ctx, name)
		if isThere {
			t.mu.Lock()
			defer t.mu.Unlock()
			copied = append(copied, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	known, err := lookUp(ctx, names, t.Lookup)
	if err != nil {
		return err
	}
	if err := t.removeErased(ctx, names, known); err != nil || !t.DeleteSource {
		return err
	}
	copied = slices.DeleteFunc(copied, func(name string) bool { return known[name] == photoErased })
	return t.each(ctx, copied, t.deleteSource)
}

// each calls fn for some photos, several at once. A photo for which it returns an error is counted
// as failed.
func (t *folderTransfer) each(ctx context.Context, names []string, fn func(ctx context.Context, name string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transfersAtOnce)
	for _, name := range names {
		group.Go(func() error {
			if err := fn(ctx, name); err != nil {
				return t.fail(ctx, name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// removeErased removes the photos of erased orders from both backends.
func (t *folderTransfer) removeErased(ctx context.Context, names []string, known map[string]photoState) error {
	for _, name := range names {
		if known[name] != photoErased {
			continue
		}
		if err := errors.Join(removePhoto(ctx, t.from, name), removePhoto(ctx, t.to, name)); err != nil {
			return err
		}
		t.done.Erased++
	}
	return nil
}

// fail counts a photo that could not be transferred, and returns an error if it is one too many.
func (t *folderTransfer) fail(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Failed(name, err)
	if t.done.Failed++; t.done.Failed >= transferFailures {
		return fmt.Errorf("%d photos could not be transferred, the last one because of: %w", t.done.Failed, err)
	}
	return nil
}

// copyPhoto copies a photo after its thumbnail, as they are stored. It returns false for one that
// is no longer there: it was removed or moved since the backend was listed.
func (t *folderTransfer) copyPhoto(ctx context.Context, name string) (isThere bool, err error) {
	thumbnail := ThumbnailName(name)
	if _, listed := t.source.thumbnails[thumbnail]; listed && !isSame(t.source.thumbnails, t.target.thumbnails, thumbnail) {
		if _, err := t.copyFile(ctx, thumbnail); err != nil {
			return false, err
		}
	}
	if isSame(t.source.photos, t.target.photos, name) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.done.Present++
		return true, nil
	}
	if isThere, err = t.copyFile(ctx, name); err != nil || !isThere {
		return false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done.Copied++
	return true, nil
}

// isSame reports whether the target has a file of the same size. Files are stored in whole, and
// never change: another size is another file under the same name, which is replaced.
func isSame(source, target map[string]storedFile, name string) bool {
	copied, there := target[name]
	return there && copied.size == source[name].size
}

// copyFile copies a file and reads the copy.
func (t *folderTransfer) copyFile(ctx context.Context, name string) (isThere bool, err error) {
	content, err := readFile(ctx, t.from, t.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := t.to.write(ctx, t.path(name), content); err != nil {
		return false, err
	}
	err = t.compare(ctx, name, content)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // erased in this moment, or moved by a sweep
	}
	return err == nil, err
}

func (t *folderTransfer) path(name string) string { return path.Join(t.folder, name) }

// compare returns an error unless the new backend has the content.
func (t *folderTransfer) compare(ctx context.Context, name string, content []byte) error {
	copied, err := readFile(ctx, t.to, t.path(name))
	if err != nil {
		return err
	}
	if !bytes.Equal(content, copied) {
		return errors.New("the copy is not the same as the photo")
	}
	return nil
}

// deleteSource deletes a photo and then its thumbnail from the old backend, if the copies are the
// same.
func (t *folderTransfer) deleteSource(ctx context.Context, name string) error {
	for _, file := range []string{name, ThumbnailName(name)} {
		content, err := readFile(ctx, t.from, t.path(file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := t.compare(ctx, file, content); err != nil {
			return err
		}
		if err := t.from.remove(ctx, t.path(file)); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done.Deleted++
	return nil
}

// readFile reads a whole file: a photo has at most 8 MiB.
func readFile(ctx context.Context, p backend, path string) ([]byte, error) {
	file, err := p.open(ctx, path)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(file)
	return content, errors.Join(err, file.Close())
}
