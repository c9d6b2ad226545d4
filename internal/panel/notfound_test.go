package panel_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// What does not exist in the panel is said by a page of the panel: with the menu to whoever is
// signed in, and without it to everybody else.
func TestPanel_whatDoesNotExistIsSaidInThePanel(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		browse := func(v *visitor, path string) *page {
			request, err := http.NewRequest(http.MethodGet, v.base+path, nil)
			require.NoError(t, err)
			request.Header.Set("Accept", "text/html")
			return v.do(request)
		}
		v, visitor := visit(t, s, s.NewTenant(t), nil), signedOut(t, s)
		for path, status := range map[string]int{
			"/panel/noexiste": http.StatusNotFound, "/panel/pedidos/" + uuid.NewString(): http.StatusNotFound,
			"/panel/pedidos/x/recibir": http.StatusMethodNotAllowed,
		} {
			known := browse(v, path)
			require.Equal(t, status, known.Status, path)
			require.Contains(t, known.words(), "No encontrado", path)
			require.Contains(t, known.Text, `href="/panel/asignacion"`, path)
			require.NotContains(t, known.words(), "código de guía", "it is no page for customers")
		}
		unknown := browse(visitor, "/panel/noexiste")
		require.Equal(t, http.StatusNotFound, unknown.Status)
		require.Contains(t, unknown.words(), "Esta página no existe.")
		require.NotContains(t, unknown.Text, `href="/panel/asignacion"`)
	})
}
