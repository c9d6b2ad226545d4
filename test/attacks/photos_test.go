package attacks

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/photos"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

const (
	ownPhoto   = "00000000000000000000000000000001.jpg"
	otherPhoto = "00000000000000000000000000000002.jpg"
)

// photoService is a service with a clock that the test sets, and two orders with photos.
type photoService struct {
	*apptest.Service
	clock  *clock.Manual
	tenant *apptest.Tenant
	// orders are the ids of the orders with ownPhoto and otherPhoto.
	orders [2]string
}

func eachPhotoService(t *testing.T, run func(t *testing.T, s *photoService, databaseURL string)) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(apptest.FrozenAt)
		s := &photoService{Service: apptest.Boot(t, databaseURL, apptest.Options{Clock: now, NoWorker: true}), clock: now}
		s.tenant = s.NewTenant(t)
		for i, photo := range []string{ownPhoto, otherPhoto} {
			order := s.tenant.Row(now.Now(), apptest.ReceivedAfter(0), apptest.DeliveredAfter(s.tenant.Riders[0], 0), func(o *models.Order) { o.ProofPhoto = &photo })
			s.tenant.InsertRows(t, []models.Order{order})
			s.orders[i] = order.ID.String()
			for _, name := range []string{photo, photos.ThumbnailName(photo)} {
				require.NoError(t, os.WriteFile(filepath.Join(s.Config.FilesDir, name), []byte("content of "+name), 0o600))
			}
		}
		run(t, s, databaseURL)
	})
}

// address is the path and the signature that an order shows for its photo.
func (s *photoService) address(t *testing.T, orderID string) (path, signature string) {
	t.Helper()
	read := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + orderID, Key: s.tenant.Key})
	require.Equal(t, http.StatusOK, read.Status, read.Text)
	full, _ := read.Data["delivery_proof"].(map[string]any)["photo_url"].(string)
	path, signature, signed := strings.Cut(strings.TrimPrefix(full, s.BaseURL), "?signature=")
	require.True(t, signed, full)
	return path, signature
}

func getPhoto(t *testing.T, s *apptest.Service, path string, header map[string]string) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: http.MethodGet, Path: path, Header: header})
}

func requireRefused(t *testing.T, answer *apptest.Answer, code, why string) {
	t.Helper()
	require.Equal(t, http.StatusForbidden, answer.Status, why)
	require.Equal(t, code, answer.Code, why)
	require.NotEmpty(t, answer.Error, why)
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"), why)
	require.NotContains(t, answer.Text, "content of", why)
}

// A photo is served under the address that an order shows, and under no other. Who has no signature
// is not told which photos exist.
func TestPhotos_forgedAddresses(t *testing.T) {
	eachPhotoService(t, func(t *testing.T, s *photoService, databaseURL string) {
		path, signature := s.address(t, s.orders[0])
		require.Equal(t, "/files/"+ownPhoto, path)
		served := getPhoto(t, s.Service, path+"?signature="+signature, nil)
		require.Equal(t, http.StatusOK, served.Status, served.Text)
		require.Equal(t, "content of "+ownPhoto, served.Text)

		_, ofOther := s.address(t, s.orders[1])
		forged := map[string]string{
			"no signature":                 path,
			"an empty one":                 path + "?signature=",
			"another parameter":            path + "?Signature=" + signature,
			"that of another photo":        path + "?signature=" + ofOther,
			"for its thumbnail":            "/files/" + photos.ThumbnailName(ownPhoto) + "?signature=" + signature,
			"for another photo":            "/files/" + otherPhoto + "?signature=" + signature,
			"for a photo that is not here": "/files/" + strings.Repeat("f", 32) + ".jpg?signature=" + signature,
			"a line break after it":        path + "?signature=" + signature + "%0A",
			"more after it":                path + "?signature=" + signature + "A",
			"a wrong one before it":        path + "?signature=x&signature=" + signature,
		}
		for i, character := range signature { // the code and the expiry
			replacement := "A"
			if character == 'A' {
				replacement = "B"
			}
			forged[fmt.Sprintf("character %d changed", i)] = path + "?signature=" + signature[:i] + replacement + signature[i+1:]
		}
		for why, address := range forged {
			requireRefused(t, getPhoto(t, s.Service, address, nil), "photo_url_invalid", why)
		}

		stranger := apptest.Boot(t, databaseURL, apptest.Options{Clock: s.clock, NoWorker: true, Configure: func(c *config.Config) {
			c.SecretKey, c.FilesDir = "la-clave-de-otra-instalacion-----", s.Config.FilesDir
		}})
		requireRefused(t, getPhoto(t, stranger, path+"?signature="+signature, nil), "photo_url_invalid", "another SECRET_KEY")
	})
}

