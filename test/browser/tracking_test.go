package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// phoneWidth is the width of a phone's window.
const phoneWidth = 390

func emulatePhone() chromedp.Action[chromedp.Void] {
	return chromedp.EmulateViewport(phoneWidth, 844, chromedp.EmulateMobile, chromedp.EmulateScale(2))
}

// A customer with a phone types the code as it stands on the sticker, however sloppily, and reads
// where the package is.
func TestTracking_asACustomerOnAPhone(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		created := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.KeyA, Body: apptest.Order(map[string]any{
			"product": "Zapatillas <script>alert(1)</script>",
		})})
		require.Equal(t, 201, created.Status, created.Text)
		code := created.String("guide_code")

		tab := open(t, phoneWidth)
		require.NoError(t, chromedp.Do(tab,
			emulatePhone(),
			chromedp.Navigate(s.BaseURL+"/"),
			chromedp.SendKeys(chromedp.CSS(`input[name="code"]`), strings.ToLower(strings.ReplaceAll(code, "-", " "))+"\r"),
			chromedp.WaitVisible(chromedp.CSS(`time`)),
		))
		address, text := read(t, tab, chromedp.Location()), read(t, tab, chromedp.Text(chromedp.CSS(`body`)))
		wider := read(t, tab, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > document.documentElement.clientWidth`))
		require.Equal(t, s.BaseURL+"/track/"+code, address, "the address holds the code in its canonical form")
		require.Contains(t, text, tenant.Operator.Name)
		require.Contains(t, text, "Registrado")
		require.Contains(t, text, "<script>alert(1)</script>", "what the store wrote is text, not markup")
		require.False(t, wider, "nothing sticks out of the screen")
		for _, private := range []string{"Rosa", "Larco", "987654321", "Carlos"} {
			require.NotContains(t, text, private)
		}
	})
}

// A wrong code gets a friendly page with the form to try again.
func TestTracking_wrongCode(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tab := open(t, phoneWidth)
		require.NoError(t, chromedp.Do(tab,
			emulatePhone(),
			chromedp.Navigate(s.BaseURL+"/track/XXXXX-XXXXXX"),
			chromedp.WaitVisible(chromedp.CSS(`input[name="code"]`)),
		))
		fields := read(t, tab, chromedp.Evaluate[int](`document.querySelectorAll('input[name="code"]').length`))
		require.Equal(t, 1, fields)
	})
}
