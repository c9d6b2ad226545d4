package panel_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

var fileField = regexp.MustCompile(`<input [^>]*type="file"[^>]*>`)

// The page that refuses a file begins at its field, which names the reason: also without scripts,
// and for whoever hears the page.
func TestFile_aRefusedOneIsFocusedWithItsReason(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		v := visit(t, s, s.NewTenant(t), nil)
		for _, form := range []struct{ page, action, field string }{
			{"/panel/carga", "/panel/carga", "archivo"},
			{"/panel/cobertura/carga", "/panel/cobertura/carga", "archivo"},
			{"/panel/ajustes", "/panel/ajustes/logo", "logo"},
		} {
			require.NotContains(t, fileField.FindString(v.read(form.page).Text), "autofocus", form.page)
			refused := v.upload(form.action, nil, form.field, "vacio", nil)
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status, form.page)
			field, reason := fileField.FindString(refused.Text), form.field+"-failure"
			require.Contains(t, field, ` autofocus aria-invalid="true"`, form.page)
			require.Regexp(t, ` aria-describedby="`+reason+`\b`, field, form.page)
			require.Contains(t, refused.Text, `<p class="notice failed" id="`+reason+`" role="alert">`, form.page)
		}
	})
}
