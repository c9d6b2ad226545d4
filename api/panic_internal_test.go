package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/internal/panel"
	"despacho/internal/web"
)

// A panic is answered as any other error of its route is: in a page with a page.
func TestRecoverPanic_answersAsItsRouteDoes(t *testing.T) {
	t.Parallel()
	s := &Server{log: slog.New(slog.DiscardHandler), pages: web.New(), panel: panel.New(panel.Options{Config: &config.Config{}})}
	broken := func(*gin.Context) error { panic("the cause") }
	for name, test := range map[string]struct {
		route                gin.HandlerFunc
		contentType, content string
	}{
		"panel":    {s.panelPage(broken), "text/html; charset=utf-8", "Algo salió mal"},
		"tracking": {s.page(broken), "text/html; charset=utf-8", "<h1>"},
		"JSON":     {s.handle(broken), jsonType, `"code":"internal_error"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			router := gin.New()
			router.Use(s.recoverPanic)
			router.GET("/", test.route)
			recorder := httptest.NewRecorder()
			router.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/", nil))
			require.Equal(t, http.StatusInternalServerError, recorder.Code)
			require.Equal(t, test.contentType, recorder.Header().Get("Content-Type"))
			require.Contains(t, recorder.Body.String(), test.content)
			require.NotContains(t, recorder.Body.String(), "the cause")
		})
	}
}
