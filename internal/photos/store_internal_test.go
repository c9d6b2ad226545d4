package photos

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// overtaken is a directory in which another process puts a photo back from quarantine between two
// looks of a reader.
type overtaken struct {
	directory
	name string
}

func (o overtaken) open(ctx context.Context, path string) (*File, error) {
	if path == quarantined(o.name) {
		if err := restorePhoto(ctx, o.directory, o.name, time.Now()); err != nil {
			return nil, err
		}
	}
	return o.directory.open(ctx, path)
}

func TestOpen_findsWhatIsMovedMeanwhile(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("0", 32) + ".jpg"
	at := directory(t.TempDir())
	require.NoError(t, at.write(t.Context(), quarantined(name), []byte("photo")))
	file, err := Store{backend: overtaken{at, name}}.Open(t.Context(), name)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	_, err = os.Stat(at.path(name))
	require.NoError(t, err, "it was put back while it was looked for")
}

// silent is a directory on a server that does not answer.
type silent struct{ directory }

func (silent) remove(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

// Whoever discards a photo does not wait for a backend that does not answer, and a request that has
// ended does not keep the photo.
func TestDiscard(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("0", 32) + ".jpg"
	at := directory(t.TempDir())
	require.NoError(t, at.write(t.Context(), name, []byte("photo")))
	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, Store{backend: silent{at}}.Discard(ended, name), context.DeadlineExceeded)
	require.NoError(t, Store{backend: at}.Discard(ended, name))
	_, err := os.Stat(at.path(name))
	require.ErrorIs(t, err, os.ErrNotExist)
}
