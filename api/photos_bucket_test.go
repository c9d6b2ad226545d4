package api_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// gate is an S3 server that can be away: it then drops every connection.
type gate struct {
	*httptest.Server
	closed atomic.Bool
}

func newGate(t *testing.T, bucket *testenv.Bucket) *gate {
	t.Helper()
	g := &gate{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(bucket.Endpoint)
		r.Out.Host = r.In.Host // it is signed
	}}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.closed.Load() {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

// storedObjects are the keys of a place in a bucket.
func storedObjects(t *testing.T, bucket *testenv.Bucket) []string {
	t.Helper()
	keys := []string{}
	for object := range bucket.Client.ListObjectsIter(t.Context(), bucket.Name, minio.ListObjectsOptions{Prefix: bucket.Prefix, Recursive: true}) {
		require.NoError(t, object.Err)
		keys = append(keys, strings.TrimPrefix(object.Key, bucket.Prefix))
	}
	return keys
}

// With photos in object storage callers see what they see with a directory: an outage costs photos
// only, and says so; photos pass through the service with its signature and headers; an erasure
// removes them.
func TestPhotos_inABucket(t *testing.T) {
	t.Parallel()
	bucket := testenv.NewBucket(t)
	server := newGate(t, bucket)
	server.closed.Store(true)
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{Configure: func(c *config.Config) { c.Photos = bucket.LocationAt(server.URL) }})
	ready := func() *apptest.Answer { return s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/readyz"}) }
	away := ready()
	require.Equal(t, http.StatusOK, away.Status, "orders are accepted without photos")
	require.Equal(t, "unwritable", away.String("files"))
	require.NotContains(t, metricsOf(t, s), `volume="photos"`)

	d, tenant, _ := adminDesk(t, s)
	id := s.CreateOrder(t, tenant.Key)
	panelMove(t, s, d.token, id, "receive", fields{}, http.StatusOK)
	panelMove(t, s, d.token, id, "assign", fields{"rider_id": tenant.Riders[0].ID}, http.StatusOK)
	refused := s.Do(t, deliveryWithPhoto(t, id, d.token))
	require.Equal(t, http.StatusServiceUnavailable, refused.Status, refused.Text)
	require.Equal(t, "photo_not_stored", refused.Code)
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	require.Empty(t, storedObjects(t, bucket))

	server.closed.Store(false)
	poll.Until(t, func() error {
		if answer := ready(); answer.String("files") != "ok" {
			return errors.New(answer.Text)
		}
		return nil
	})
	delivered := s.Do(t, deliveryWithPhoto(t, id, d.token))
	require.Equal(t, http.StatusOK, delivered.Status, delivered.Text)
	require.Len(t, storedObjects(t, bucket), 2, "the photo and its thumbnail")
	address := delivered.Data["delivery_proof"].(map[string]any)["photo_url"].(string)
	require.True(t, strings.HasPrefix(address, s.BaseURL+"/files/"), address)
	path := strings.TrimPrefix(address, s.BaseURL)
	shown := s.Do(t, apptest.Request{Method: http.MethodGet, Path: path})
	require.Equal(t, http.StatusOK, shown.Status)
	require.Equal(t, "image/jpeg", shown.Header.Get("Content-Type"))
	require.Equal(t, "default-src 'none'", shown.Header.Get("Content-Security-Policy"))
	require.Contains(t, shown.Header.Get("Cache-Control"), "private")
	require.True(t, strings.HasPrefix(shown.Text, "\xff\xd8\xff"))
	part := s.Do(t, apptest.Request{Method: http.MethodGet, Path: path, Header: map[string]string{"Range": "bytes=1-2"}})
	require.Equal(t, http.StatusPartialContent, part.Status)
	require.Equal(t, "\xd8\xff", part.Text)
	unsigned, _, _ := strings.Cut(path, "?")
	require.Equal(t, http.StatusForbidden, s.Do(t, apptest.Request{Method: http.MethodGet, Path: unsigned}).Status)

	server.closed.Store(true)
	unreadable := s.Do(t, apptest.Request{Method: http.MethodGet, Path: path})
	require.Equal(t, http.StatusServiceUnavailable, unreadable.Status, unreadable.Text)
	require.Equal(t, "photo_not_readable", unreadable.Code)
	require.NotEmpty(t, unreadable.Header.Get("Retry-After"))

	server.closed.Store(false)
	poll.Until(t, func() error {
		erased := d.post("/orders/"+id+"/erase", nil)
		if erased.Code == "order_not_ended" {
			return errors.New("its workflow has not ended yet")
		}
		require.Equal(t, http.StatusOK, erased.Status, erased.Text)
		return nil
	})
	require.Empty(t, storedObjects(t, bucket))
	require.Equal(t, http.StatusNotFound, s.Do(t, apptest.Request{Method: http.MethodGet, Path: path}).Status)
}
