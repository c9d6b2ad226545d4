package browser

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"github.com/boombuler/barcode/qr"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/poll"
	"despacho/test/testenv"
)

// The load is taken with a barcode reader, which types like a keyboard; what is missing and what is
// too much is shown to the rider.
func TestRider_loadWithAReader(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(3)
	s.add(stops...)
	p := s.openPhone(t)
	p.activate(s, "R1")
	p.pressNamed("button", "Tomar la carga")
	p.waitForView("load")
	p.types("https://despacho.example/track/"+stops[0].Guide+"\r", readersKey)
	p.waitForText("Confirmar carga (1 de 3)")
	p.types(stops[1].Guide+"\r", readersKey)
	p.waitForText("Confirmar carga (2 de 3)")
	p.types("ZZZZZ-ZZZZZ9\r", readersKey)
	p.waitForText("No están en su lista (1)")
	p.net.down.Store(true)
	p.killTab()
	p.net.down.Store(false)
	p.visit("/reparto")
	p.pressNamed("button", "Tomar la carga")
	p.waitForText("Confirmar carga (2 de 3)")
	p.pressNamed(".deed button", "Confirmar carga")
	p.waitForText("1 paquete no se leyó")
	p.pressNamed("dialog button", "Confirmar")
	p.waitForText("Carga confirmada: 2 paquetes")
	p.waitForText("Falta 1: Cliente 03 (" + stops[2].Guide + ")")
	p.waitForText("Esa guía no es de ningún pedido.")
	p.pressNamed("button", "Entendido")
	p.waitForText("Hay 1 paquete sin confirmar en su carga.")
	p.waitForText("No se leyó al tomar la carga")

	p.types(stops[1].Guide+"\r", readersKey)
	p.until(func() error { return p.evaluates(`document.activeElement.textContent === "Cliente 02"`) })
}

// writeLabelFilm writes what a camera sees that is held over the label of a package.
func writeLabelFilm(t *testing.T, text string) (path string) {
	t.Helper()
	code, err := qr.Encode(text, qr.M, qr.Auto)
	require.NoError(t, err)
	const width, height, dot = 640, 480, 8
	var film bytes.Buffer
	film.WriteString("YUV4MPEG2 W640 H480 F10:1 Ip A1:1 C420jpeg\n")
	left, top := (width-code.Bounds().Dx()*dot)/2, (height-code.Bounds().Dy()*dot)/2
	for range 5 {
		film.WriteString("FRAME\n")
		for y := range height {
			for x := range width {
				grey := byte(225)
				at := image.Pt((x-left)/dot, (y-top)/dot)
				if x >= left && y >= top && at.In(code.Bounds()) {
					if red, _, _, _ := code.At(at.X, at.Y).RGBA(); red == 0 {
						grey = 30
					}
				}
				film.WriteByte(grey)
			}
		}
		film.Write(bytes.Repeat([]byte{128}, width*height/2))
	}
	path = filepath.Join(t.TempDir(), "etiqueta.y4m")
	require.NoError(t, os.WriteFile(path, film.Bytes(), 0o600))
	return path
}

// openCamera starts a browser of its own, whose camera sees a film.
func (s *street) openCamera(t *testing.T, film string) *riderUser {
	t.Helper()
	testenv.SkipIfShort(t)
	path, err := testenv.FindChromium()
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	options = append(options, chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WSURLReadTimeout(poll.Deadline),
		chromedp.Flag("use-fake-device-for-media-stream", true), chromedp.Flag("use-fake-ui-for-media-stream", true),
		chromedp.Flag("use-file-for-fake-video-capture", film))
	allocated, endAllocation := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(endAllocation)
	root, endBrowser := chromedp.NewContext(allocated)
	t.Cleanup(endBrowser)
	require.NoError(t, chromedp.Do(root))
	tab, endTab := chromedp.NewContext(root)
	t.Cleanup(endTab)
	require.NoError(t, chromedp.Do(tab))
	return newRider(t, root, tab, newNetwork(t, s))
}

// A phone's camera reads the code of a label, with the decoder where the browser cannot, and takes
// the photo of a delivery; both also without a network.
func TestRider_camera(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	stops := stopsOf(2)
	s.add(stops...)
	p := s.openCamera(t, writeLabelFilm(t, "https://despacho.example/track/"+stops[1].Guide))
	complaints := collectConsoleErrors(p.tab)
	p.activate(s, "R1")
	p.waitForText("Cliente 02")
	p.waitUntil(`navigator.serviceWorker.ready.then(() => true)`)
	p.net.down.Store(true)
	p.tap("[aria-label='Leer una etiqueta con la cámara']")
	p.until(func() error {
		return p.evaluates(`!document.querySelector("dialog") && document.activeElement.textContent === "Cliente 02"`)
	})
	p.tap(".menu summary")
	p.pressNamed("button", "Tomar la carga")
	p.waitForView("load")
	p.pressNamed("button", "Leer con la cámara")
	p.waitForText("Cliente 02 · Surquillo")
	p.tap("[aria-label='Cerrar la cámara']")
	p.waitForText("Confirmar carga (1 de 2)")
	p.tap("[aria-label='Volver a la lista']")
	p.waitForView("list")

	p.tap("[aria-label='Entregar a Cliente 01']")
	p.waitForView("deliver")
	p.pressNamed("button", "Tomar foto")
	p.tap(".shutter:enabled")
	p.waitVisible(".photo img")
	p.tap(".deed button")
	p.net.down.Store(false)
	shown, err := jpeg.DecodeConfig(bytes.NewReader(p.waitForActs(s, 1)[0].Photo))
	require.NoError(t, err)
	require.Equal(t, 640, shown.Width)
	for _, complaint := range complaints() {
		require.Contains(t, complaint, "Failed to load resource", "the policy allows what the page does")
	}
}
