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
	"despacho/lab/cluster"
)

// checkPhotos reads every photo that an order refers to, makes all files look old, restarts an api,
// which sweeps, and looks for files that no order refers to.
func checkPhotos(ctx context.Context, t *checker) error {
	c := t.newClient(stream(t.options.Seed, planStream))
	defer c.close()
	var owned []string
	for _, row := range t.orders {
		if row.ProofPhoto == nil {
			continue
		}
		for _, name := range []string{*row.ProofPhoto, photos.ThumbnailName(*row.ProofPhoto)} {
			owned = append(owned, name)
			t.report.checked(invariantPhotos, 1)
			got, err := c.call(ctx, cluster.Request{Method: http.MethodGet, Path: "/files/" + name})
			if err != nil {
				return err
			}
			if got.Status != http.StatusOK || len(got.Body) == 0 {
				t.report.violate(invariantPhotos, row.ID, "its photo %s is answered %d", name, got.Status)
			}
		}
	}
	stray, err := t.ageFiles(owned)
	if err != nil {
		return err
	}
	t.tally["files without a delivery, before the sweep"] = len(stray)
	if err := t.processes[apiNames[0]].replace(ctx); err != nil {
		return err
	}
	swept := func() bool {
		stray, err = t.ageFiles(owned)
		return err != nil || len(stray) == 0
	}
	if pollErr := poll(ctx, t.options.scaledTimeout(visibilityTimeout), "files without a delivery are still there", swept); err != nil || pollErr != nil {
		t.report.violate(invariantPhotos, "files", "%v %v: %v", pollErr, err, stray)
	}
	if kept, err := filepath.Glob(filepath.Join(t.disk.dir, "*")); err != nil || len(kept) != len(owned) {
		t.report.violate(invariantPhotos, "files", "%d files are kept and %d are owned", len(kept), len(owned))
	}
	return nil
}

// ageFiles makes all files look two days old and lists those that no order refers to.
func (t *checker) ageFiles(owned []string) (stray []string, err error) {
	entries, err := os.ReadDir(t.disk.dir)
	if err != nil {
		return nil, err
	}
	longAgo := time.Now().Add(-48 * time.Hour)
	for _, entry := range entries {
		err := os.Chtimes(filepath.Join(t.disk.dir, entry.Name()), longAgo, longAgo)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // otherwise it has just been swept
			return stray, err
		}
		if !slices.Contains(owned, entry.Name()) {
			stray = append(stray, entry.Name())
		}
	}
	return stray, nil
}
