package api_test

import (
	"bytes"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// logoForm is the upload of a file as a logo.
func logoForm(t *testing.T, token, field string, content []byte) apptest.Request {
	t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	part, err := writer.CreateFormFile(field, "logo.png")
	require.NoError(t, err)
	_, err = part.Write(content)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	return apptest.Request{
		Method: http.MethodPost, Path: "/panel/api/settings/logo", Token: token,
		Raw: form.Bytes(), Header: map[string]string{"Content-Type": writer.FormDataContentType()},
	}
}

func logoPNG(t *testing.T, side int) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, image.NewGray(image.Rect(0, 0, side, side))))
	return out.Bytes()
}

// An uploaded logo is served to anybody by the service itself, takes the place of the one before,
// and is what the tracking page shows.
func TestLogo_upload(t *testing.T) {
	eachAlone(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignInAs(t, &models.User{Admin: true})
		operator := desk{t, s, token}
		order := tenant.Row(time.Now())
		rows := []models.Order{order}
		for _, name := range []string{photoOwned, photoOther} { // a sweep that knows no photo moves none
			rows = append(rows, tenant.Row(time.Now(), apptest.ReceivedAfter(0), apptest.DeliveredAfter(tenant.Riders[0], 0), func(o *models.Order) { o.ProofPhoto = &name }))
			oldPhoto(t, s, name)
		}
		tenant.InsertRows(t, rows)
		logoOf := func() any {
			return s.Do(t, apptest.Request{Method: "GET", Path: "/v1/track/" + order.GuideCode}).Data["tenant_logo_url"]
		}
		serve := func(address string) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: "GET", Path: strings.TrimPrefix(address, s.BaseURL)})
		}
		operator.change("/settings", fields{"logo_url": "https://rayo.example/logo.png"})

		uploaded := s.Do(t, logoForm(t, token, "logo", logoPNG(t, 900)))
		require.Equal(t, http.StatusOK, uploaded.Status, uploaded.Text)
		require.Nil(t, uploaded.Data["logo_url"], "it replaces the link")
		first := uploaded.String("logo_file_url")
		require.Regexp(t, "^"+s.BaseURL+"/logos/[0-9a-f]{32}\\.png$", first)
		require.Equal(t, uploaded.Data, operator.send(http.MethodGet, "/settings", nil).Data)
		require.Equal(t, first, logoOf())
		served := serve(first)
		require.Equal(t, http.StatusOK, served.Status)
		config, err := png.DecodeConfig(strings.NewReader(served.Text))
		require.NoError(t, err)
		require.Equal(t, []int{640, 640}, []int{config.Width, config.Height})
		for header, want := range map[string]string{
			"Content-Type": "image/png", "Cache-Control": "public, max-age=31536000, immutable", "Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff",
		} {
			require.Equal(t, want, served.Header.Get(header), header)
		}
		again := s.Do(t, apptest.Request{Method: "GET", Path: strings.TrimPrefix(first, s.BaseURL), Header: map[string]string{"If-Modified-Since": served.Header.Get("Last-Modified")}})
		require.Equal(t, http.StatusNotModified, again.Status)
		page := s.Do(t, apptest.Request{Method: "GET", Path: "/track/" + order.GuideCode})
		require.Contains(t, page.Text, `<img class="logo" src="`+strings.TrimPrefix(first, s.BaseURL)+`"`)
		require.Contains(t, page.Header.Get("Content-Security-Policy"), "img-src https: data: "+s.BaseURL+";")

		old := time.Now().Add(-48 * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(s.Config.FilesDir, filepath.Base(first)), old, old))
		require.NoError(t, s.App.Orders.SweepPhotos(t.Context()))
		require.Equal(t, http.StatusOK, serve(first).Status)
		require.FileExists(t, filepath.Join(s.Config.FilesDir, filepath.Base(first)), "the sweep of photos knows it")

		second := s.Do(t, logoForm(t, token, "logo", logoPNG(t, 9))).String("logo_file_url")
		require.NotEqual(t, first, second)
		requireRefused(t, serve(first), http.StatusNotFound, "file_not_found")
		require.NoFileExists(t, filepath.Join(s.Config.FilesDir, filepath.Base(first)))
		require.Equal(t, second, operator.change("/settings", fields{"logo_url": nil, "name": tenant.OwnName("Rayo")})["logo_file_url"], "a link that was not there changes nothing")
		require.Contains(t, strings.Join(actions(operator.auditLog("")), " "), "settings.changed")

		require.Nil(t, operator.change("/settings", fields{"logo_url": "https://rayo.example/otro.png"})["logo_file_url"], "a link replaces it")
		require.Equal(t, "https://rayo.example/otro.png", logoOf())
		requireRefused(t, serve(second), http.StatusNotFound, "file_not_found")
		removed := s.Do(t, apptest.Request{Method: "DELETE", Path: "/panel/api/settings/logo", Token: token})
		require.Equal(t, []any{nil, nil}, []any{removed.Data["logo_url"], removed.Data["logo_file_url"]}, removed.Text)
		require.Nil(t, logoOf())
		left, err := os.ReadDir(s.Config.FilesDir)
		require.NoError(t, err)
		require.Len(t, left, 2, "the photos")
	})
}

// Delivery photos are stored in the same place: without their signature nobody sees one.
func TestLogo_isNotAWayToPhotos(t *testing.T) {
	eachAlone(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		photo := photoOwned
		row := tenant.Row(time.Now(), apptest.ReceivedAfter(0), apptest.DeliveredAfter(tenant.Riders[0], 0), func(o *models.Order) { o.ProofPhoto = &photo })
		tenant.InsertRows(t, []models.Order{row})
		oldPhoto(t, s, photoOwned)
		for _, name := range []string{photoOwned, "00000000000000000000000000000001.thumb.jpg", "..%2Fdespacho.db", "x"} {
			requireRefused(t, s.Do(t, apptest.Request{Method: "GET", Path: "/logos/" + name}), http.StatusNotFound, "file_not_found")
		}
	})
}

func TestLogo_refusals(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		before := desk{t, s, token}.send(http.MethodGet, "/settings", nil).Data
		send := func(field string, content []byte) *apptest.Answer { return s.Do(t, logoForm(t, token, field, content)) }
		requireRefused(t, send("logo", []byte("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")), http.StatusBadRequest, "invalid_photo", "logo")
		requireRefused(t, send("logo", nil), http.StatusBadRequest, "invalid_photo", "logo")
		requireWrongFields(t, send("photo", logoPNG(t, 8)), "logo")
		requireRefused(t, send("logo", make([]byte, 8<<20+1)), http.StatusRequestEntityTooLarge, "photo_too_large")
		requireRefused(t, send("logo", make([]byte, 9<<20)), http.StatusRequestEntityTooLarge, "photo_too_large")
		requireRefused(t, s.Do(t, apptest.Request{Method: "POST", Path: "/panel/api/settings/logo", Token: token, Body: fields{"logo": "x"}}), http.StatusUnsupportedMediaType, "unsupported_media_type")
		require.Equal(t, http.StatusForbidden, s.Do(t, logoForm(t, tenant.SignIn(t, &tenant.StoreA), "logo", logoPNG(t, 8))).Status)
		require.Equal(t, before, desk{t, s, token}.send(http.MethodGet, "/settings", nil).Data)
	})
}
