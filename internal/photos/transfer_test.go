package photos_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/photos"
	"despacho/test/poll"
)

// transferBetween is a transfer that the test may change before it runs it.
func transferBetween(t *testing.T, from, to *somewhere, d *database) photos.Transfer {
	t.Helper()
	transfer := photos.Transfer{
		Timeout: poll.Deadline, Lookup: d.lookup,
		Progress: func(photos.Transferred) {}, Failed: func(name string, err error) { t.Logf("%s: %v", name, err) },
	}
	var err error
	transfer.From, err = photos.ParseLocation(from.location)
	require.NoError(t, err)
	transfer.To, err = photos.ParseLocation(to.location)
	require.NoError(t, err)
	return transfer
}

func run(t *testing.T, transfer photos.Transfer) photos.Transferred {
	t.Helper()
	done, err := transfer.Run(t.Context())
	require.NoError(t, err)
	return done
}

func content(t *testing.T, store photos.Store, name string) string {
	t.Helper()
	file, err := store.Open(t.Context(), name)
	require.NoError(t, err)
	defer file.Close()
	read, err := io.ReadAll(file)
	require.NoError(t, err)
	return string(read)
}

// bothWays runs a test from a directory to a bucket, and back.
func bothWays(t *testing.T, run func(t *testing.T, from, to *somewhere)) {
	t.Helper()
	eachPlace(t, func(t *testing.T, from *somewhere) {
		to := inBucket(t)
		if from.Directory() == "" {
			to = inDirectory(t)
		}
		run(t, from, to)
	})
}

func TestTransfer_copiesEverythingOnce(t *testing.T) {
	bothWays(t, func(t *testing.T, from, to *somewhere) {
		owned, other, orphan := save(t, from.Store), save(t, from.Store), save(t, from.Store)
		d := &database{referenced: []string{owned, other}}
		sweep(t, from.Store, nextDay(), d)
		from.put(t, "notes.txt", "x")
		from.put(t, ".upload-dead", "x")

		transfer := transferBetween(t, from, to, d)
		require.Equal(t, photos.Transferred{Copied: 3}, run(t, transfer))
		require.ElementsMatch(t, withThumbnails(owned, other), to.list(t, ""))
		require.ElementsMatch(t, withThumbnails(orphan), aside(t, to), "what is in quarantine stays there")
		for _, name := range withThumbnails(owned, other, orphan) {
			require.Equal(t, content(t, from.Store, name), content(t, to.Store, name))
		}
		require.ElementsMatch(t, append(withThumbnails(owned, other), "notes.txt", ".upload-dead"), from.list(t, ""), "the source is left as it was")

		late := save(t, from.Store)
		d.referenced = append(d.referenced, late)
		require.Equal(t, photos.Transferred{Copied: 1, Present: 3}, run(t, transfer), "a repeated transfer copies what is missing")
		transfer.DeleteSource = true
		require.Equal(t, photos.Transferred{Present: 4, Deleted: 4}, run(t, transfer))
		require.ElementsMatch(t, []string{"notes.txt", ".upload-dead"}, from.list(t, ""))
		require.Empty(t, aside(t, from))
		require.ElementsMatch(t, withThumbnails(owned, other, late), to.list(t, ""))
		require.Equal(t, photos.Transferred{}, run(t, transfer))
	})
}

// A photo that is not the same in the new backend is never deleted from the old one.
func TestTransfer_keepsWhatDiffers(t *testing.T) {
	bothWays(t, func(t *testing.T, from, to *somewhere) {
		name, other := save(t, from.Store), save(t, from.Store)
		d := &database{referenced: []string{name, other}}
		original := content(t, from.Store, name)
		to.put(t, name, string(slices.Repeat([]byte("x"), len(original)))) // not by this service
		transfer := transferBetween(t, from, to, d)
		transfer.DeleteSource = true
		done, err := transfer.Run(t.Context())
		require.ErrorContains(t, err, "1 photos were not transferred")
		require.Equal(t, photos.Transferred{Copied: 1, Present: 1, Deleted: 1, Failed: 1}, done)
		require.ElementsMatch(t, withThumbnails(name), from.list(t, ""))
		require.Equal(t, original, content(t, from.Store, name))

		to.put(t, name, "half")
		require.Equal(t, photos.Transferred{Copied: 1, Deleted: 1}, run(t, transfer), "another size is replaced")
		require.Equal(t, original, content(t, to.Store, name))
	})
}

