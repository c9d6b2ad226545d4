package photos_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/photos"
)

var rules = photos.SweepRules{Grace: 24 * time.Hour, Quarantine: 30 * 24 * time.Hour}

// database is what a database knows of photos.
type database struct {
	referenced, erased []string
}

func (d *database) lookup(_ context.Context, names []string) (referenced, erased []string, err error) {
	unknownTo := func(known []string) func(string) bool {
		return func(name string) bool { return !slices.Contains(known, name) }
	}
	return slices.DeleteFunc(slices.Clone(names), unknownTo(d.referenced)), slices.DeleteFunc(slices.Clone(names), unknownTo(d.erased)), nil
}

func save(t *testing.T, store photos.Store) string {
	t.Helper()
	name, err := store.Save(t.Context(), picture(t, 8, 8))
	require.NoError(t, err)
	return name
}

func sweep(t *testing.T, store photos.Store, at time.Time, d *database) photos.Swept {
	t.Helper()
	swept, err := store.Sweep(t.Context(), at, rules, d.lookup)
	require.NoError(t, err)
	return swept
}

// aside lists the files in quarantine.
func aside(t *testing.T, at *somewhere) []string {
	t.Helper()
	return at.list(t, "quarantine")
}

func withThumbnails(names ...string) (all []string) {
	for _, name := range names {
		all = append(all, name, photos.ThumbnailName(name))
	}
	return all
}

// nextDay is when everything that a test has saved is old.
func nextDay() time.Time { return time.Now().Add(25 * time.Hour) }

func TestSweep_unknownPhotosAreKeptAsideBeforeTheyAreDeleted(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		owned, other, orphan := save(t, at.Store), save(t, at.Store), save(t, at.Store)
		d := &database{referenced: []string{owned, other}}
		day := nextDay()
		require.Equal(t, photos.Swept{Photos: 3, Unknown: 1, Quarantined: 1, InQuarantine: 1}, sweep(t, at.Store, day, d))
		require.ElementsMatch(t, withThumbnails(orphan), aside(t, at))
		require.ElementsMatch(t, withThumbnails(owned, other), at.list(t, ""))
		file, err := at.Open(t.Context(), orphan)
		require.NoError(t, err, "it can be read in quarantine")
		require.NoError(t, file.Close())

		moved := at.movedAt(day)
		require.Equal(t, photos.Swept{Photos: 2, InQuarantine: 1}, sweep(t, at.Store, moved.Add(29*24*time.Hour), d), "its time counts from the day it was put aside")
		require.Equal(t, photos.Swept{Photos: 2, Deleted: 1}, sweep(t, at.Store, moved.Add(31*24*time.Hour), d))
		require.Empty(t, aside(t, at))
		require.ElementsMatch(t, withThumbnails(owned, other), at.list(t, ""))
	})
}

func TestSweep_neverDeletesWithoutAQuarantine(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		owned, orphan := save(t, at.Store), save(t, at.Store)
		d := &database{referenced: []string{owned}}
		forEver := photos.SweepRules{Grace: rules.Grace}
		for _, day := range []time.Time{nextDay(), nextDay().AddDate(10, 0, 0)} {
			_, err := at.Sweep(t.Context(), day, forEver, d.lookup)
			require.NoError(t, err)
			require.ElementsMatch(t, withThumbnails(orphan), aside(t, at))
		}
	})
}

// A database that does not know most of the photos is empty, another one or an older copy.
func TestSweep_refusedIfMostPhotosAreUnknown(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		first, second, third := save(t, at.Store), save(t, at.Store), save(t, at.Store)
		day := nextDay()
		lost := &database{}
		refused := sweep(t, at.Store, day, lost)
		require.Equal(t, photos.Swept{Photos: 3, Unknown: 3, Refused: true}, refused)
		require.ElementsMatch(t, withThumbnails(first, second, third), at.list(t, ""))

		right := &database{referenced: []string{first, second}}
		require.Equal(t, 1, sweep(t, at.Store, day, right).Quarantined)
		require.Equal(t, photos.Swept{Photos: 2, Unknown: 2, Refused: true, InQuarantine: 1}, sweep(t, at.Store, day.AddDate(0, 2, 0), lost),
			"what is in quarantine is not deleted either")
		require.ElementsMatch(t, withThumbnails(third), aside(t, at))
	})
}

