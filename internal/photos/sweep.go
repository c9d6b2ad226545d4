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

// sweepBatch is how many photos are asked about at once.
const sweepBatch = 500

// Sweep removes what was written before a moment and belongs to nobody: uploads that died half way,
// and photos whose delivery never came about. known returns those of the given photos that a
// delivery refers to.
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
			continue // gone meanwhile, or young
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
	// The thumbnail is written first: one without its photo is all that is left of an upload.
	for name := range thumbnails {
		if photos, _ := filepath.Glob(filepath.Join(s.Dir, strings.TrimSuffix(name, thumbnailEnding)+".*")); len(photos) == 1 {
			remove(name)
		}
	}
	return removed, err
}
