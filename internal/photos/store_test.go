package photos_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/apperror"
	"despacho/internal/photos"
	"despacho/test/closedport"
	"despacho/test/poll"
	"despacho/test/testenv"
)

func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, image.NewRGBA(image.Rect(0, 0, width, height))))
	return out.Bytes()
}

func TestStore_keepsAPhotoAndItsThumbnail(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		content := picture(t, 1200, 600)
		began := time.Now()
		name, err := at.Save(t.Context(), content)
		require.NoError(t, err)
		require.Regexp(t, `^[0-9a-f]{32}\.jpg$`, name)
		require.Equal(t, strings.TrimSuffix(name, ".jpg")+".thumb.jpg", photos.ThumbnailName(name))
		require.ElementsMatch(t, []string{name, photos.ThumbnailName(name)}, at.list(t, ""))

		file, err := at.Open(t.Context(), name)
		require.NoError(t, err)
		defer file.Close()
		kept, err := jpeg.DecodeConfig(file)
		require.NoError(t, err)
		require.Equal(t, []int{1200, 600}, []int{kept.Width, kept.Height})
		require.WithinDuration(t, began, file.Modified, poll.Deadline)

		small, err := at.Open(t.Context(), photos.ThumbnailName(name))
		require.NoError(t, err)
		defer small.Close()
		size, err := jpeg.DecodeConfig(small)
		require.NoError(t, err)
		require.Equal(t, []int{480, 240}, []int{size.Width, size.Height})

		another, err := at.Save(t.Context(), content)
		require.NoError(t, err)
		require.NotEqual(t, name, another, "names cannot be guessed from the content")

		require.NoError(t, at.Remove(t.Context(), name))
		require.ElementsMatch(t, []string{another, photos.ThumbnailName(another)}, at.list(t, ""), "both are gone")
		_, err = at.Open(t.Context(), name)
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.NoError(t, at.Remove(t.Context(), name), "what is gone already is no error")
	})
}

// What net/http asks of a file: all of it, its last part, a part in between, its length. It is read
// on after the context that it was opened with has ended.
func TestFile_readsFromAnywhere(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		const text = "0123456789abcdefghij"
		name := strings.Repeat("0", 32) + ".jpg"
		at.put(t, name, text)
		opening, opened := context.WithCancel(t.Context())
		file, err := at.Open(opening, name)
		require.NoError(t, err)
		opened()
		defer file.Close()
		for _, want := range []struct {
			ranges, content string
			status          int
		}{
			{"", text, http.StatusOK}, {"bytes=5-9", "56789", http.StatusPartialContent}, {"bytes=-3", "hij", http.StatusPartialContent},
			{"bytes=0-0", "0", http.StatusPartialContent}, {"bytes=15-", "fghij", http.StatusPartialContent}, {"bytes=99-", "", http.StatusRequestedRangeNotSatisfiable},
		} {
			request := httptest.NewRequest(http.MethodGet, "/", nil)
			request.Header.Set("Range", want.ranges)
			answer := httptest.NewRecorder()
			http.ServeContent(answer, request, name, file.Modified, file)
			require.Equal(t, want.status, answer.Code, want.ranges)
			if want.content != "" {
				require.Equal(t, want.content, answer.Body.String(), want.ranges)
			}
		}
		_, err = file.Seek(-1, io.SeekStart)
		require.Error(t, err)
	})
}

func TestStore_keepsALogoAlone(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		name, err := at.SaveLogo(t.Context(), picture(t, 1200, 600))
		require.NoError(t, err)
		require.Equal(t, []string{name}, at.list(t, ""), "a logo has no thumbnail")
		file, err := at.Open(t.Context(), name)
		require.NoError(t, err)
		defer file.Close()
		size, err := png.DecodeConfig(file)
		require.NoError(t, err)
		require.Equal(t, []int{640, 320}, []int{size.Width, size.Height})
		_, err = at.SaveLogo(t.Context(), []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"))
		require.ErrorIs(t, err, photos.ErrNotPhoto)
	})
}

// Whoever discards a photo does not need a request that still runs.
func TestStore_discardsAfterTheRequest(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		name := save(t, at.Store)
		ended, end := context.WithCancel(t.Context())
		end()
		require.NoError(t, at.Discard(ended, name))
		require.Empty(t, at.list(t, ""))
	})
}

