package photos

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sweepBatch is how many photos are looked up at once.
const sweepBatch = 500

// Sweep removes the files written before a time that nothing refers to: interrupted uploads, and
// photos whose delivery failed. known returns those of the given photos that a delivery refers to.
func (s Store) Sweep(ctx context.Context, before time.Time, known func(ctx context.Context, names []string) ([]string, error)) (removed int, err error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return 0, err
	}
	var uploads []string
	var photos []string
	thumbnails := map[string]bool{}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.ModTime().Before(before) {
			continue // removed meanwhile, or too new
		}
		switch name := entry.Name(); {
		case strings.HasPrefix(name, uploadPrefix):
			uploads = append(uploads, name)
		case strings.HasSuffix(name, thumbnailEnding):
			thumbnails[name] = true
		case fileName.MatchString(name):
			photos = append(photos, name)
		}
	}
	remove := func(names ...string) {
		for _, name := range names {
			if removeErr := s.remove(name); removeErr != nil {
				err = errors.Join(err, removeErr)
				continue
			}
			removed++
		}
	}
	remove(uploads...)
	for batch := range slices.Chunk(photos, sweepBatch) {
		kept, err := known(ctx, batch)
		if err != nil {
			return removed, err
		}
		for _, name := range batch {
			if !slices.Contains(kept, name) {
				remove(name)
			}
		}
	}
	// The thumbnail is written first: one without its photo is left from an interrupted upload.
	for name := range thumbnails {
		if photos, _ := filepath.Glob(filepath.Join(s.Dir, strings.TrimSuffix(name, thumbnailEnding)+".*")); len(photos) == 1 {
			remove(name)
		}
	}
	return removed, err
}
