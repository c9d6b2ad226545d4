package attacks

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// A search becomes a condition for each word. With a thousand words the statement was too long for
// SQLite, which is an error of the server, and errors are logged.
func TestSearch_withVeryManyWords(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		who := attacker{token: tenant.SignInAs(t, &models.User{Admin: true})}
		var words strings.Builder
		for i := range 1100 {
			words.WriteString(" palabra" + strconv.Itoa(i))
		}
		for _, path := range []string{"/panel/pedidos", "/panel/asignacion"} {
			status, text := who.call(t, s, http.MethodGet, path+"?"+url.Values{"q": {words.String()}}.Encode(), nil)
			require.Equal(t, http.StatusBadRequest, status, text)
			require.Contains(t, text, "como máximo 20 palabras")
			status, text = who.call(t, s, http.MethodGet, path+"?"+url.Values{"q": {strings.Repeat("rosa ", 1100)}}.Encode(), nil)
			require.Equal(t, http.StatusOK, status, text)
		}
	})
}
