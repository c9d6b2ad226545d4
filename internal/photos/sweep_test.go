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

const quarantine = "quarantine"

var rules = photos.Rules{Grace: 24 * time.Hour, Quarantine: 30 * 24 * time.Hour}

// database is what a database knows of photos.
type database struct {
	referenced, erased []string
	asked              []string
}

func (d *database) lookup(_ context.Context, names []string) (referenced, erased []string, err error) {
	d.asked = append(d.asked, names...)
	unknownTo := func(known []string) func(string) bool {
		return func(name string) bool { return !slices.Contains(known, name) }
	}
	return slices.DeleteFunc(slices.Clone(names), unknownTo(d.referenced)), slices.DeleteFunc(slices.Clone(names), unknownTo(d.erased)), nil
}

func save(t *testing.T, store photos.Store) string {
	t.Helper()
	name, err := store.Save(t.Context(), "operator", picture(t, 8, 8))
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
func aside(t *testing.T, store photos.Store) []string {
	t.Helper()
	return files(t, photos.Store{Dir: filepath.Join(store.Dir, quarantine)})
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
	t.Parallel()
	store := newStore(t)
	owned, other, orphan := save(t, store), save(t, store), save(t, store)
	d := &database{referenced: []string{owned, other}}
	day := nextDay()
	require.Equal(t, photos.Swept{Photos: 3, Unknown: 1, Quarantined: 1, InQuarantine: 1}, sweep(t, store, day, d))
	require.ElementsMatch(t, withThumbnails(orphan), aside(t, store))
	require.ElementsMatch(t, append(withThumbnails(owned, other), quarantine), files(t, store))
	file, err := store.Open(orphan)
	require.NoError(t, err, "it can be read in quarantine")
	require.NoError(t, file.Close())

	require.Equal(t, photos.Swept{Photos: 2, InQuarantine: 1}, sweep(t, store, day.Add(29*24*time.Hour), d), "its time counts from the day it was put aside")
	require.Equal(t, photos.Swept{Photos: 2, Deleted: 1}, sweep(t, store, day.Add(31*24*time.Hour), d))
	require.Empty(t, aside(t, store))
	require.ElementsMatch(t, append(withThumbnails(owned, other), quarantine), files(t, store))
}

func TestSweep_neverDeletesWithoutAQuarantine(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	owned, orphan := save(t, store), save(t, store)
	d := &database{referenced: []string{owned}}
	forEver := photos.Rules{Grace: rules.Grace}
	for _, at := range []time.Time{nextDay(), nextDay().AddDate(10, 0, 0)} {
		_, err := store.Sweep(t.Context(), at, forEver, d.lookup)
		require.NoError(t, err)
		require.ElementsMatch(t, withThumbnails(orphan), aside(t, store))
	}
}

// A database that does not know most of the photos is empty, another one or an older copy.
func TestSweep_refusedIfMostPhotosAreUnknown(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	first, second, third := save(t, store), save(t, store), save(t, store)
	day := nextDay()
	lost := &database{}
	refused := sweep(t, store, day, lost)
	require.Equal(t, photos.Swept{Photos: 3, Unknown: 3, Refused: true}, refused)
	require.ElementsMatch(t, withThumbnails(first, second, third), files(t, store))

	right := &database{referenced: []string{first, second}}
	require.Equal(t, 1, sweep(t, store, day, right).Quarantined)
	require.Equal(t, photos.Swept{Photos: 2, Unknown: 2, Refused: true, InQuarantine: 1}, sweep(t, store, day.AddDate(0, 2, 0), lost),
		"what is in quarantine is not deleted either")
	require.ElementsMatch(t, withThumbnails(third), aside(t, store))
}

// After an older copy of the database was replaced by the right one, its photos are where they were.
func TestSweep_returnsWhatIsKnownAgain(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	early, middle, late := save(t, store), save(t, store), save(t, store)
	older := &database{referenced: []string{early, middle}}
	require.Equal(t, 1, sweep(t, store, nextDay(), older).Quarantined)
	newer := &database{referenced: []string{early, middle, late}}
	require.Equal(t, photos.Swept{Photos: 2, Returned: 1}, sweep(t, store, nextDay(), newer))
	require.ElementsMatch(t, append(withThumbnails(early, middle, late), quarantine), files(t, store))
	require.Empty(t, aside(t, store))
}

// An erased order's photo is deleted at once, also from the quarantine, even if nothing else is known.
func TestSweep_deletesErasedPhotos(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	owned, erased, later := save(t, store), save(t, store), save(t, store)
	d := &database{referenced: []string{owned}, erased: []string{erased}}
	require.Equal(t, photos.Swept{Photos: 3, Unknown: 1, Deleted: 1, Quarantined: 1, InQuarantine: 1}, sweep(t, store, nextDay(), d))
	require.ElementsMatch(t, append(withThumbnails(owned), quarantine), files(t, store))
	d = &database{erased: []string{later}}
	require.Equal(t, photos.Swept{Photos: 1, Unknown: 1, Refused: true, Deleted: 1}, sweep(t, store, nextDay(), d))
	require.Empty(t, aside(t, store))
}

func TestSweep_deletesTheFilesOfInterruptedUploads(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	owned := save(t, store)
	lonely := "0123456789abcdef0123456789abcdef.thumb.jpg"
	for _, name := range []string{".upload-dead", lonely, "notes.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(store.Dir, name), []byte("x"), 0o600))
	}
	longAgo := time.Now().Add(-48 * time.Hour)
	for _, name := range files(t, store) {
		require.NoError(t, os.Chtimes(filepath.Join(store.Dir, name), longAgo, longAgo))
	}
	young := save(t, store)
	require.NoError(t, os.WriteFile(filepath.Join(store.Dir, ".upload-alive"), []byte("x"), 0o600))
	d := &database{referenced: []string{owned}}
	require.Equal(t, photos.Swept{Photos: 1, Leftovers: 2}, sweep(t, store, time.Now(), d))
	require.Equal(t, []string{owned}, d.asked, "only what is old is asked about")
	require.ElementsMatch(t, append(withThumbnails(owned, young), ".upload-alive", "notes.txt"), files(t, store))
}

func TestSweep_keepsPhotosWhenTheLookupFails(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	name := save(t, store)
	down := errors.New("the database is away")
	_, err := store.Sweep(t.Context(), nextDay(), rules, func(context.Context, []string) (_, _ []string, err error) { return nil, nil, down })
	require.ErrorIs(t, err, down)
	require.ElementsMatch(t, withThumbnails(name), files(t, store))
}

func TestRemove_alsoFromTheQuarantine(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	owned, orphan := save(t, store), save(t, store)
	sweep(t, store, nextDay(), &database{referenced: []string{owned}})
	require.NoError(t, store.Remove(orphan))
	require.Empty(t, aside(t, store))
}
