package api_test

import (
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/riderpage"
	"despacho/internal/riders"
)

// The rider's page is the same for everybody, may not be framed, and its files are found under
// addresses with their version only.
func TestRiderPage_headers(t *testing.T) {
	t.Parallel()
	require.Equal(t, riders.PagePath, riderpage.Root, "links lead to the page")
	handler := newServer(t).Handler()
	var shell []byte
	for _, path := range []string{"/reparto", "/reparto/"} {
		page := fetch(t, handler, path, nil)
		require.Equal(t, http.StatusOK, page.StatusCode)
		require.Equal(t, "text/html; charset=utf-8", page.Header.Get("Content-Type"))
		require.Equal(t, riderpage.Policy, page.Header.Get("Content-Security-Policy"))
		require.Equal(t, "no-store", page.Header.Get("Cache-Control"))
		require.Equal(t, "no-referrer", page.Header.Get("Referrer-Policy"))
		var err error
		shell, err = io.ReadAll(page.Body)
		require.NoError(t, err)
	}
	worker := fetch(t, handler, "/reparto/sw.js", nil)
	require.Equal(t, "text/javascript; charset=utf-8", worker.Header.Get("Content-Type"))
	require.Equal(t, "/reparto", worker.Header.Get("Service-Worker-Allowed"))
	require.Equal(t, "no-cache", worker.Header.Get("Cache-Control"))
	manifest := fetch(t, handler, "/reparto/manifest.webmanifest", nil)
	require.Equal(t, "application/manifest+json", manifest.Header.Get("Content-Type"))

	addresses := regexp.MustCompile(`/reparto/assets/[^"]+`).FindAllString(string(shell), -1)
	require.NotEmpty(t, addresses)
	for _, address := range addresses {
		file := fetch(t, handler, address, nil)
		require.Equal(t, http.StatusOK, file.StatusCode, address)
		require.Equal(t, "public, max-age=31536000, immutable", file.Header.Get("Cache-Control"))
	}
	require.Equal(t, "no-cache", fetch(t, handler, "/reparto/assets/000000000000/reparto.js", nil).Header.Get("Cache-Control"))
	require.Equal(t, http.StatusNotFound, fetch(t, handler, "/reparto/assets/000000000000/nada.js", nil).StatusCode)
}
