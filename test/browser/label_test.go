package browser

import (
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// overflowing names the boxes of the labels that are too small for their content, and cut those
// whose text ends in an ellipsis.
const (
	overflowing = `[...document.querySelectorAll(".sheet, .sheet > *, .sheet p:not(.clamp), .sheet dd:not(.clamp)")]
		.filter((box) => box.scrollHeight > box.clientHeight + 1 && !box.matches("svg") || box.scrollWidth > box.clientWidth + 1)
		.map((box) => box.className + ": " + box.innerText)`
	cut = `[...document.querySelectorAll(".to .clamp")].filter((box) => box.scrollHeight > box.clientHeight + 1).map((box) => box.classList[0])`
)

// What a label says of the recipient is whole, in smaller letters where it is long; only what is
// longer than any address is cut, and nothing is printed over anything else.
func TestLabel_longTexts(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		long := func(text string, length int) string { return strings.Repeat(text, length/len(text)+1)[:length] }
		const street, capitals = "Avenida General San Martin 1234 interior 5, ", "JR. LAS MAGNOLIAS MZ. W LT. 14 URB. "
		labels := []map[string]any{
			{"delivery_address": "Av. Larco 345"},
			{"delivery_address": "Av. Larco 345", "delivery_reference": "Frente al parque", "notes": "Llamar antes de llegar"},
			{"delivery_address": long(street, 200), "recipient_name": "María Fernanda de los Ángeles Huamán Quispe", "delivery_reference": long("porton verde, ", 100), "notes": long("llamar antes, ", 150)},
			{"delivery_address": long(capitals, 200), "recipient_name": "MARIA FERNANDA DE LOS ANGELES HUAMAN QUISPE", "delivery_reference": long("PORTON VERDE ", 100), "notes": long("LLAMAR ANTES ", 150)},
			{"delivery_address": long("W", 200), "delivery_reference": "Frente al parque", "notes": "Llamar antes de llegar"},
			{"delivery_address": long(street, 500), "delivery_reference": long("porton verde, ", 80)},
			{"delivery_address": long("W", 500), "recipient_name": long("W", 200), "delivery_reference": long("W", 500), "notes": long("W", 2000), "product": long("W", 500), "external_id": long("W", 100), "amount_to_collect": 123456.78},
			{"delivery_address": "Av. Larco 345", "delivery_reference": "Frente al parque", "notes": long("llamar antes, ", 2000)},
		}
		query := url.Values{}
		for _, label := range labels {
			query.Add("id", s.CreateOrder(t, tenant.KeyA, label))
		}
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		for _, format := range []string{"a6", "termica"} {
			query.Set("formato", format)
			p.visit("/panel/etiquetas?" + query.Encode())
			p.waitVisible(".sheet")
			require.Empty(t, read(t, p.tab, chromedp.Evaluate[[]string](overflowing)), format)
			require.Equal(t, []string{"name", "address", "reference", "notes", "notes"}, read(t, p.tab, chromedp.Evaluate[[]string](cut)),
				"%s: only the texts of the last two labels, as long as they may be", format)
			p.picture("etiquetas-" + format)
		}
	})
}

var pagePictures = flag.String("page-pictures", "", "directory to write pictures of single pages to")

// picture writes a picture of the whole page, if pictures are asked for.
func (p *browserUser) picture(name string) {
	p.t.Helper()
	if *pagePictures == "" {
		return
	}
	content := read(p.t, p.tab, chromedp.FullScreenshot(100))
	require.NoError(p.t, os.WriteFile(filepath.Join(*pagePictures, name+".png"), content, 0o644))
}