// An order that is erased while its photo is copied leaves it in neither backend.
func TestTransfer_doesNotBringBackTheErased(t *testing.T) {
	bothWays(t, func(t *testing.T, from, to *somewhere) {
		kept, erased := save(t, from.Store), save(t, from.Store)
		d := &database{referenced: []string{kept}}
		transfer := transferBetween(t, from, to, d)
		both := newStore(t, to.location, from.location)
		transfer.Lookup = func(ctx context.Context, names []string) (_, _ []string, err error) {
			require.ElementsMatch(t, withThumbnails(kept, erased), to.list(t, ""), "it has been copied")
			d.erased = []string{erased}
			require.NoError(t, from.Remove(ctx, erased)) // by a process that does not know the new backend
			return d.lookup(ctx, names)
		}
		require.Equal(t, photos.Transferred{Copied: 2, Erased: 1}, run(t, transfer))
		require.ElementsMatch(t, withThumbnails(kept), to.list(t, ""))
		require.ElementsMatch(t, withThumbnails(kept), from.list(t, ""))
		require.Error(t, open(t, both, erased))
	})
}

// While photos are copied and deleted, each can be read at any moment.
func TestTransfer_whileServing(t *testing.T) {
	bothWays(t, func(t *testing.T, from, to *somewhere) {
		var names []string
		for range 20 {
			names = append(names, save(t, from.Store))
		}
		serving := newStore(t, to.location, from.location)
		transfer := transferBetween(t, from, to, &database{referenced: names})
		transfer.DeleteSource = true
		ended := make(chan error, 1)
		go func() {
			_, err := transfer.Run(t.Context())
			ended <- err
		}()
		for {
			for _, name := range withThumbnails(names...) {
				require.NotEmpty(t, content(t, serving, name))
			}
			select {
			case err := <-ended:
				require.NoError(t, err)
				require.Empty(t, from.list(t, ""))
				require.ElementsMatch(t, withThumbnails(names...), to.list(t, ""))
				return
			default:
			}
		}
	})
}

// A backend under another name is the same backend: nothing is deleted from it.
func TestTransfer_refusesAPlaceUnderAnotherName(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		names := withThumbnails(save(t, at.Store))
		for _, alias := range aliases(t, at) {
			transfer := transferBetween(t, at, &somewhere{location: alias}, &database{referenced: names})
			transfer.DeleteSource = true
			_, err := transfer.Run(t.Context())
			require.ErrorContains(t, err, "these are the same", alias)
			require.ElementsMatch(t, names, at.list(t, ""), alias)
		}
	})
}

// aliases are other ways to write the location of a backend.
func aliases(t *testing.T, at *somewhere) []string {
	t.Helper()
	if at.Directory() == "" {
		return []string{at.location + "&region=us-east-1"}
	}
	here, err := os.Getwd()
	require.NoError(t, err)
	relative, err := filepath.Rel(here, at.location)
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(at.location, link))
	return []string{at.location + "/", relative, link}
}

func TestTransfer_refuses(t *testing.T) {
	t.Parallel()
	from := inDirectory(t)
	save(t, from.Store)
	_, err := transferBetween(t, from, from, &database{}).Run(t.Context())
	require.ErrorContains(t, err, "the same")
	_, err = transferBetween(t, from, &somewhere{location: unreachable(t)}, &database{}).Run(t.Context())
	require.ErrorContains(t, err, "s3://fotos/")
}
