package telemetry_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/telemetry"
)

func TestDisks_freeAndSize(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics()
	metrics.WatchDisks(map[string]string{"photos": t.TempDir()})
	shown := scrape(t, metrics)
	value := func(name string) float64 {
		found := regexp.MustCompile(`(?m)^` + name + `\{volume="photos"\} (\S+)$`).FindStringSubmatch(shown)
		require.NotNil(t, found, name)
		number, err := strconv.ParseFloat(found[1], 64)
		require.NoError(t, err)
		return number
	}
	require.Positive(t, value("disk_size_bytes"))
	require.LessOrEqual(t, value("disk_free_bytes"), value("disk_size_bytes"))
}

// A directory that is gone costs only its own metrics.
func TestDisks_missingDirectory(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics()
	metrics.WatchDisks(map[string]string{"photos": filepath.Join(t.TempDir(), "gone"), "database": t.TempDir()})
	answer := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, answer.Code)
	require.Contains(t, answer.Body.String(), `disk_free_bytes{volume="database"}`)
	require.NotContains(t, answer.Body.String(), `volume="photos"`)
}
