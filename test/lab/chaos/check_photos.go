package chaos

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"despacho/internal/photos"
	"despacho/internal/photourl"
	"despacho/internal/signing"
	"despacho/test/lab/cluster"
)

// checkPhotos reads every photo that an order refers to.
func checkPhotos(ctx context.Context, c *checker) error {
	caller := c.newClient(stream(c.options.Seed, planStream))
	defer caller.close()
	keys, err := signing.New(cluster.SecretKey)
	if err != nil {
		return err
	}
	addresses := photourl.New("/files", time.Hour, keys)
	for _, name := range c.ownedPhotos() {
		c.report.checked(invariantPhotos, 1)
		got, err := caller.call(ctx, cluster.Request{Method: http.MethodGet, Path: addresses.Signed(name, time.Now())})
		if err != nil {
			return err
		}
		if got.Status != http.StatusOK || len(got.Body) == 0 {
			c.report.violate(invariantPhotos, name, "it is answered %d", got.Status)
		}
	}
	return nil
}

// ownedPhotos are the files that orders and their timelines refer to.
func (c *checker) ownedPhotos() (names []string) {
	for _, row := range c.orders {
		own := row.Attempts.Photos()
		if row.ProofPhoto != nil {
			own = append(own, *row.ProofPhoto)
		}
		for _, entry := range slices.Concat(c.timelines[row.ID], c.refusals[row.ID]) { // what was taken back is no longer in the row
			if entry.Photo != nil {
				own = append(own, *entry.Photo)
			}
		}
		slices.Sort(own)
		for _, name := range slices.Compact(own) {
			names = append(names, name, photos.ThumbnailName(name))
		}
	}
	return names
}

// checkSweep makes all files look old, restarts an api, which sweeps, and looks for files outside
// of the quarantine that no order refers to.
func checkSweep(ctx context.Context, c *checker) error {
	owned := c.ownedPhotos()
	stray, err := c.ageFiles(owned)
	if err != nil {
		return err
	}
	c.tally["files without a delivery, before the sweep"] = len(stray)
	if len(stray) > len(owned) {
		return nil // a sweep to which most photos are unknown is refused
	}
	if err := c.processes[apiNames[0]].replace(ctx); err != nil {
		return err
	}
	err = cluster.Poll(ctx, c.options.scaledTimeout(visibilityTimeout), "files without a delivery are still there", func() (bool,
		error) {
		stray, err = c.ageFiles(owned)
		return len(stray) == 0, err
	})
	if err != nil {
		c.report.violate(invariantPhotos, "files", "%v: %v", err, stray)
	}
	kept, err := filepath.Glob(filepath.Join(c.disk.dir, "*.*"))
	if err != nil {
		return err
	}
	if len(kept) != len(owned) {
		c.report.violate(invariantPhotos, "files", "%d files are kept and %d are owned", len(kept), len(owned))
	}
	return nil
}

// ageFiles makes all files look two days old and lists those that no order refers to.
func (c *checker) ageFiles(owned []string) (stray []string, err error) {
	entries, err := os.ReadDir(c.disk.dir)
	if err != nil {
		return nil, err
	}
	longAgo := time.Now().Add(-48 * time.Hour)
	for _, entry := range entries {
		if entry.IsDir() {
			continue // the quarantine
		}
		err := os.Chtimes(filepath.Join(c.disk.dir, entry.Name()), longAgo, longAgo)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // otherwise it has just been swept
			return stray, err
		}
		if !slices.Contains(owned, entry.Name()) {
			stray = append(stray, entry.Name())
		}
	}
	return stray, nil
}