func TestStore_rejectsInvalidPhotos(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		for name, test := range map[string]struct {
			content []byte
			want    error
		}{
			"text":            {[]byte("<script>alert(1)</script>"), photos.ErrNotPhoto},
			"nothing":         {nil, photos.ErrNotPhoto},
			"half a picture":  {[]byte("\xff\xd8\xff\xe0 and so on"), photos.ErrNotPhoto},
			"over the limits": {make([]byte, photos.MaxBytes+1), photos.ErrTooLarge},
		} {
			_, err := at.Save(t.Context(), test.content)
			require.ErrorIs(t, err, test.want, name)
			require.NotErrorIs(t, err, photos.ErrTooManyPixels, name)
			require.Equal(t, name == "half a picture", errors.Is(err, photos.ErrUnreadable), name)
		}
		require.Empty(t, at.list(t, ""))
	})
}

func TestStore_opensOnlyPhotos(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		at.put(t, "secret.txt", "secret")
		for _, name := range []string{"secret.txt", "../files/secret.txt", "", ".", strings.Repeat("0", 32) + ".svg", strings.Repeat("0", 32) + ".thumb.png"} {
			_, err := at.Open(t.Context(), name)
			require.ErrorIs(t, err, fs.ErrNotExist, name)
		}
	})
}

func TestCheckWritable_leavesNothing(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		require.NoError(t, at.CheckWritable(t.Context()))
		require.NoError(t, at.CheckWritable(t.Context()))
		require.Empty(t, at.list(t, ""))
	})
}

// Photos are found wherever they are, new ones are stored in one backend, and removed from both.
func TestFallback_isReadAndCleared(t *testing.T) {
	eachPlace(t, func(t *testing.T, at *somewhere) {
		before := inDirectory(t)
		old := save(t, before.Store)
		store := newStore(t, at.location, before.location)
		fresh := save(t, store)
		require.ElementsMatch(t, withThumbnails(fresh), at.list(t, ""))
		for _, name := range withThumbnails(old, fresh) {
			file, err := store.Open(t.Context(), name)
			require.NoError(t, err)
			require.NoError(t, file.Close())
		}
		require.NoError(t, store.Remove(t.Context(), old))
		require.Empty(t, before.list(t, ""))

		lost := save(t, before.Store)
		kept := save(t, before.Store)
		d := &database{referenced: []string{fresh, kept}}
		require.Equal(t, photos.Swept{Photos: 3, Unknown: 1, Quarantined: 1, InQuarantine: 1}, sweep(t, store, nextDay(), d), "both are swept")
		require.ElementsMatch(t, withThumbnails(lost), before.list(t, "quarantine"))
	})
}

// A backend that is away does not keep photos of the other from being shown.
func TestFallback_isReadDuringAnOutage(t *testing.T) {
	t.Parallel()
	before := inDirectory(t)
	name := save(t, before.Store)
	store := newStore(t, unreachable(t), before.location)
	file, err := store.Open(t.Context(), name)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	requireUnavailable(t, "photo_not_readable", open(t, store, strings.Repeat("0", 32)+".jpg"))
}

func TestPrepare_namesTheVariable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	store, err := photos.NewStore(photos.Options{Location: filepath.Join(file, "below")})
	require.NoError(t, err)
	require.ErrorContains(t, store.Prepare(), "FILES_DIR")
}

// unreachable is a bucket whose server refuses connections.
func unreachable(t *testing.T) string {
	t.Helper()
	return testenv.NewBucket(t).LocationAt("http://" + closedport.Address(t))
}

// A disk failure or an outage is not an invalid photo, nor a missing one: the caller is told to
// retry.
func TestStore_outage(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "files")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	wrongBucket := testenv.NewBucket(t)
	wrongBucket.Name = "another"
	for name, location := range map[string]string{"disk": file, "unreachable": unreachable(t), "no such bucket": wrongBucket.Location()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, err := photos.NewStore(photos.Options{Location: location, Timeout: poll.Deadline})
			require.NoError(t, err)
			_, err = store.Save(t.Context(), picture(t, 8, 8))
			requireUnavailable(t, "photo_not_stored", err)
			requireUnavailable(t, "photo_not_readable", open(t, store, strings.Repeat("0", 32)+".jpg"))
			require.Error(t, store.CheckWritable(t.Context()))
			_, err = store.Sweep(t.Context(), nextDay(), rules, (&database{}).lookup)
			require.Error(t, err)
		})
	}
}