// After an older copy of the database was replaced by the right one, its photos are where they
// were.
func TestSweep_returnsWhatIsKnownAgain(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		early, middle, late := save(t, at.Store), save(t, at.Store), save(t, at.Store)
		older := &database{referenced: []string{early, middle}}
		require.Equal(t, 1, sweep(t, at.Store, nextDay(), older).Quarantined)
		newer := &database{referenced: []string{early, middle, late}}
		require.Equal(t, photos.Swept{Photos: 2, Returned: 1}, sweep(t, at.Store, nextDay(), newer))
		require.ElementsMatch(t, withThumbnails(early, middle, late), at.list(t, ""))
		require.Empty(t, aside(t, at))
	})
}

// An erased order's photo is deleted at once, also from the quarantine, even if nothing else is
// known.
func TestSweep_deletesErasedPhotos(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		owned, erased, later := save(t, at.Store), save(t, at.Store), save(t, at.Store)
		d := &database{referenced: []string{owned}, erased: []string{erased}}
		require.Equal(t, photos.Swept{Photos: 3, Unknown: 1, Deleted: 1, Quarantined: 1, InQuarantine: 1}, sweep(t, at.Store, nextDay(), d))
		require.ElementsMatch(t, withThumbnails(owned), at.list(t, ""))
		d = &database{erased: []string{later}}
		require.Equal(t, photos.Swept{Photos: 1, Unknown: 1, Refused: true, Deleted: 1}, sweep(t, at.Store, nextDay(), d))
		require.Empty(t, aside(t, at))
	})
}

// A tool that copies photos to another place while an order is erased brings its photo back, as a
// new file. The next sweep deletes it.
func TestSweep_deletesErasedPhotosThatWereJustCopied(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		owned, erased := save(t, at.Store), save(t, at.Store)
		d := &database{referenced: []string{owned}, erased: []string{erased}}
		require.Equal(t, photos.Swept{Deleted: 1}, sweep(t, at.Store, time.Now(), d))
		require.ElementsMatch(t, withThumbnails(owned), at.list(t, ""))
	})
}

func TestSweep_deletesTheFilesOfInterruptedUploads(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		owned := save(t, at.Store)
		lonely := "0123456789abcdef0123456789abcdef.thumb.jpg"
		for _, name := range []string{".upload-dead", lonely, "notes.txt"} {
			at.put(t, name, "x")
		}
		d := &database{referenced: []string{owned}}
		require.Equal(t, photos.Swept{}, sweep(t, at.Store, time.Now(), d))
		require.Equal(t, photos.Swept{Photos: 1, Leftovers: 2}, sweep(t, at.Store, nextDay(), d))
		require.ElementsMatch(t, append(withThumbnails(owned), "notes.txt"), at.list(t, ""))
	})
}

// Old and young files are told apart. A bucket's files have the time of its server.
func TestSweep_leavesYoungFilesAlone(t *testing.T) {
	t.Parallel()
	at := inDirectory(t)
	owned := save(t, at.Store)
	at.put(t, ".upload-dead", "x")
	longAgo := time.Now().Add(-48 * time.Hour)
	for _, name := range at.list(t, "") {
		require.NoError(t, os.Chtimes(filepath.Join(at.location, name), longAgo, longAgo))
	}
	young := save(t, at.Store)
	at.put(t, ".upload-alive", "x")
	d := &database{referenced: []string{owned}}
	require.Equal(t, photos.Swept{Photos: 1, Leftovers: 1}, sweep(t, at.Store, time.Now(), d))
	require.ElementsMatch(t, append(withThumbnails(owned, young), ".upload-alive"), at.list(t, ""))
}

func TestSweep_keepsPhotosWhenTheLookupFails(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		name := save(t, at.Store)
		down := errors.New("the database is away")
		_, err := at.Sweep(t.Context(), nextDay(), rules, func(context.Context, []string) (_, _ []string, err error) { return nil, nil, down })
		require.ErrorIs(t, err, down)
		require.ElementsMatch(t, withThumbnails(name), at.list(t, ""))
	})
}

// The list of a bucket that was interrupted looks like one that has ended: photos would be missing
// from it.
func TestSweep_failsIfItIsInterrupted(t *testing.T) {
	t.Parallel()
	at := inBucket(t)
	save(t, at.Store)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := at.Sweep(ctx, nextDay(), rules, (&database{}).lookup)
	require.ErrorIs(t, err, context.Canceled)
}

func TestRemove_alsoFromTheQuarantine(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		owned, orphan := save(t, at.Store), save(t, at.Store)
		sweep(t, at.Store, nextDay(), &database{referenced: []string{owned}})
		require.NoError(t, at.Remove(t.Context(), orphan))
		require.Empty(t, aside(t, at))
	})
}