// An address ends, also for whoever has a copy and only asks whether it is current. Copies end with
// it. Reading the order gives another.
func TestPhotos_expiredAddresses(t *testing.T) {
	eachPhotoService(t, func(t *testing.T, s *photoService, _ string) {
		path, signature := s.address(t, s.orders[0])
		address := path + "?signature=" + signature
		// FrozenAt is half a minute into an hour.
		lifetime := s.Config.PhotoURLTTL + time.Hour - 30*time.Second
		served := getPhoto(t, s.Service, address, nil)
		require.Equal(t, fmt.Sprintf("private, max-age=%d, immutable", int(lifetime.Seconds())), served.Header.Get("Cache-Control"))

		s.clock.Advance(lifetime - time.Second)
		served = getPhoto(t, s.Service, address, nil)
		require.Equal(t, http.StatusOK, served.Status, served.Text)
		require.Equal(t, "private, max-age=1, immutable", served.Header.Get("Cache-Control"))

		s.clock.Advance(time.Second)
		for why, header := range map[string]map[string]string{
			"plain": nil, "with a copy": {"If-Modified-Since": served.Header.Get("Last-Modified")}, "a part": {"Range": "bytes=0-3"},
		} {
			requireRefused(t, getPhoto(t, s.Service, address, header), "photo_url_expired", why)
		}
		page := getPhoto(t, s.Service, address, map[string]string{"Accept": "text/html,image/*;q=0.8"})
		require.Equal(t, http.StatusForbidden, page.Status)
		require.Equal(t, "text/html; charset=utf-8", page.Header.Get("Content-Type"))
		require.Equal(t, "no-store", page.Header.Get("Cache-Control"))
		require.Contains(t, page.Text, "<h1>No se puede mostrar la foto</h1>")
		require.Contains(t, page.Text, "La dirección de la foto venció. Consulte el pedido: trae una nueva.")

		path, renewed := s.address(t, s.orders[0])
		require.NotEqual(t, signature, renewed)
		require.Equal(t, http.StatusOK, getPhoto(t, s.Service, path+"?signature="+renewed, nil).Status)
	})
}

// Replacing SECRET_KEY leaves the addresses that were given out as they are while the old key is in
// SECRET_KEY_OLD, and ends them without it.
func TestPhotos_addressesAfterAKeyWasReplaced(t *testing.T) {
	eachPhotoService(t, func(t *testing.T, s *photoService, databaseURL string) {
		path, signature := s.address(t, s.orders[0])
		with := func(oldKeys ...string) *apptest.Service {
			return apptest.Boot(t, databaseURL, apptest.Options{Clock: s.clock, NoWorker: true, Configure: func(c *config.Config) {
				c.SecretKey, c.SecretKeyOld, c.FilesDir = "otra-clave-otra-clave-otra-clave-", oldKeys, s.Config.FilesDir
			}})
		}
		both, last := with(s.Config.SecretKey), with()
		require.Equal(t, http.StatusOK, getPhoto(t, both, path+"?signature="+signature, nil).Status)
		requireRefused(t, getPhoto(t, last, path+"?signature="+signature, nil), "photo_url_invalid", "the old key is gone")

		replaced := &photoService{Service: both, clock: s.clock, tenant: s.tenant}
		path, renewed := replaced.address(t, s.orders[0])
		require.Equal(t, http.StatusOK, getPhoto(t, last, path+"?signature="+renewed, nil).Status, "the new key signs")
	})
}