// A server that takes the request and never answers is not waited for.
func TestBucket_thatHangs(t *testing.T) {
	t.Parallel()
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the end of the connection is noticed
		<-r.Context().Done()
	}))
	t.Cleanup(hanging.Close)
	store, err := photos.NewStore(photos.Options{Location: testenv.NewBucket(t).LocationAt(hanging.URL) + "&region=us-east-1", Timeout: 50 * time.Millisecond})
	require.NoError(t, err)
	_, err = store.Save(t.Context(), picture(t, 8, 8))
	requireUnavailable(t, "photo_not_stored", err)
	require.ErrorContains(t, err, "does not answer in time")
	err = open(t, store, strings.Repeat("0", 32)+".jpg")
	requireUnavailable(t, "photo_not_readable", err)
	require.ErrorContains(t, err, "does not answer in time")
	_, err = store.Sweep(t.Context(), nextDay(), rules, (&database{}).lookup)
	require.ErrorContains(t, err, "does not answer in time")
}

func open(t *testing.T, store photos.Store, name string) error {
	t.Helper()
	file, err := store.Open(t.Context(), name)
	if err == nil {
		require.NoError(t, file.Close())
	}
	return err
}

func requireUnavailable(t *testing.T, code string, err error) {
	t.Helper()
	refusal := apperror.From(err)
	require.Equal(t, apperror.Unavailable, refusal.Kind, "%v", err)
	require.Equal(t, code, refusal.Code)
	require.Positive(t, refusal.RetryAfter)
	require.NotContains(t, err.Error(), "despacho-tests-secret")
}

func TestParseLocation(t *testing.T) {
	t.Parallel()
	endpoint := &url.URL{Scheme: "http", Host: "127.0.0.1:7070"}
	for text, want := range map[string]photos.Location{
		"files":                   {Directory: "files"},
		"/var/lib/despacho/files": {Directory: "/var/lib/despacho/files"},
		"s3://fotos":              {Bucket: "fotos"},
		"s3://fotos/despacho/pe":  {Bucket: "fotos", Prefix: "despacho/pe/"},
		"s3://fotos?endpoint=http%3A%2F%2F127.0.0.1%3A7070&region=sa-east-1": {Bucket: "fotos", Endpoint: endpoint, Region: "sa-east-1"},
	} {
		location, err := photos.ParseLocation(text)
		require.NoError(t, err, text)
		require.Equal(t, want, location)
	}
	plain, err := photos.ParseLocation("s3://fotos/?endpoint=http://127.0.0.1:7070/")
	require.NoError(t, err, "an endpoint need not be escaped")
	require.Equal(t, "127.0.0.1:7070", plain.Endpoint.Host)
	require.Empty(t, plain.Prefix)
}

// What is wrong is said, and what might be a secret is not repeated.
func TestParseLocation_refuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "is empty",
		"gs://fotos":                         "gs://",
		"s3://":                              "names no bucket",
		"s3:///fotos":                        "names no bucket",
		"s3://127.0.0.1:7070/fotos":          "names no bucket",
		"s3://AKIA:geheim@fotos":             "AWS_ACCESS_KEY_ID",
		"s3://fotos/a//b":                    "prefix",
		"s3://fotos/../b":                    "prefix",
		"s3://fotos?geheim=1":                "endpoint and region",
		"s3://fotos?endpoint=127.0.0.1:7070": "endpoint that is not",
		"s3://fotos?endpoint=http://geheim:geheim@127.0.0.1": "endpoint that is not",
		"s3://fotos?endpoint=ftp://127.0.0.1":                "endpoint that is not",
	} {
		_, err := photos.ParseLocation(text)
		require.ErrorContains(t, err, want, text)
		if want != "endpoint and region" {
			require.NotContains(t, err.Error(), "geheim")
		}
	}
}
