package chaos

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Both kinds of full disk refuse writes, and keep the files that were there.
func TestDisk_takesNothingWhileFull(t *testing.T) {
	t.Parallel()
	small, err := newDisk(t.Context(), filepath.Join(t.TempDir(), "files"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, small.close(context.Background())) })
	disks := map[string]*disk{"the machine's own": small, "without mounting": {dir: t.TempDir()}}
	for name, d := range disks {
		t.Run(name, func(t *testing.T) {
			photo := filepath.Join(d.dir, "photo.jpg")
			write := func() error { return os.WriteFile(photo, make([]byte, 64<<10), 0o600) }
			require.NoError(t, write())
			require.NoError(t, d.fill())
			require.Error(t, os.WriteFile(filepath.Join(d.dir, "other.jpg"), make([]byte, 64<<10), 0o600))
			require.NoError(t, d.free())
			require.FileExists(t, photo)
			require.NoError(t, write())
		})
	}
}
