package photos

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// quarantineDir is the directory, in that of the store, for photos that the database does not know.
	quarantineDir = "quarantine"
	// sweepBatch is how many photos are looked up at once.
	sweepBatch = 500
)

// Rules say what a sweep may do, by the age of files.
type Rules struct {
	// Grace is how long after a photo was stored its delivery may still be written.
	Grace time.Duration
	// Quarantine is how long an unknown photo is kept aside before it is deleted; 0 keeps it.
	Quarantine time.Duration
}

// Lookup returns those of the given photos that a delivery refers to, and those whose order was
// erased. The database does not know the others.
type Lookup func(ctx context.Context, names []string) (referenced, erased []string, err error)

// Swept is the outcome of a sweep. It counts photos; the thumbnail of each goes with it.
type Swept struct {
	// Quarantined were put aside, Returned put back because the database knows them again.
	Quarantined, Returned int
	// Deleted were in quarantine for long enough, or belonged to an erased order.
	Deleted int
	// Leftovers are the files of interrupted uploads, which were deleted.
	Leftovers int
	// Unknown is how many of Photos, those that were looked up outside of the quarantine, the database
	// does not know. If that is most of them, the sweep is Refused: it is the database that is wrong.
	Unknown, Photos int
	Refused         bool
	// InQuarantine is how many photos are there after the sweep.
	InQuarantine int
}

// Sweep looks for files that nothing refers to. Those of interrupted uploads are deleted. A photo that
// the database does not know is put into quarantine, and deleted if the database still does not know
// it when its time there is over: an empty database, another one or an older copy would otherwise
// cost every photo. For the same reason a sweep that finds most photos unknown moves and deletes none.
func (s Store) Sweep(ctx context.Context, now time.Time, rules Rules, lookup Lookup) (Swept, error) {
	var swept Swept
	stored, err := s.list(s.Dir)
	if err != nil {
		return swept, err
	}
	aside, err := s.list(s.quarantine())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return swept, err
	}
	old := func(file os.FileInfo) bool { return file.ModTime().Before(now.Add(-rules.Grace)) }
	names := stored.photosThat(old)
	swept.Photos, swept.InQuarantine = len(names), len(aside.photos)
	known, err := lookUp(ctx, append(slices.Clone(names), aside.photosThat(anyAge)...), lookup)
	if err != nil {
		return swept, err
	}
	var unknown []string
	for _, name := range names {
		switch known[name] {
		case photoUnknown:
			unknown = append(unknown, name)
		case photoErased:
			err = errors.Join(err, count(&swept.Deleted, s.Remove(name)))
		}
	}
	swept.Unknown, swept.Refused = len(unknown), 2*len(unknown) > len(names)
	if !swept.Refused {
		for _, name := range unknown {
			err = errors.Join(err, count(&swept.Quarantined, s.putAside(name, now)))
		}
	}
	expired := func(file os.FileInfo) bool {
		return rules.Quarantine > 0 && file.ModTime().Before(now.Add(-rules.Quarantine))
	}
	for name, file := range aside.photos {
		switch {
		case known[name] == photoReferenced:
			err = errors.Join(err, count(&swept.Returned, s.putBack(name)))
		case known[name] == photoErased, !swept.Refused && expired(file):
			err = errors.Join(err, count(&swept.Deleted, s.Remove(name)))
		}
	}
	for _, name := range leftovers(stored, aside, old) {
		err = errors.Join(err, count(&swept.Leftovers, s.remove(name)))
	}
	if aside, listErr := s.list(s.quarantine()); listErr == nil {
		swept.InQuarantine = len(aside.photos)
	}
	return swept, err
}

// count adds one to a counter unless there is an error.
func count(counter *int, err error) error {
	if err == nil {
		*counter++
	}
	return err
}

// listing is the files of a directory by their names.
type listing struct{ photos, thumbnails, uploads map[string]os.FileInfo }

func (s Store) list(dir string) (listing, error) {
	l := listing{photos: map[string]os.FileInfo{}, thumbnails: map[string]os.FileInfo{}, uploads: map[string]os.FileInfo{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return l, err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue // removed meanwhile
		}
		switch name := entry.Name(); {
		case strings.HasPrefix(name, uploadPrefix):
			l.uploads[name] = info
		case strings.HasSuffix(name, thumbnailEnding):
			l.thumbnails[name] = info
		case IsName(name):
			l.photos[name] = info
		}
	}
	return l, nil
}

func anyAge(os.FileInfo) bool { return true }

// photosThat returns the names of the photos whose file is as wanted.
func (l listing) photosThat(wanted func(os.FileInfo) bool) (names []string) {
	for name, file := range l.photos {
		if wanted(file) {
			names = append(names, name)
		}
	}
	return names
}

// leftovers are the old files of interrupted uploads: unfinished ones, and thumbnails, which are
// written first, without their photo.
func leftovers(stored, aside listing, old func(os.FileInfo) bool) (names []string) {
	for name, file := range stored.uploads {
		if old(file) {
			names = append(names, name)
		}
	}
	owners := map[string]bool{}
	for _, l := range []listing{stored, aside} {
		for name := range l.photos {
			owners[ThumbnailName(name)] = true
		}
	}
	for name, file := range stored.thumbnails {
		if old(file) && !owners[name] {
			names = append(names, name)
		}
	}
	return names
}

// knowledge is what the database knows of a photo.
type knowledge int

const (
	photoUnknown knowledge = iota
	photoReferenced
	photoErased
)

func lookUp(ctx context.Context, names []string, lookup Lookup) (map[string]knowledge, error) {
	known := map[string]knowledge{}
	for batch := range slices.Chunk(names, sweepBatch) {
		referenced, erased, err := lookup(ctx, batch)
		if err != nil {
			return nil, err
		}
		for _, name := range erased {
			known[name] = photoErased
		}
		for _, name := range referenced {
			known[name] = photoReferenced
		}
	}
	return known, nil
}

func (s Store) quarantine() string { return filepath.Join(s.Dir, quarantineDir) }

// putAside moves a photo into quarantine. Its time there is the file's, which is set first: a photo
// that a crash leaves behind in between counts as new.
func (s Store) putAside(name string, now time.Time) error {
	if err := os.MkdirAll(s.quarantine(), 0o750); err != nil {
		return err
	}
	if err := os.Chtimes(filepath.Join(s.Dir, name), now, now); err != nil {
		return ignoreMissing(err)
	}
	return s.move(name, s.Dir, s.quarantine())
}

// putBack moves a photo out of quarantine.
func (s Store) putBack(name string) error { return s.move(name, s.quarantine(), s.Dir) }

// move moves a photo after its thumbnail: one without its photo would be a leftover. A file that is
// not there was moved by another process.
func (s Store) move(name, from, to string) error {
	for _, file := range []string{ThumbnailName(name), name} {
		if err := ignoreMissing(os.Rename(filepath.Join(from, file), filepath.Join(to, file))); err != nil {
			return err
		}
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
