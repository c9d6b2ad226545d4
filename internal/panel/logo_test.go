package panel_test

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

var shownLogo = regexp.MustCompile(`<img class="logo" src="(/logos/[0-9a-f]{32}\.png)"`)

// A logo is chosen and removed on the page of settings, and is on every page and label.
func TestLogo_onThePageOfSettings(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		const settings = "/panel/ajustes"
		for content, problem := range map[string]string{"": "El logo debe ser una imagen JPEG, PNG o WebP.", "<svg/>": "El logo debe ser una imagen JPEG, PNG o WebP."} {
			refused := v.upload(settings+"/logo", nil, "logo", "logo.svg", []byte(content))
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
			require.Contains(t, refused.words(), problem)
		}
		require.Contains(t, v.upload(settings+"/logo", nil, "otro", "logo.png", nil).words(), "Elija el archivo del logo.")
		require.NotContains(t, v.read(settings).Text, "/logos/")

		var picture bytes.Buffer
		require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 20, 10))))
		sent := v.upload(settings+"/logo", nil, "logo", "logo.png", picture.Bytes())
		require.Equal(t, settings, sent.Location, sent.words())
		page := v.read(settings)
		require.Contains(t, page.words(), "Logo guardado.")
		logo := shownLogo.FindStringSubmatch(page.Text)
		require.NotNil(t, logo, page.Text)
		require.Equal(t, "image/png", v.get(logo[1]).Header.Get("Content-Type"))
		require.Contains(t, v.read(labels("a6", s.CreateOrder(t, tenant.KeyA))).Text, `<img src="`+logo[1]+`"`)
		require.Equal(t, settings, v.post(settings, page.fieldsOf(t, settings)).Location, "the other settings are saved")
		require.Contains(t, v.read(settings).Text, logo[1], "and the logo stays")

		require.Equal(t, settings, v.post(settings+"/logo/quitar", nil).Location)
		require.NotContains(t, v.read(settings).Text, "/logos/")
		require.Equal(t, http.StatusForbidden, visit(t, s, tenant, &tenant.StoreA).upload(settings+"/logo", nil, "logo", "logo.png", picture.Bytes()).Status)
	})
}
