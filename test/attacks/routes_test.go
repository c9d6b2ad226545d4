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
	return !strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/panel/api/") && !strings.HasPrefix(path, "/public/")
}
