package photos_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"

	"despacho/internal/photos"
	"despacho/test/poll"
	"despacho/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// somewhere is a store in an empty backend, and the backend as others see it.
type somewhere struct {
	photos.Store
	location string
	// list are the names of the files in a folder, or outside of any.
	list func(t *testing.T, folder string) []string
	put  func(t *testing.T, path, content string)
	// movedAt is the time that a file has after it was moved at some time.
	movedAt func(at time.Time) time.Time
}

// eachPlace runs the same test on a directory and on a bucket of a real S3 server.
func eachPlace(t *testing.T, run func(t *testing.T, at *somewhere)) {
	t.Helper()
	t.Parallel()
	for name, open := range map[string]func(*testing.T) *somewhere{"directory": inDirectory, "bucket": inBucket} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, open(t))
		})
	}
}

func newStore(t *testing.T, location, fallback string) photos.Store {
	t.Helper()
	store, err := photos.NewStore(photos.Options{Location: location, Fallback: fallback, Timeout: poll.Deadline})
	require.NoError(t, err)
	require.NoError(t, store.Prepare())
	return store
}

func inDirectory(t *testing.T) *somewhere {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made", "files")
	return &somewhere{
		Store: newStore(t, path, ""), location: path,
		list: func(t *testing.T, folder string) []string {
			entries, err := os.ReadDir(filepath.Join(path, folder))
			if !os.IsNotExist(err) {
				require.NoError(t, err)
			}
			names := []string{}
			for _, entry := range entries {
				if !entry.IsDir() {
					names = append(names, entry.Name())
				}
			}
			return names
		},
		put: func(t *testing.T, name, content string) {
			require.NoError(t, os.WriteFile(filepath.Join(path, name), []byte(content), 0o600))
		},
		movedAt: func(at time.Time) time.Time { return at },
	}
}

func inBucket(t *testing.T) *somewhere {
	t.Helper()
	bucket := testenv.NewBucket(t)
	return &somewhere{
		Store: newStore(t, bucket.Location(), ""), location: bucket.Location(),
		list: func(t *testing.T, folder string) []string {
			prefix := bucket.Prefix
			if folder != "" {
				prefix += folder + "/"
			}
			names := []string{}
			for object := range bucket.Client.ListObjectsIter(t.Context(), bucket.Name, minio.ListObjectsOptions{Prefix: prefix}) {
				require.NoError(t, object.Err)
				if !strings.HasSuffix(object.Key, "/") {
					names = append(names, strings.TrimPrefix(object.Key, prefix))
				}
			}
			return names
		},
		put: func(t *testing.T, name, content string) {
			_, err := bucket.Client.PutObject(t.Context(), bucket.Name, bucket.Prefix+name, bytes.NewReader([]byte(content)), int64(len(content)), minio.PutObjectOptions{})
			require.NoError(t, err)
		},
		movedAt: func(time.Time) time.Time { return time.Now() }, // the server's clock
	}
}
