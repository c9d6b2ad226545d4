package photos

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	// quarantine is the folder for photos that the database does not know.
	quarantine = "quarantine"
	// sweepBatch is how many photos are looked up at once.
	sweepBatch = 500
)

// SweepRules say what a sweep may do, by the age of files.
type SweepRules struct {
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

// Sweep looks for files that nothing refers to. Those of interrupted uploads are deleted. A photo
// that the database does not know is put into quarantine, and deleted if the database still does
// not know it when its time there is over: an empty database, another one or an older copy would
// otherwise cost every photo. For the same reason a sweep that finds most photos unknown moves and
// deletes none.
func (s Store) Sweep(ctx context.Context, now time.Time, rules SweepRules, lookup Lookup) (Swept, error) {
	var swept Swept
	var errs []error
	for _, p := range s.backends() {
		errs = append(errs, swept.sweep(ctx, p, now, rules, lookup))
	}
	return swept, errors.Join(errs...)
}

// sweep sweeps one backend and adds what it did.
func (s *Swept) sweep(ctx context.Context, p backend, now time.Time, rules SweepRules, lookup Lookup) error {
	stored, err := listFolder(ctx, p, "")
	if err != nil {
		return err
	}
	aside, err := listFolder(ctx, p, quarantine)
	if err != nil {
		return err
	}
	names := slices.Concat(slices.Collect(maps.Keys(stored.photos)), slices.Collect(maps.Keys(aside.photos)))
	known, err := lookUp(ctx, names, lookup)
	if err != nil {
		return err
	}
	old := func(file storedFile) bool { return file.modified.Before(now.Add(-rules.Grace)) }
	refused, err := s.sweepStored(ctx, p, now, stored, known, old)
	err = errors.Join(err, s.sweepQuarantine(ctx, p, now, rules, aside, known, refused))
	for _, name := range leftovers(stored, aside, old) {
		err = errors.Join(err, count(&s.Leftovers, removeFile(ctx, p, name)))
	}
	if aside, listErr := listFolder(ctx, p, quarantine); listErr == nil {
		s.InQuarantine += len(aside.photos)
	}
	return err
}

// sweepStored deletes the photos of erased orders, however new the file is: a tool may have copied
// it from elsewhere. It puts old unknown photos into quarantine unless they are most of all.
func (s *Swept) sweepStored(ctx context.Context, p backend, now time.Time, stored listing,
	known map[string]photoState, old func(storedFile) bool,
) (refused bool, err error) {
	var unknown []string
	photos := 0
	for name, file := range stored.photos {
		if old(file) {
			photos++
		}
		switch {
		case known[name] == photoErased:
			err = errors.Join(err, count(&s.Deleted, removePhoto(ctx, p, name)))
		case known[name] == photoUnknown && old(file):
			unknown = append(unknown, name)
		}
	}
	refused = 2*len(unknown) > photos
	s.Unknown, s.Photos, s.Refused = s.Unknown+len(unknown), s.Photos+photos, s.Refused || refused
	if refused {
		return true, err
	}
	for _, name := range unknown {
		err = errors.Join(err, count(&s.Quarantined, movePhoto(ctx, p, name, "", quarantine, now)))
	}
	return false, err
}

// sweepQuarantine puts the photos back that the database knows again. It deletes those of erased
// orders, and those whose time in quarantine is over unless the sweep is refused.
func (s *Swept) sweepQuarantine(ctx context.Context, p backend, now time.Time, rules SweepRules, aside listing,
	known map[string]photoState, refused bool,
) (err error) {
	for name, file := range aside.photos {
		expired := rules.Quarantine > 0 && file.modified.Before(now.Add(-rules.Quarantine))
		switch {
		case known[name] == photoReferenced:
			err = errors.Join(err, count(&s.Returned, movePhoto(ctx, p, name, quarantine, "", now)))
		case known[name] == photoErased, !refused && expired:
			err = errors.Join(err, count(&s.Deleted, removePhoto(ctx, p, name)))
		}
	}
	return err
}

// count adds one to a counter unless there is an error.
func count(counter *int, err error) error {
	if err == nil {
		*counter++
	}
	return err
}

// listing is the files of a folder by their names.
type listing struct{ photos, thumbnails, uploads map[string]storedFile }

func listFolder(ctx context.Context, p backend, folder string) (listing, error) {
	l := listing{photos: map[string]storedFile{}, thumbnails: map[string]storedFile{}, uploads: map[string]storedFile{}}
	files, err := p.list(ctx, folder)
	for _, file := range files {
		switch name := file.name; {
		case strings.HasPrefix(name, uploadPrefix):
			l.uploads[name] = file
		case strings.HasSuffix(name, thumbnailEnding):
			l.thumbnails[name] = file
		case IsName(name):
			l.photos[name] = file
		}
	}
	return l, err
}

// leftovers are the old files of interrupted uploads: unfinished ones, and thumbnails, which are
// written first, without their photo.
func leftovers(stored, aside listing, old func(storedFile) bool) (names []string) {
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

// photoState is what the database knows of a photo.
type photoState int

const (
	photoUnknown photoState = iota
	photoReferenced
	photoErased
)

func lookUp(ctx context.Context, names []string, lookup Lookup) (map[string]photoState, error) {
	known := map[string]photoState{}
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

// quarantined is the path of a file in quarantine.
func quarantined(name string) string { return path.Join(quarantine, name) }

// movePhoto moves a photo from one folder to another, after its thumbnail: one without its photo
// would be a leftover. Its time becomes that of the move.
func movePhoto(ctx context.Context, p backend, name, from, to string, now time.Time) error {
	for _, file := range []string{ThumbnailName(name), name} {
		if err := p.move(ctx, path.Join(from, file), path.Join(to, file), now); err != nil {
			return err
		}
	}
	return nil
}
