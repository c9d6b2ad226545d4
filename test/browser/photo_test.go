package browser

import (
	"bytes"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// writeLargePhoto writes a photo as a phone takes it: large, and stored lying on its side, which
// its EXIF says.
func writeLargePhoto(t *testing.T) (path string, size int64) {
	t.Helper()
	picture, random := image.NewGray(image.Rect(0, 0, 3000, 2000)), rand.New(rand.NewPCG(1, 2))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(random.Uint32())
	}
	var encoded bytes.Buffer
	require.NoError(t, jpeg.Encode(&encoded, picture, &jpeg.Options{Quality: 90}))
	const turned = "\xff\xe1\x00\x22Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01" +
		"\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	content := append([]byte("\xff\xd8"+turned), encoded.Bytes()[2:]...)
	path = filepath.Join(t.TempDir(), "grande.jpg")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path, int64(len(content))
}

// A photo is made smaller before it is sent. Where the network fails, the photo and what was typed
// stay, and the same button sends them.
func TestPanel_aPhotoOverABadNetwork(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		path := deliverable(t, s, tenant, 120)
		address, err := url.Parse(s.BaseURL)
		require.NoError(t, err)
		service := httputil.NewSingleHostReverseProxy(address)
		var down atomic.Bool
		var sent atomic.Int64
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/entregar") {
				if down.Load() {
					panic(http.ErrAbortHandler)
				}
				sent.Store(r.ContentLength)
			}
			service.ServeHTTP(w, r)
		}))
		t.Cleanup(front.Close)
		p := openDesktop(t, s)
		p.base = front.URL
		complaints := collectConsoleErrors(p.tab)
		p.signIn(tenant, nil)
		p.visit(path)
		p.pressNamed("summary", "Entregar")
		photo, size := writeLargePhoto(t)
		p.do(chromedp.SetUploadFiles(chromedp.CSS("#photo"), []string{photo}))
		p.fill("#actual_amount_collected", "119.50")
		down.Store(true)
		p.pressNamed("button", "Confirmar entrega")
		p.waitForText("No se pudo enviar: no hay conexión con el servicio. La foto y lo que escribió siguen aquí")
		require.Equal(t, []string{"119.50", "1", "false", "Confirmar entrega"}, read(t, p.tab, chromedp.Evaluate[[]string](`[
			document.querySelector("#actual_amount_collected").value, String(document.querySelector("#photo").files.length),
			String(document.activeElement.disabled), document.activeElement.textContent]`)))
		for _, complaint := range complaints() {
			require.Contains(t, complaint, "Failed to load resource")
		}

		down.Store(false)
		p.pressNamed("button", "Confirmar entrega")
		p.waitForText("Pedido entregado.")
		require.Less(t, sent.Load(), size*2/3)
		p.until(func() error { return p.evaluates(`document.querySelector(".proof img").naturalWidth > 0`) })
		require.NoError(t, p.evaluates(`(({ naturalWidth, naturalHeight }) => naturalHeight > naturalWidth)(document.querySelector(".proof img"))`),
			"the photo is upright")
	})
}

// A photo that the browser cannot read is sent as it is, and the answer says what is wrong with it.
func TestPanel_aPhotoThatTheBrowserCannotRead(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		p := openDelivery(t, s)
		path := filepath.Join(t.TempDir(), "IMG_1.heic")
		require.NoError(t, os.WriteFile(path, []byte("\x00\x00\x00\x18ftypheic"), 0o600))
		p.do(chromedp.SetUploadFiles(chromedp.CSS("#photo"), []string{path}))
		p.fill("#actual_amount_collected", "120")
		p.pressNamed("button", "Confirmar entrega")
		p.waitForText("JPEG, PNG o WebP")
		p.waitForFocus("photo")
		require.NoError(t, p.evaluates(`document.querySelector("#actual_amount_collected").value === "120"`))
	})
}
