package attacks

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"despacho/api"
	"despacho/internal/clock"
	"despacho/internal/config"
)

// routes are all that the service answers to.
func routes(t *testing.T) gin.RoutesInfo {
	t.Helper()
	server, err := api.New(api.Options{
		Config: &config.Config{BaseURL: "https://despacho.example", FilesURL: "https://despacho.example/files"},
		Clock:  clock.System(), Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	return server.Routes()
}

// isPage tells what people see in a browser from what programs call.
func isPage(path string) bool {
	for _, prefix := range []string{"/v1/", "/panel/api/", "/rider/api/", "/public/"} {
		if strings.HasPrefix(path, prefix) {
			return false
		}
	}
	return true
}
